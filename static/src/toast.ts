import { found } from "./watch";

// toast says something for a moment. Refusals stay until they are closed.
export function toast(text: string, bad = false): void {
  const box = document.createElement("div");
  box.className = bad ? "toast bad" : "toast";
  box.setAttribute("role", bad ? "alert" : "status");
  box.textContent = text;
  document.querySelector(".toasts")?.append(box);
}

export function startToasts(): void {
  found<HTMLElement>(".toast", (box) => {
    const close = document.createElement("button");
    close.type = "button";
    close.className = "btn ghost icon sm";
    close.setAttribute("aria-label", "Close this message");
    close.textContent = "×";
    close.addEventListener("click", () => box.remove());
    box.append(close);
    if (!box.classList.contains("bad")) setTimeout(() => box.remove(), 6000);
  });
  document.addEventListener("htmx:error", () => {
    toast("The server did not answer. Nothing was changed on this page; try again in a moment.", true);
  });
}
