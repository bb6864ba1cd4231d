// startPalette opens the search box by Ctrl+K or /. What it finds is rendered
// by the server; here are only the keys. Enter opens the first that was found,
// which is marked by the style sheet while no other has the focus.
export function startPalette(): void {
  const dialog = document.querySelector<HTMLDialogElement>("#palette");
  if (!dialog) return;
  document.addEventListener("keydown", (event) => {
    // The SQL editor stands in a shadow root: seen from here the target is its
    // host, and only the path knows the field.
    const typing = event.composedPath().some((e) => e instanceof Element && e.matches("input, textarea, select, [contenteditable], dialog"));
    if ((event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !typing && !document.querySelector("dog-canvas"))) {
      event.preventDefault();
      if (!dialog.open) dialog.showModal();
      dialog.querySelector("input")?.select();
    }
  });
  const field = dialog.querySelector("input")!;
  let asked: string | undefined; // what is on its way
  let answered: string | undefined; // what the list is about
  let entered = false; // Enter came before the answer
  const open = () => {
    entered = field.value !== answered;
    if (!entered) dialog.querySelector<HTMLElement>("li a")?.click();
  };
  dialog.addEventListener("htmx:before:request", () => (asked = field.value));
  dialog.addEventListener("htmx:after:swap", () => {
    answered = asked;
    if (entered) open();
  });
  field.addEventListener("input", () => (entered = false));
  field.addEventListener("keydown", (event) => {
    // A field for a search would take the first Escape to empty itself.
    if (event.key === "Escape") dialog.close();
    else if (event.key === "Enter" && !event.isComposing) open();
    else return;
    event.preventDefault();
  });
  // What the page has a button for presses that button.
  dialog.addEventListener("click", (event) => {
    const press = (event.target as Element).closest<HTMLElement>("[data-press]")?.dataset["press"];
    if (!press) return;
    event.preventDefault();
    dialog.close();
    document.querySelector<HTMLElement>(press)?.click();
  });
  dialog.addEventListener("close", () => (entered = false));
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const stops: HTMLElement[] = [field, ...dialog.querySelectorAll<HTMLElement>("li a")];
    const at = stops.indexOf(document.activeElement as HTMLElement);
    const next = stops[(at + (event.key === "ArrowDown" ? 1 : stops.length - 1)) % stops.length];
    event.preventDefault();
    next?.focus();
  });
}
