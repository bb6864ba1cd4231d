// How the canvas talks to the server: JSON with the page's token. An answer
// that never came has the status 0.
export interface Answer {
  status: number;
  json: unknown;
}

declare global {
  interface Window {
    htmx?: { ajax(verb: string, path: string, options?: object): Promise<void>; config: { morphIgnore: string[] } };
  }
}

const patience = 20_000;

export async function wire(method: "GET" | "PATCH" | "POST", path: string, body?: unknown): Promise<Answer> {
  try {
    const response = await fetch(path, {
      method,
      headers: { ...token(), ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(patience),
    });
    return { status: response.status, json: await response.json().catch(() => undefined) };
  } catch {
    return { status: 0, json: undefined };
  }
}

// token is the header that every change needs; the page carries it for htmx.
function token(): Record<string, string> {
  const headers = document.body.getAttribute("hx-headers:inherited");
  return headers ? (JSON.parse(headers) as Record<string, string>) : {};
}
