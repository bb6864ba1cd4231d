import { clockOf } from "./clock";
import { found } from "./watch";

// The server writes times in UTC. Here they are shown in the zone of the
// person who looks, in the form of the server ("29 Nov 22:04:05"); the title
// stays in UTC.
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

// serverNow is the server's clock, so that both ends of a duration come from
// the same one.
const made = document.querySelector<HTMLMetaElement>('meta[name="now"]');
const skew = made ? Date.parse(made.content) - Date.now() : 0;
export const serverNow = (): number => Date.now() + skew;

export function startTimes(): void {
  found<HTMLTimeElement>("time[data-show]", localise);
  new MutationObserver(localiseAgain).observe(document.documentElement, { characterData: true, subtree: true });
  found<HTMLElement>("[data-since]", tick);
  setInterval(() => document.querySelectorAll<HTMLElement>("[data-since]").forEach(tick), 1000);
  setInterval(() => document.querySelectorAll<HTMLTimeElement>('time[data-show="ago"]').forEach(localise), 30_000);
}

// localiseAgain mends times that a morph of htmx has put back to the words of the
// server: it changes the text of an element that stays. localise puts a new text
// in its place, which does not call this again.
function localiseAgain(records: MutationRecord[]): void {
  for (const { target } of records) {
    const time = target.parentElement;
    if (time?.matches("time[data-show]")) localise(time as HTMLTimeElement);
  }
}

function localise(time: HTMLTimeElement): void {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) return;
  if (!time.title) time.title = `${time.dateTime.replace("T", " ").replace("Z", "")} UTC`;
  const sameYear = at.getFullYear() === new Date(serverNow()).getFullYear();
  const date = `${at.getDate()} ${months[at.getMonth()]}${sameYear ? "" : ` ${at.getFullYear()}`}`;
  switch (time.dataset["show"]) {
    case "clock":
      time.textContent = clockOf(at) + (time.dataset["ms"] ?? "");
      break;
    case "day":
      time.textContent = date;
      break;
    case "ago":
      time.textContent = ago(serverNow() - at.getTime());
      break;
    default:
      time.textContent = `${date} ${clockOf(at)}`;
  }
}

function ago(ms: number): string {
  const future = ms < -1000;
  const s = Math.abs(ms) / 1000;
  const text =
    s < 45 ? "moments" : s < 5400 ? `${Math.round(s / 60)} min` : s < 129600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} days`;
  return future ? `in ${text}` : text === "moments" ? "just now" : `${text} ago`;
}

function tick(element: HTMLElement): void {
  const s = Math.max(0, Math.floor((serverNow() - Date.parse(element.dataset["since"] ?? "")) / 1000));
  if (Number.isNaN(s)) return;
  const two = (n: number) => String(n).padStart(2, "0");
  element.textContent =
    s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}
