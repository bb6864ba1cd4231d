// Copy, cut and paste of the browser, where the graph has the focus.
import { Edits } from "./edits";

export function startClipboard(stage: HTMLElement, edits: Edits): void {
  const here = () => stage.contains(document.activeElement) && !(document.activeElement instanceof HTMLInputElement);
  for (const type of ["copy", "cut"] as const) {
    document.addEventListener(type, (event) => {
      const text = here() ? edits.copy() : undefined;
      if (text === undefined || !event.clipboardData) return;
      event.clipboardData.setData("text/plain", text);
      event.preventDefault();
      if (type === "cut") edits.remove();
    });
  }
  document.addEventListener("paste", (event) => {
    if (here() && edits.pasteText(event.clipboardData?.getData("text/plain") ?? "")) event.preventDefault();
  });
}
