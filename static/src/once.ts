import { found } from "./watch";

// startOnce keeps a double click from doing a thing twice: while a change is on
// its way another one of the same button or form is dropped, and once the
// server has sent the browser elsewhere nothing more can be pressed here.
export function startOnce(): void {
  found<HTMLElement>("[hx-post]:not([hx-sync])", (element) => element.setAttribute("hx-sync", "drop"));
  document.addEventListener("htmx:after:request", (event) => {
    const { ctx } = (event as CustomEvent<{ ctx: { response: { headers: Headers } } }>).detail;
    if (ctx.response.headers.has("HX-Redirect")) document.body.inert = true;
  });
  // Back again by the browser's history: the page is as it was left.
  addEventListener("pageshow", () => (document.body.inert = false));
}
