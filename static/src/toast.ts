import { found } from "./watch";

// toast says something for a moment. Refusals stay until they are closed.
export function toast(text: string, bad = false): void {
  const box = document.createElement("div");
  box.className = bad ? "toast bad" : "toast";
  box.setAttribute("role", bad ? "alert" : "status");
  box.textContent = text;
  document.querySelector(".toasts")?.append(box);
}

// startToasts gives each message a button that closes it, and puts a refusal where
// its reader is: a dialog is over everything else on the page, and what stands
// below it can neither be read nor closed.
export function startToasts(): void {
  found<HTMLElement>(".toasts > .toast", (box) => {
    if (box.classList.contains("bad")) document.querySelector("dialog:modal .ends")?.before(box);
    const close = document.createElement("button");
    close.type = "button";
    close.className = "btn ghost icon sm";
    close.setAttribute("aria-label", "Close this message");
    close.textContent = "×";
    close.addEventListener("click", () => box.remove());
    box.append(close);
    if (!box.classList.contains("bad")) setTimeout(() => box.remove(), 6000);
  });
  // Who tries again has read why it was refused before.
  document.addEventListener("htmx:before:request", (event) => {
    const { request, sourceElement } = event.detail.ctx;
    // What looks at a form while somebody types (data-quiet) is not a try.
    if (request.method.toUpperCase() !== "POST" || sourceElement.matches("[data-quiet]")) return;
    for (const box of document.querySelectorAll(".toast.bad")) box.remove();
  });
  document.addEventListener("htmx:error", (event) => {
    if (event.target instanceof Element && event.target.matches("[data-quiet]")) return;
    toast("The server did not answer. Nothing was changed on this page; try again in a moment.", true);
  });
}
