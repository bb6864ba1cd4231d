// The coverage map: cells that are dragged over, or pressed one by one, offer to
// read their files again.
import { toast } from "./toast";
import { found } from "./watch";

export const most = 1000; // files of one selection

// files are the keys of the chosen cells, or why they cannot be asked for.
export function files(cells: readonly { keys: string; cut: boolean }[]): string[] | string {
  if (cells.some((cell) => cell.cut)) return "These are too many files to choose one by one. Use Read files again… with a path pattern or dates.";
  const keys = cells.flatMap((cell) => cell.keys.split("\n").filter(Boolean));
  if (keys.length === 0) return "Nothing of this was read, so nothing can be read again.";
  if (keys.length > most) return `These are ${keys.length.toLocaleString("en")} files; choose ${most.toLocaleString("en")} at most, or use Read files again… with a path pattern or dates.`;
  return keys;
}

export function startCells(): void {
  found<HTMLElement>("[data-cells]", (box) => {
    const cells = [...box.querySelectorAll<HTMLElement>(".cell")];
    const of = (target: EventTarget | null) => (target instanceof Element ? cells.indexOf(target.closest<HTMLElement>(".cell")!) : -1);
    let from = -1;
    let to = -1;
    const paint = () => cells.forEach((cell, i) => cell.classList.toggle("chosen", from >= 0 && i >= Math.min(from, to) && i <= Math.max(from, to)));
    const done = () => {
      from = to = -1;
      paint();
    };
    box.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      from = to = of(event.target);
      paint();
    });
    box.addEventListener("pointermove", (event) => {
      const at = from < 0 || event.buttons !== 1 ? -1 : of(document.elementFromPoint(event.clientX, event.clientY));
      if (at >= 0 && at !== to) {
        to = at;
        paint();
      }
    });
    // A click ends a press on one cell, by pointer or key; a drag over several
    // ends without one.
    box.addEventListener("click", (event) => {
      const at = of(event.target);
      if (at < 0) return;
      if (from < 0) from = to = at;
      choose(box, cells.slice(Math.min(from, to), Math.max(from, to) + 1), done);
    });
    document.addEventListener("pointerup", (event) => {
      if (from < 0 || from === to) return;
      event.preventDefault();
      choose(box, cells.slice(Math.min(from, to), Math.max(from, to) + 1), done);
    });
    document.addEventListener("pointercancel", done);
  });
}

function choose(box: HTMLElement, cells: HTMLElement[], done: () => void): void {
  const keys = files(cells.map((cell) => ({ keys: cell.dataset["keys"] ?? "", cut: cell.dataset["cut"] !== undefined })));
  if (typeof keys === "string") {
    toast(keys);
    return done();
  }
  const query = new URLSearchParams(keys.map((key) => ["key", key]));
  void window.htmx?.ajax("GET", `${box.dataset["cells"]!}?${query}`, { source: box, target: "body", swap: "beforeend" }).then(() => {
    const dialog = document.querySelector("dialog[data-show]");
    if (dialog) dialog.addEventListener("close", done, { once: true });
    else done();
  });
}
