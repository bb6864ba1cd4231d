import { ulid } from "./canvas/ids";
import { lead } from "./led";

// Context is what htmx knows of a request, and Sending is one about to be sent.
type Context = HTMLElementEventMap["htmx:before:request"]["detail"]["ctx"];
type Sending = Context & { fetch: typeof fetch };

// startOnce keeps a double click from doing a thing twice: while a change is on
// its way an equal one is dropped, from wherever on the page it comes, and once
// the server has sent the browser elsewhere nothing more can be pressed here.
// A live refresh may put another button into the place of the one that was
// pressed, so it is the request that is remembered. What says itself by hx-sync
// what becomes of a second request is left alone.
export function startOnce(): void {
  const underWay = new Set<string>();
  // The token of each change whose answer never came: asked again it is the same
  // change, and the server does not start a second run for it.
  const unanswered = new Map<string, string>();
  // Dropped before htmx queues it behind the first, and again where it was asked
  // about before it is sent.
  const drop = (event: HTMLElementEventMap["htmx:config:request"]): string => {
    const { request, sourceElement } = event.detail.ctx;
    if (request.method.toUpperCase() !== "POST" || sourceElement.hasAttribute("hx-sync")) return "";
    const what = named(request);
    if (!underWay.has(what)) return what;
    event.preventDefault();
    return "";
  };
  document.addEventListener("htmx:config:request", drop);
  document.addEventListener("htmx:before:request", (event) => {
    const what = drop(event);
    if (what === "") return;
    const ctx = event.detail.ctx as Sending;
    underWay.add(what);
    const token = unanswered.get(what) ?? ulid();
    unanswered.set(what, token);
    ctx.request.headers["Idempotency-Key"] = token;
    const send = ctx.fetch;
    ctx.fetch = async (...args) => {
      try {
        const response = await send(...args);
        if (response.status < 500) unanswered.delete(what); // else a proxy between may have lost the answer
        if (response.headers.has("HX-Redirect")) {
          document.body.inert = true;
          lead();
        }
        return response;
      } finally {
        underWay.delete(what);
      }
    };
  });
  // Back again by the browser's history: the page is as it was left.
  addEventListener("pageshow", () => (document.body.inert = false));
}

// named tells one change from another: where it goes and what it says. The
// token is another one each time that a page is drawn.
function named({ action, body }: Context["request"]): string {
  const said = [];
  for (const [name, value] of body instanceof FormData || body instanceof URLSearchParams ? body : []) {
    if (name !== "_csrf") said.push([name, typeof value === "string" ? value : value.name]);
  }
  return JSON.stringify([action, said]);
}
