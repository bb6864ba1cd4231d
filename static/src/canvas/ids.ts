// Ids as the server makes them: ULIDs, whose leading part is the time.
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

export function ulid(now = Date.now()): string {
  let time = "";
  for (let i = 0, rest = now; i < 10; i++, rest = Math.floor(rest / 32)) time = letters[rest % 32] + time;
  const chance = crypto.getRandomValues(new Uint8Array(16));
  return time + [...chance].map((n) => letters[n % 32]).join("");
}
