// rename lets somebody type over the name on a card. Enter or leaving the field
// keeps what was typed, Escape does not.
export function rename(card: HTMLElement, name: string, keep: (name: string) => Promise<void>): void {
  const words = card.querySelector<HTMLElement>(".words");
  const shown = words?.querySelector<HTMLElement>("[data-slot=name]");
  if (!words || !shown || words.querySelector("input")) return;
  const field = document.createElement("input");
  field.className = "rename";
  field.value = name;
  field.maxLength = 255;
  field.setAttribute("aria-label", "Name");
  let open = true;
  const close = (kept: boolean) => {
    if (!open) return;
    open = false;
    const typed = field.value.trim();
    const inside = document.activeElement === field;
    field.remove();
    shown.hidden = false;
    if (inside) card.focus({ preventScroll: true });
    if (kept && typed && typed !== name) void keep(typed);
  };
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.key === "Enter") close(true);
    if (event.key === "Escape") close(false);
  });
  field.addEventListener("blur", () => close(true));
  shown.hidden = true;
  shown.before(field);
  field.focus({ preventScroll: true });
  field.select();
}
