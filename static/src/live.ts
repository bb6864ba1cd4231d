import { clockOf } from "./clock";

// The one socket of a page. It subscribes to the topics that the page asks for
// (data-live on the body, or the event dogear:subscribe), and turns what comes
// into DOM events on the body: the canvas and htmx listen to those.
//
//   dogear:message        detail {topic, seq, data} or {topic, seq, snapshot}
//   dogear:run-changed    a topic run:ID moved on; likewise dogear:draft-changed
//   dogear:log-changed    a run's log grew
//   dogear:runs-changed   the unsequenced topic changed:runs; likewise other kinds
interface Message {
  topic?: string;
  seq?: number;
  data?: { kind?: string };
  snapshot?: unknown;
  beat?: boolean;
}

const silence = 25_000; // longer without a beat, and the socket is dead
const firstWait = 500;
const longestWait = 30_000;
const bannerAfter = 3_000;

const seen = new Map<string, number>();
let socket: WebSocket | undefined;
let wait = firstWait;
let heard = Date.now();
let retry: number | undefined;
let lostAt: number | undefined;

export function startLive(): void {
  const asked = document.body.dataset["live"];
  if (asked === undefined) return;
  for (const part of asked.split(" ").filter(Boolean)) {
    const [topic = "", since = "0"] = part.split("@");
    seen.set(topic, Number(since));
  }
  document.body.addEventListener("dogear:subscribe", (event) => {
    const { topic, since } = (event as CustomEvent<{ topic: string; since: number }>).detail;
    seen.set(topic, since);
    if (socket?.readyState === WebSocket.OPEN) subscribe([topic]);
  });
  addEventListener("online", hurry);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible" && Date.now() - heard > silence / 2) hurry();
  });
  setInterval(check, 1000);
  connect();
}

function connect(): void {
  clearTimeout(retry);
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const mine = new WebSocket(`${scheme}//${location.host}/live`);
  socket = mine;
  heard = Date.now();
  mine.addEventListener("open", () => {
    if (socket !== mine) return;
    const again = lostAt !== undefined;
    wait = firstWait;
    heard = Date.now();
    lostAt = undefined;
    banner();
    subscribe([...seen.keys()]);
    // What has no sequence cannot tell what was missed: ask for it again.
    if (again) for (const topic of seen.keys()) if (topic.startsWith("changed:")) announce(topic);
  });
  mine.addEventListener("message", (event) => {
    if (socket !== mine) return;
    heard = Date.now();
    receive(JSON.parse(event.data as string) as Message);
  });
  mine.addEventListener("close", (event) => {
    if (socket !== mine) return;
    lost();
    // 1008: the session has ended. The page says so when it is loaded again.
    if (event.code === 1008) location.reload();
  });
}

function lost(): void {
  socket = undefined;
  lostAt ??= Date.now();
  clearTimeout(retry);
  retry = setTimeout(connect, wait * (0.75 + Math.random() / 2));
  wait = Math.min(wait * 2, longestWait);
}

// hurry drops a socket that may be dead and connects at once.
function hurry(): void {
  const old = socket;
  socket = undefined;
  old?.close();
  wait = firstWait;
  lostAt ??= Date.now();
  connect();
}

function check(): void {
  if (socket && Date.now() - heard > silence) {
    const old = socket;
    lostAt ??= heard;
    lost();
    old.close();
  }
  banner();
}

function banner(): void {
  const paused = lostAt !== undefined && Date.now() - lostAt > bannerAfter;
  const element = document.querySelector<HTMLElement>(".paused");
  if (element && element.hidden === paused) {
    element.hidden = !paused;
    const at = element.querySelector("b");
    if (at) at.textContent = clockOf(new Date(heard));
  }
  document.body.classList.toggle("stale", paused);
}

function subscribe(topics: string[]): void {
  socket?.send(JSON.stringify({ sub: topics.map((topic) => ({ topic, since: seen.get(topic) ?? 0 })) }));
}

function receive(message: Message): void {
  const { topic, seq = 0 } = message;
  if (!topic) return;
  if (seq > 0) {
    // Late and doubled messages say nothing new.
    if (seq <= (seen.get(topic) ?? 0) && message.snapshot === undefined) return;
    seen.set(topic, Math.max(seq, seen.get(topic) ?? 0));
  }
  document.body.dispatchEvent(new CustomEvent("dogear:message", { detail: message }));
  announce(topic, message.data?.kind);
}

// pause is how long fragments rest between two refreshes. The last event of a
// burst is always announced, so that none of them stays behind the truth.
const pause = 400;
const resting = new Map<string, { again?: CustomEvent }>();

function announce(topic: string, kind?: string): void {
  const [area = "", name = ""] = topic.split(":");
  const what = kind === "log" || kind === "progress" ? kind : area === "changed" ? name : area;
  tell(new CustomEvent(`dogear:${what}-changed`, { detail: { topic } }));
}

function tell(event: CustomEvent): void {
  const rest = resting.get(event.type);
  if (rest) {
    rest.again = event;
    return;
  }
  document.body.dispatchEvent(event);
  resting.set(event.type, {});
  setTimeout(() => {
    const again = resting.get(event.type)?.again;
    resting.delete(event.type);
    if (again) tell(again);
  }, pause);
}
