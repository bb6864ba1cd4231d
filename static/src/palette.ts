// startPalette opens the search box by Ctrl+K or /. What it finds is rendered
// by the server; here are only the keys.
export function startPalette(): void {
  const dialog = document.querySelector<HTMLDialogElement>("#palette");
  if (!dialog) return;
  document.addEventListener("keydown", (event) => {
    // The SQL editor stands in a shadow root: seen from here the target is its
    // host, and only the path knows the field.
    const typing = event.composedPath().some((e) => e instanceof Element && e.matches("input, textarea, select, [contenteditable], dialog"));
    if ((event.key === "k" && (event.ctrlKey || event.metaKey)) || (event.key === "/" && !typing && !document.querySelector("dog-canvas"))) {
      event.preventDefault();
      if (!dialog.open) dialog.showModal();
      dialog.querySelector("input")?.select();
    }
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const stops = [dialog.querySelector<HTMLElement>("input"), ...dialog.querySelectorAll<HTMLElement>("li a")].filter((e) => e !== null);
    const at = stops.indexOf(document.activeElement as HTMLElement);
    const next = stops[(at + (event.key === "ArrowDown" ? 1 : stops.length - 1)) % stops.length];
    event.preventDefault();
    next?.focus();
  });
}
