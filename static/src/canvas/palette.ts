// The palette beside the canvas: a block is dragged onto the stage, or clicked.
import { Info } from "./types";

export interface Block {
  kind: string; // on_demand, scheduled, event, conditional, job, python, crawler, existing
  card?: string;
  label: string;
  icon: string;
  info?: Info;
}

export interface Shop {
  put(block: Block, at?: { clientX: number; clientY: number }): void;
  over(at: { clientX: number; clientY: number }): boolean;
}

const least = 4; // pixels that tell a drag from a click

export function startPalette(palette: HTMLElement, shop: Shop): void {
  palette.addEventListener("click", (event) => {
    const button = blockOf(event);
    if (button && !dragged) shop.put(read(button));
  });
  let dragged = false;
  palette.addEventListener("pointerdown", (event) => {
    dragged = false;
    const button = blockOf(event);
    if (!button || event.button !== 0) return;
    // A finger scrolls the palette; it adds by a tap.
    if (event.pointerType === "touch") return;
    const ghost = button.cloneNode(true) as HTMLElement;
    ghost.classList.add("ghost-block");
    const move = (now: PointerEvent) => {
      if (!dragged && Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) < least) return;
      if (!dragged) {
        dragged = true;
        document.body.append(ghost);
      }
      ghost.style.transform = `translate(${now.clientX - 20}px,${now.clientY - 16}px)`;
      ghost.classList.toggle("over", shop.over(now));
    };
    const stop = () => {
      // The click that ends a drag comes right after it; later ones count.
      setTimeout(() => (dragged = false));
      ghost.remove();
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", drop);
      removeEventListener("pointercancel", stop);
      removeEventListener("keydown", escape, true);
    };
    const drop = (now: PointerEvent) => {
      stop();
      if (dragged && shop.over(now)) shop.put(read(button), now);
    };
    const escape = (pressed: KeyboardEvent) => {
      if (pressed.key === "Escape") stop();
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", drop);
    addEventListener("pointercancel", stop);
    addEventListener("keydown", escape, true);
  });
  // The server finds jobs and crawlers; what can be made anew, and what is listed
  // already, is found here.
  const field = palette.querySelector<HTMLInputElement>("[data-find]");
  field?.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    for (const list of palette.querySelectorAll<HTMLElement>("ul")) {
      const lines = [...list.querySelectorAll<HTMLElement>("li")];
      for (const line of lines) line.hidden = !line.textContent!.toLowerCase().includes(wanted);
      if (list.id === "palette-items") continue;
      const none = lines.every((line) => line.hidden);
      list.hidden = none;
      (list.previousElementSibling as HTMLElement).hidden = none;
    }
  });
  // Enter takes the first block that was found, as soon as one is.
  const first = () => palette.querySelector<HTMLElement>("ul:not([hidden]) li:not([hidden]) .block:not([aria-disabled=true])");
  field?.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (first()) first()!.click();
    else palette.addEventListener("htmx:after:swap", () => first()?.click(), { once: true });
  });
  palette.addEventListener("dragstart", (event) => event.preventDefault());
}

function blockOf(event: Event): HTMLElement | undefined {
  return (event.target as Element).closest<HTMLElement>(".block:not([aria-disabled=true])") ?? undefined;
}

export function read(button: HTMLElement): Block {
  const { block = "", card, name = "", sub = "", note, icon = "" } = button.dataset;
  const picture = button.querySelector("use")?.getAttribute("href")?.split("#")[1] ?? "";
  return {
    kind: block,
    card,
    label: button.textContent?.trim() ?? "",
    icon: picture,
    info: card ? { name, sub, note, icon } : undefined,
  };
}

// found asks the server for the jobs and crawlers of which text is a part of the
// name, or the id; with taken also what is on the canvas already. Without an
// answer there are none.
export async function found(workflow: string, text: string, taken = false): Promise<Block[]> {
  const answer = await fetch(`/workflows/${workflow}/palette?${new URLSearchParams({ q: text })}`).catch(() => undefined);
  if (!answer?.ok) return [];
  return blocks(new DOMParser().parseFromString(await answer.text(), "text/html").body, taken);
}

// partial says whether the palette lists only some of the jobs and crawlers.
export const partial = (palette: Element | null): boolean =>
  !!palette?.querySelector("[data-more]") || !!palette?.querySelector<HTMLInputElement>("[data-find]")?.value;

// blocks are everything that the palette offers now; with taken also what is on
// the canvas already.
export const blocks = (palette: Element | null, taken = false): Block[] =>
  [...(palette?.querySelectorAll<HTMLElement>(taken ? ".block" : ".block:not([aria-disabled=true])") ?? [])].map(read);
