// A run on the canvas: states come over the page's socket and change cards in
// place. Every state is an icon, a word and a colour; the camera stays where it
// is unless the reader follows.
import { clock, length } from "./length";
import { Data } from "./types";
import { View } from "./view";

interface NodeState {
  card: string;
  state: string;
  start: number;
  attempt: number;
  started?: string;
  ended?: string;
  counts?: Record<string, number>;
}
interface RunState {
  nodes: NodeState[];
  triggers?: { card: string; fired?: string; dead?: boolean }[];
}
interface RunEvent {
  kind: string; // run, node, trigger
  card?: string;
  state: string;
  start?: number;
  attempt?: number;
  at?: string;
  counts?: Record<string, number>;
}
interface Progress {
  card: string;
  progress: { percent: number; rows?: number; note?: string };
}
export interface Message {
  topic?: string;
  seq?: number;
  data?: RunEvent | Progress;
  snapshot?: RunState;
}

const working = new Set(["starting", "running", "publishing", "stopping"]);

export class RunView {
  private newest = new Map<string, number>(); // card -> start and attempt as one number
  private said = 0;
  private summary = new Map<string, number>();

  constructor(
    private data: Data,
    private view: View,
    private reveal: (card: string) => void,
    private say: (text: string) => void,
    private now: () => number, // of the server's clock
  ) {
    setInterval(() => this.tick(), 1000);
    this.tick();
  }

  receive(message: Message): void {
    const { topic, data, snapshot } = message;
    if (topic !== `run:${this.data.run}`) return;
    if (snapshot) this.whole(snapshot);
    const event = data as (RunEvent & Partial<Progress>) | undefined;
    if (event?.progress) this.progress(event as RunEvent & Progress);
    else if (event) this.one(event);
  }

  private whole(state: RunState): void {
    for (const n of state.nodes) this.node(n);
    for (const t of state.triggers ?? []) if (t.fired) this.fired(t.card, t.fired);
  }

  private one(e: RunEvent): void {
    if (!e.card) return;
    if (e.kind === "trigger" && e.state === "fired") this.fired(e.card, e.at ?? "");
    if (e.kind === "node") {
      const started = e.state === "running" ? e.at : undefined;
      this.node({ card: e.card, state: e.state, start: e.start ?? 0, attempt: e.attempt ?? 0, started, ended: done(e.state) ? e.at : undefined, counts: e.counts });
    }
  }

  // node shows the state of a node; one of an earlier attempt says nothing new.
  private node(n: NodeState): void {
    const card = this.view.cards.get(n.card);
    const sign = this.data.signs?.[n.state];
    const order = n.start * 1000 + n.attempt;
    if (!card || !sign || order < (this.newest.get(n.card) ?? 0)) return;
    if (n.state === "ready" || n.state === "starting") Object.assign(card.dataset, { started: "", ended: "" });
    this.newest.set(n.card, order);
    const before = this.data.signs?.[card.dataset["status"] ?? ""];
    // What is known already may say more than its state: that it was copied or
    // marked.
    const known = card.dataset["status"] === n.state && (n.attempt <= 1 || !!card.dataset["kept"]);
    if (before) card.classList.remove(before.hue);
    card.classList.add(sign.hue);
    card.dataset["status"] = n.state;
    if (n.started) card.dataset["started"] = n.started;
    if (n.ended) card.dataset["ended"] = n.ended;
    const name = card.querySelector("[data-slot=name]")?.textContent ?? "";
    if (!known) this.fill(card, "sub", n.attempt > 1 ? `${sign.word} · attempt ${n.attempt}` : sign.word);
    if (!known) {
      this.fill(card, "aside", `, ${sign.word}`);
      this.view.icon(card, sign.icon, ".mark");
    }
    // The figures of the end take the place of what it said on its way.
    const fact = figure(n.counts);
    if (fact || done(n.state)) this.fill(card, "fact", fact);
    if (!working.has(n.state)) this.bar(card, 0);
    for (const { path, edge } of this.view.lines.values()) {
      if (edge.from === n.card && !edge.trigger && edge.state && (edge.state === n.state || (edge.state === "any" && done(n.state)))) {
        path.classList.add("taken");
      }
    }
    if (!known) this.row(n.card, sign);
    this.summary.set(sign.word, (this.summary.get(sign.word) ?? 0) + 1);
    if (n.state === "running") this.reveal(n.card);
    this.speak(name, sign.word);
    this.tick();
  }

  // row shows the state in the list as well.
  private row(card: string, sign: { icon: string; word: string; hue: string }): void {
    const pill = document.querySelector<HTMLElement>(`[data-row="${card}"] .pill`);
    if (!pill) return;
    pill.className = `pill ${sign.hue}`;
    pill.lastChild!.textContent = sign.word;
    this.view.icon(pill, sign.icon, ".ic");
  }

  private fired(id: string, at: string): void {
    for (const { path, edge } of this.view.lines.values()) {
      if (edge.trigger === id || edge.from === id) path.classList.add("taken");
    }
    const card = this.view.cards.get(id);
    const sign = this.data.signs?.["succeeded"];
    if (!card || !sign) return;
    card.classList.remove("idle");
    card.classList.add(sign.hue);
    card.dataset["status"] = "succeeded";
    this.fill(card, "sub", `fired ${at.slice(11, 16)} UTC`);
  }

  private progress({ card: id, progress: p }: Progress): void {
    const card = this.view.cards.get(id);
    if (!card || !working.has(card.dataset["status"] ?? "")) return;
    if (p.percent >= 0) this.bar(card, p.percent);
    if (p.note) this.fill(card, "fact", p.note);
    else if (p.rows) this.fill(card, "fact", many(p.rows, "row"));
  }

  private bar(card: HTMLElement, percent: number): void {
    const bar = card.querySelector<HTMLElement>(".bar");
    if (bar) bar.style.width = `${Math.min(percent, 100)}%`;
  }

  private fill(card: HTMLElement, slot: string, text: string): void {
    const element = card.querySelector(`[data-slot=${slot}]`);
    if (element && element.textContent !== text) element.textContent = text;
  }

  // tick counts the time of what works, on the server's clock at both ends.
  private tick(): void {
    for (const card of this.view.cards.values()) {
      const { started, ended, status = "" } = card.dataset;
      if (!started || card.dataset["kind"] === "scheduled") continue;
      if (working.has(status)) this.fill(card, "note", clock(this.now() - Date.parse(started)));
      else if (ended) this.fill(card, "note", length(Date.parse(ended) - Date.parse(started)));
    }
  }

  // speak tells a screen reader at most one thing a second, several summed up.
  private speak(name: string, word: string): void {
    if (Date.now() - this.said < 1000) return;
    this.said = Date.now();
    setTimeout(() => {
      const all = [...this.summary].map(([w, n]) => `${n} ${w.toLowerCase()}`);
      this.say(all.length === 1 && this.summary.get(word) === 1 ? `${name}: ${word}` : all.join(", "));
      this.summary.clear();
    }, 900);
  }
}

const many = (n: number, word: string): string => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

// figure is what a card says of what its node has done, as the server says it.
export function figure(counts: Record<string, number> = {}): string {
  for (const [name, word] of [["rows_out", "row"], ["partitions", "partition"], ["tables", "table"]] as const) {
    if (counts[name]) return many(counts[name], word);
  }
  return "";
}

const done = (state: string): boolean => ["succeeded", "failed", "timed_out", "stopped"].includes(state);
