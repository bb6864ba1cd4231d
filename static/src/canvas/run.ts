// A run on the canvas: states come over the page's socket and change cards in
// place. Every state is an icon, a word and a colour; the camera stays where it
// is unless the reader follows. A run may have thousands of cards and as many
// events a minute: an event costs what it changes, not what the graph holds, and
// those that come together are shown together, in the next frame.
import { clock, length } from "./length";
import { Edge } from "./model";
import { clockOf } from "../clock";
import { Rows } from "./rows";
import { Data } from "./types";
import { stateWord, View } from "./view";

interface Counts {
  rows_out?: number;
  partitions?: number;
  tables?: number;
  nothing_new?: boolean; // there was nothing to read
}
interface NodeState {
  card: string;
  state: string;
  start: number;
  attempt: number;
  started?: string;
  ended?: string;
  counts?: Counts;
  why?: string; // what it waits for
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
  counts?: Counts;
  why?: string;
  dead?: string[]; // triggers that can no longer fire
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

interface Line {
  path: SVGPathElement;
  edge: Edge;
}

export class RunView {
  private due: Message[] = []; // for the next frame
  private asked = false; // for that frame
  private reached: string | undefined; // the card that began to run last
  private counting = new Map<string, HTMLElement>(); // cards whose time goes on
  private leaving = new Map<string, Line[]>(); // card -> the lines from it
  private joining = new Map<string, Line[]>(); // trigger -> the lines it is the reason of
  private rows = new Rows(document.getElementById("graph-list"));
  private newest = new Map<string, number>(); // card -> start and attempt as one number
  private changed = new Set<string>(); // cards, since something was said last
  private skipped = new Set<string>(); // cards that wait to be skipped

  constructor(
    private data: Data,
    private view: View,
    private reveal: (card: string) => void,
    private say: (text: string) => void,
    private now: () => number, // of the server's clock
  ) {
    // The graph of a run stays as it was drawn.
    for (const line of view.lines.values()) {
      add(this.leaving, line.edge.from, line);
      if (line.edge.trigger) add(this.joining, line.edge.trigger, line);
    }
    for (const [id, card] of view.cards) {
      this.time(id, card);
      this.firing(id, card);
    }
    setInterval(() => this.tick(), 1000);
  }

  receive(message: Message): void {
    if (message.topic !== `run:${this.data.run}`) return;
    this.due.push(message);
    if (!this.asked) {
      this.asked = true;
      requestAnimationFrame(() => {
        this.asked = false;
        this.show();
      });
    }
    // A page in the background gets no frames, and must not hoard what comes.
    if (document.hidden) this.show();
  }

  private show(): void {
    const due = this.due;
    this.due = [];
    for (const message of due) this.take(message);
    if (this.reached) this.reveal(this.reached);
    this.reached = undefined;
  }

  private take({ data, snapshot }: Message): void {
    if (snapshot) this.whole(snapshot);
    const event = data as (RunEvent & Partial<Progress>) | undefined;
    if (event?.progress) this.progress(event as RunEvent & Progress);
    else if (event) this.one(event);
  }

  private whole(state: RunState): void {
    for (const n of state.nodes) this.node(n);
    for (const t of state.triggers ?? []) {
      if (t.fired) this.fired(t.card, t.fired);
      else if (t.dead) this.dead(t.card);
    }
  }

  private one(e: RunEvent): void {
    for (const id of e.dead ?? []) this.dead(id);
    if (!e.card) return;
    if (e.kind === "trigger" && e.state === "fired") this.fired(e.card, e.at ?? "");
    if (e.kind === "node") {
      const started = e.state === "running" ? e.at : undefined;
      this.node({ card: e.card, state: e.state, start: e.start ?? 0, attempt: e.attempt ?? 0, started, ended: done(e.state) ? e.at : undefined, counts: e.counts, why: e.why });
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
    if (card.dataset["status"] !== n.state) this.speak(n.card);
    // What is known already may say more than its state: that it was copied or
    // marked.
    const known = card.dataset["status"] === n.state && !n.why && (n.attempt <= 1 || !!card.dataset["kept"]);
    if (before) card.classList.remove(before.hue);
    card.classList.add(sign.hue);
    card.dataset["status"] = n.state;
    if (n.started) card.dataset["started"] = n.started;
    if (n.ended) card.dataset["ended"] = n.ended;
    if (!known) {
      const attempt = n.attempt > 1 ? ` · attempt ${n.attempt}` : "";
      const why = n.why ? `, ${n.why}` : "";
      this.view.fill(card, { sub: `${sign.word}${attempt}${why}` });
      this.view.state(card, sign.word);
      this.view.icon(card, sign.icon, ".mark");
    }
    // The figures of the end take the place of what it said on its way.
    const fact = figure(n.counts);
    if (fact || done(n.state)) {
      this.view.fill(card, { fact });
      const listed = this.rows.get(n.card)?.querySelector("[data-fact]");
      if (listed) listed.textContent = fact;
    }
    if (!working.has(n.state)) this.bar(card, 0);
    for (const { path, edge } of this.leaving.get(n.card) ?? []) {
      if (!edge.trigger && edge.state && (edge.state === n.state || (edge.state === "any" && done(n.state)))) path.classList.add("taken");
    }
    if (!known) this.row(n.card, sign);
    if (n.state === "running") this.reached = n.card;
    this.time(n.card, card);
  }

  // row shows the state in the list as well.
  private row(card: string, sign: { icon: string; word: string; hue: string }): void {
    const pill = this.rows.get(card)?.querySelector<HTMLElement>(".pill");
    if (!pill) return;
    pill.className = `pill ${sign.hue}`;
    pill.lastChild!.textContent = sign.word;
    this.view.icon(pill, sign.icon, ".ic");
  }

  // skips shows which of the cards that wait are skipped when their turn comes.
  skips(cards: Set<string>): void {
    for (const id of new Set([...this.skipped, ...cards])) {
      const card = this.view.cards.get(id);
      const sign = cards.has(id) ? this.data.toSkip : this.data.signs?.["waiting"];
      if (!card || !sign || card.dataset["status"] !== "waiting") continue;
      this.view.fill(card, { sub: sign.word });
      this.view.state(card, sign.word);
      this.view.icon(card, sign.icon, ".mark");
      this.row(id, sign);
    }
    this.skipped = cards;
  }

  private fired(id: string, at: string): void {
    for (const lines of [this.leaving.get(id), this.joining.get(id)]) {
      for (const { path } of lines ?? []) path.classList.add("taken");
    }
    const hand = this.data.byHand?.card === id ? this.data.byHand : undefined;
    this.trigger(id, "succeeded", hand ? "started by hand" : firedAt(at), hand?.word);
  }

  // firing says in the zone of whoever looks when a trigger fired that had done so
  // before the page was there.
  private firing(id: string, card: HTMLElement): void {
    const { kind = "", status, started } = card.dataset;
    if (started && status === "succeeded" && kind !== "job" && kind !== "crawler" && this.data.byHand?.card !== id) this.view.fill(card, { sub: firedAt(started) });
  }

  private dead(id: string): void {
    this.trigger(id, "skipped", "did not fire");
  }

  // trigger shows what has become of a trigger that has a card.
  private trigger(id: string, state: string, sub: string, said?: string): void {
    const card = this.view.cards.get(id);
    const sign = this.data.signs?.[state];
    if (!card || !sign) return;
    const word = said ?? stateWord(card.dataset["kind"] ?? "", state, sign.word);
    card.classList.remove("idle");
    card.classList.add(sign.hue);
    card.dataset["status"] = state;
    this.view.fill(card, { sub });
    this.view.state(card, word);
    this.row(id, { ...sign, word });
  }

  private progress({ card: id, progress: p }: Progress): void {
    const card = this.view.cards.get(id);
    if (!card || !working.has(card.dataset["status"] ?? "")) return;
    if (p.percent >= 0) this.bar(card, p.percent);
    if (p.note) this.view.fill(card, { fact: p.note });
    else if (p.rows) this.view.fill(card, { fact: many(p.rows, "row") });
  }

  private bar(card: HTMLElement, percent: number): void {
    card.style.setProperty("--done", `${Math.min(percent, 100)}%`);
  }

  private tick(): void {
    for (const [id, card] of this.counting) this.time(id, card);
  }

  // time says how long a card has worked, on the server's clock at both ends; of
  // what still works it is said again with each tick.
  private time(id: string, card: HTMLElement): void {
    const { started, ended, status = "", kind } = card.dataset;
    const works = !!started && kind !== "scheduled" && working.has(status);
    if (works) this.counting.set(id, card);
    else this.counting.delete(id);
    if (!started || kind === "scheduled") return;
    if (works) this.view.fill(card, { note: clock(this.now() - Date.parse(started)) });
    else if (ended) this.view.fill(card, { note: length(Date.parse(ended) - Date.parse(started)) });
  }

  // speak tells a screen reader at most one thing a second: of one card what has become
  // of it by then, of several how all stand.
  private speak(id: string): void {
    this.changed.add(id);
    if (this.changed.size > 1) return; // it is to be told already
    setTimeout(() => {
      const card = this.changed.size === 1 ? this.view.cards.get(id) : undefined;
      this.changed.clear();
      this.say(card ? `${card.querySelector("[data-slot=name]")?.textContent}: ${this.word(card)}` : this.sum());
    }, 1000);
  }

  private word(card: HTMLElement): string {
    return this.data.signs?.[card.dataset["status"] ?? ""]?.word ?? "";
  }

  // sum says how many jobs and crawlers stand how: "2 succeeded, 1 failed".
  private sum(): string {
    const counts = new Map<string, number>();
    for (const card of this.view.cards.values()) {
      if (card.dataset["kind"] !== "job" && card.dataset["kind"] !== "crawler") continue;
      const word = this.word(card).toLowerCase();
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    return [...counts].map(([word, n]) => `${n} ${word}`).join(", ");
  }
}

function add(to: Map<string, Line[]>, key: string, line: Line): void {
  const lines = to.get(key);
  if (lines) lines.push(line);
  else to.set(key, [line]);
}

const firedAt = (at: string): string => `fired ${clockOf(new Date(at))}`;

const many = (n: number, word: string): string => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

// figure is what a card says of what its node has done, as the server says it.
export function figure(counts: Counts = {}): string {
  for (const [name, word] of [["rows_out", "row"], ["partitions", "partition"], ["tables", "table"]] as const) {
    const n = counts[name];
    if (n) return many(n, word);
  }
  return counts.nothing_new ? "nothing new" : "";
}

const done = (state: string): boolean => ["succeeded", "failed", "timed_out", "stopped"].includes(state);
