// What is pressed before the page can act on it. The scripts of a page are
// modules: they begin when all of its markup is there, and on a slow network
// long after somebody sees the first button. This one stands in the head and is
// there before anything that can be pressed: it keeps the last press and the
// fields that changed, and hands them on when the others are there, or when they
// failed to load and the browser has to do it by itself.
import { recall } from "./folded";
import { led } from "./led";

const meantElsewhere = 500; // ms

recall();
const from = led();
let pressed: HTMLElement | undefined; // a button, or a card of a graph
const changed = new Map<EventTarget, string>();

function press(event: MouseEvent): void {
  const target = (event.target as Element).closest<HTMLElement>("button, dog-canvas .node");
  if (!target) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  pressed?.removeAttribute("aria-busy");
  pressed = from && target.closest(".actions") ? undefined : target;
  pressed?.setAttribute("aria-busy", "true");
}

function change(event: Event): void {
  if (event.target) changed.set(event.target, event.type);
}

function ready(): void {
  document.removeEventListener("click", press, true);
  for (const type of ["input", "change"]) document.removeEventListener(type, change, true);
  if (from) hold(document.querySelector<HTMLElement>(".top .actions"));
  for (const [field, type] of changed) field.dispatchEvent(new Event(type, { bubbles: true }));
  pressed?.removeAttribute("aria-busy");
  if (pressed instanceof HTMLButtonElement) pressed.click();
  else pressed?.dispatchEvent(new Event("dogear:pressed", { bubbles: true })); // a canvas goes by pointers, not by clicks
}

// hold keeps the buttons of the head still on a page to which a press elsewhere
// has led: the second of two quick clicks was meant for the button there, and
// must not stop the run that it started.
function hold(actions: HTMLElement | null): void {
  if (!actions) return;
  actions.inert = true;
  setTimeout(() => (actions.inert = false), meantElsewhere);
}

document.addEventListener("click", press, true);
for (const type of ["input", "change"]) document.addEventListener(type, change, true);
// htmx begins with a timer that was set before: timers of one length keep their order.
document.addEventListener("DOMContentLoaded", () => setTimeout(ready));
