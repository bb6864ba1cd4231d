// What somebody typed and has not saved. A form with data-guarded is not left
// without a question while it holds any; Ctrl+S presses the button with
// data-save-key.

type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

// unsaved says whether a field in box is another one than the server drew. What
// the server drew as it was typed, and did not save, carries data-unsaved.
export function unsaved(box: Element): boolean {
  if (box.matches("[data-unsaved]") || box.querySelector("[data-unsaved]")) return true;
  return [...box.querySelectorAll<Field>("input, textarea, select")].some(typed);
}

function typed(field: Field): boolean {
  if (field instanceof HTMLSelectElement) {
    const options = [...field.options];
    const drawn = options.findIndex((option) => option.defaultSelected);
    return options.length > 0 && field.selectedIndex !== Math.max(drawn, 0);
  }
  if (field instanceof HTMLInputElement && /^(checkbox|radio)$/.test(field.type)) return field.checked !== field.defaultChecked;
  return field.value !== field.defaultValue;
}

export function startUnsaved(): void {
  // A form that the server took, and answered with another page, is left as it should be.
  const taken = new WeakSet<Element>();
  document.addEventListener("htmx:after:request", (event) => {
    const { ctx } = (event as CustomEvent<{ ctx: { sourceElement: Element; hx?: { redirect?: string } } }>).detail;
    if (ctx.hx?.redirect) taken.add(ctx.sourceElement);
  });
  addEventListener("beforeunload", (event) => {
    const forms = [...document.querySelectorAll("form[data-guarded]")];
    if (forms.some((form) => !taken.has(form) && unsaved(form))) event.preventDefault();
  });
  // A guarded form shows at once that what is typed is in no draft (.when-typed).
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, (event) => {
      const form = (event.target as Element).closest("form[data-guarded]");
      form?.classList.toggle("typed", unsaved(form));
    });
  }
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey || event.key.toLowerCase() !== "s") return;
    const button = document.querySelector<HTMLButtonElement>("[data-save-key]");
    if (!button) return;
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) button.click();
  });
}
