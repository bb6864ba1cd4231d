import { toast } from "./toast";
import { found } from "./watch";

// startDialogs wires the attributes data-open (a dialog by selector),
// data-close, data-copy, data-menu, data-add and data-remove.
export function startDialogs(): void {
  document.addEventListener("click", (event) => {
    const target = event.target as Element;
    const act = (name: string) => target.closest<HTMLElement>(`[data-${name}]`);
    const open = act("open");
    if (open) document.querySelector<HTMLDialogElement>(open.dataset["open"] ?? "")?.showModal();
    if (act("close")) target.closest("dialog")?.close();
    const copy = act("copy");
    if (copy) void copyText(copy.dataset["copy"] ?? "");
    if (act("menu")) document.querySelector(".app")?.classList.toggle("menu");
    else if (!target.closest(".side")) document.querySelector(".app")?.classList.remove("menu");
    const pick = act("pick");
    if (pick) picked(pick);
    const part = act("remove")?.closest<HTMLElement>(".part");
    part?.closest("form")?.toggleAttribute("data-unsaved", true);
    part?.remove();
  });
  // A list that a button dropped down closes by a click elsewhere or by Escape.
  document.addEventListener("click", (event) => {
    for (const drop of document.querySelectorAll<HTMLDetailsElement>("details.drop[open]")) {
      const within = event.target instanceof Node && drop.contains(event.target);
      if (!within || (event.target as Element).closest(".menu-list :is(a, button)")) drop.open = false;
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.querySelectorAll<HTMLDetailsElement>("details.drop[open]").forEach((drop) => (drop.open = false));
    if (event.key === "Escape") document.querySelector(".app")?.classList.remove("menu");
  });
  // An address may name a dialog of its page, as those of the search do.
  const named = () => {
    const dialog = document.getElementById(location.hash.slice(1));
    if (!(dialog instanceof HTMLDialogElement)) return;
    history.replaceState(history.state, "", location.pathname + location.search); // it opens once
    if (!dialog.open) dialog.showModal();
  };
  named();
  addEventListener("hashchange", named);
  // A form with data-done closes its dialog once what it asked for is done.
  document.addEventListener("htmx:after:request", (event) => {
    const { ctx } = (event as CustomEvent<{ ctx: { sourceElement?: Element; response?: { status: number } } }>).detail;
    if ((ctx.response?.status ?? 500) < 400 && ctx.sourceElement?.matches("form[data-done]")) ctx.sourceElement.closest("dialog")?.close();
  });
  // A dialog that htmx brings opens by itself and leaves no trace when closed.
  found<HTMLDialogElement>("dialog[data-show]", (dialog) => {
    if (!dialog.open) dialog.showModal();
    dialog.addEventListener("close", () => dialog.remove());
  });
}

// picked puts the path that was chosen in the picker into the field that asked.
function picked(button: HTMLElement): void {
  const dialog = button.closest<HTMLDialogElement>("dialog");
  const field = document.getElementById(dialog?.dataset["for"] ?? "");
  if (field instanceof HTMLInputElement) {
    field.value = button.dataset["pick"] ?? "";
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
  dialog?.close();
}

async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    toast(`This browser does not allow copying here. The text is: ${text}`, true);
  }
}
