import { found } from "./watch";

let refused = ""; // the address of the look that the server refused last; "" of anything else

// toast says something for a moment. Refusals stay until they are closed.
export function toast(text: string, bad = false): HTMLElement {
  const box = document.createElement("div");
  box.className = bad ? "toast bad" : "toast";
  box.setAttribute("role", bad ? "alert" : "status");
  box.textContent = text;
  document.querySelector(".toasts")?.append(box);
  return box;
}

// startToasts gives each message a button that closes it, and puts a refusal where
// its reader is: a dialog is over everything else on the page, and what stands
// below it can neither be read nor closed.
export function startToasts(): void {
  found<HTMLElement>(".toasts > .toast", (box) => {
    if (box.classList.contains("bad")) box.dataset["look"] ??= refused;
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
    const box = toast("The server did not answer. Nothing was changed on this page; try again in a moment.", true);
    box.dataset["look"] = lookOf(event.detail.ctx?.request);
    box.dataset["silent"] = "";
  });
  // What is said of a look (a GET) goes when a newer one succeeds. That the server was
  // silent goes with any answer of it; but not of a change, which was not done and which
  // somebody may not have seen yet.
  document.addEventListener("htmx:after:request", (event) => {
    const { request, response } = event.detail.ctx;
    const look = lookOf(request);
    const well = response !== undefined && response.status < 400;
    refused = well ? "" : look;
    if (!well) return;
    for (const box of document.querySelectorAll<HTMLElement>(".toast.bad")) {
      const of = box.dataset["look"];
      if (of && (of === look || box.dataset["silent"] === "")) box.remove();
    }
  });
}

// lookOf is the address that was only looked at, without what it was asked; "" of a change.
function lookOf(request?: { action: string; method: string }): string {
  return request?.method.toUpperCase() === "GET" ? (request.action.split("?")[0] ?? "") : "";
}
