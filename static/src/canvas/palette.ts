// The palette beside the canvas: a block is dragged onto the stage, or clicked.
import { Info } from "./types";

export interface Block {
  kind: string; // on_demand, scheduled, conditional, job, crawler, existing
  card?: string;
  label: string;
  icon: string;
  info?: Info;
}

export interface Shop {
  canEdit: boolean;
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
    if (!button || event.button !== 0 || !shop.canEdit) return;
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

// blocks are everything that the palette offers now.
export const blocks = (palette: Element | null): Block[] =>
  [...(palette?.querySelectorAll<HTMLElement>(".block:not([aria-disabled=true])") ?? [])].map(read);
