// The graph of a workflow, derived from its triggers: what is drawn, what leads
// where, and which connections are possible. It knows nothing of the page.
import { Body, Info, Kind, Logic, Ref, Refusal, Trigger } from "./types";

export const key = (ref: Ref): string => `${ref.kind}-${ref.id}`;

export function parse(card: string): Ref | undefined {
  const at = card.indexOf("-");
  const kind = card.slice(0, at);
  return kind === "job" || kind === "crawler" ? { kind: kind as Kind, id: card.slice(at + 1) } : undefined;
}

export const conditions = (t: Trigger) => t.predicate?.conditions ?? [];
export const actions = (t: Trigger) => t.actions ?? [];

// compact triggers are drawn as a pill on their edges: they wait for one node
// and start at least one.
export const compact = (t: Trigger): boolean => t.type === "conditional" && conditions(t).length === 1 && actions(t).length > 0;

export interface Edge {
  key: string;
  from: string;
  to: string;
  trigger?: string; // of a pill
  state?: string;
}
export interface Drawn {
  key: string;
  kind: string;
  shape: "node" | "start" | "gate";
}

export class Graph {
  readonly triggers = new Map<string, Trigger>();
  readonly cards: string[] = [];
  private next = new Map<string, Set<string>>();
  private prev = new Map<string, Set<string>>();

  // asCards are conditions that are drawn as a card though a pill would do.
  constructor(
    body: Body,
    private asCards: ReadonlySet<string> = new Set(),
  ) {
    for (const t of body.triggers ?? []) {
      this.triggers.set(t.id, t);
      this.add(t.id);
      for (const c of conditions(t)) this.link(key(c.ref), t.id);
      for (const a of actions(t)) this.link(t.id, key(a.ref));
    }
    for (const ref of body.cards ?? []) this.add(key(ref));
  }

  private add(card: string): void {
    if (this.next.has(card)) return;
    this.next.set(card, new Set());
    this.prev.set(card, new Set());
    this.cards.push(card);
  }

  private link(from: string, to: string): void {
    this.add(from);
    this.add(to);
    this.next.get(from)?.add(to);
    this.prev.get(to)?.add(from);
  }

  has(card: string): boolean {
    return this.next.has(card);
  }
  after(card: string): string[] {
    return [...(this.next.get(card) ?? [])];
  }
  before(card: string): string[] {
    return [...(this.prev.get(card) ?? [])];
  }

  // path is a shortest way from one card to another, both included.
  path(from: string, to: string): string[] | undefined {
    const came = new Map<string, string>();
    const queue = [from];
    for (let i = 0; i < queue.length; i++) {
      const here = queue[i] as string;
      for (const next of this.next.get(here) ?? []) {
        if (came.has(next)) continue;
        came.set(next, here);
        if (next === to) {
          const way = [to];
          for (let at = here; at !== from; at = came.get(at) as string) way.push(at);
          return [...way, from].reverse();
        }
        queue.push(next);
      }
    }
    return undefined;
  }

  // ancestors are the cards from which card can be reached.
  ancestors(card: string): Set<string> {
    const seen = new Set<string>();
    const queue = [card];
    for (let i = 0; i < queue.length; i++) {
      for (const p of this.prev.get(queue[i] as string) ?? []) {
        if (!seen.has(p)) {
          seen.add(p);
          queue.push(p);
        }
      }
    }
    return seen;
  }

  // descendants are the cards that can be reached from card.
  descendants(card: string): string[] {
    const seen = new Set<string>();
    const queue = [card];
    for (let i = 0; i < queue.length; i++) {
      for (const n of this.next.get(queue[i] as string) ?? []) {
        if (seen.has(n)) continue;
        seen.add(n);
        queue.push(n);
      }
    }
    return [...seen];
  }

  hasLoop(): boolean {
    const waits = new Map<string, number>();
    for (const card of this.cards) waits.set(card, this.prev.get(card)?.size ?? 0);
    const ready = this.cards.filter((card) => waits.get(card) === 0);
    for (let i = 0; i < ready.length; i++) {
      for (const next of this.next.get(ready[i] as string) ?? []) {
        const left = (waits.get(next) as number) - 1;
        waits.set(next, left);
        if (left === 0) ready.push(next);
      }
    }
    return ready.length < this.cards.length;
  }

  // pill says whether a trigger is drawn as a pill on its edges.
  pill(t: Trigger): boolean {
    return compact(t) && !this.asCards.has(t.id);
  }

  // drawn are the cards of the compact view.
  drawn(): Drawn[] {
    const list: Drawn[] = [];
    for (const card of this.cards) {
      const t = this.triggers.get(card);
      if (!t) list.push({ key: card, kind: parse(card)?.kind ?? "job", shape: "node" });
      else if (!this.pill(t)) list.push({ key: card, kind: t.type, shape: t.type === "conditional" ? "gate" : "start" });
    }
    return list;
  }

  edges(): Edge[] {
    const list: Edge[] = [];
    for (const t of this.triggers.values()) {
      if (this.pill(t)) {
        const c = conditions(t)[0]!;
        const several = actions(t).length > 1;
        for (const a of actions(t)) list.push({ key: several ? `${t.id}>${key(a.ref)}` : t.id, from: key(c.ref), to: key(a.ref), trigger: t.id, state: c.state });
        continue;
      }
      for (const c of conditions(t)) list.push({ key: `${key(c.ref)}>${t.id}`, from: key(c.ref), to: t.id, state: c.state });
      for (const a of actions(t)) list.push({ key: `${t.id}>${key(a.ref)}`, from: t.id, to: key(a.ref) });
    }
    return list;
  }

  // suggest says how a new connection of two nodes is made: by joining a gate,
  // by asking whether all or any are waited for, or by a trigger of its own.
  suggest(to: string): { gate?: string; ask?: string } {
    let ask: string | undefined;
    for (const id of this.before(to)) {
      const t = this.triggers.get(id);
      if (!t || t.type !== "conditional" || actions(t).length !== 1) continue;
      if (conditions(t).length > 1 && (t.predicate?.logic ?? "all") !== "any") return { gate: id };
      ask ??= id;
    }
    return ask ? { ask } : {};
  }
}

// Names spells cards and ways as people read them.
export class Names {
  constructor(
    private graph: Graph,
    private infos: Record<string, Info>,
  ) {}

  of(card: string): string {
    return this.graph.triggers.get(card)?.name ?? this.infos[card]?.name ?? `a deleted ${parse(card)?.kind ?? "card"}`;
  }

  spell(way: string[]): string {
    const most = 5;
    const names = way.filter((card) => !this.graph.triggers.has(card) || !this.graph.pill(this.graph.triggers.get(card)!)).map((card) => this.of(card));
    const head = names.slice(0, most).join(" → ");
    return names.length > most ? `${head} … ${names.length - most} more` : head;
  }
}

// refuse says why no edge may lead from one card to another, or nothing where
// one may. The server asks the same again (engine/draft).
export function refuse(g: Graph, names: Names, from: string, to: string): Refusal | undefined {
  if (!g.has(from) || !g.has(to)) return new Refusal("gone", "This card was deleted meanwhile.");
  if (from === to) return new Refusal("cycle", `${names.of(from)} can't wait for itself.`, [from]);
  const source = g.triggers.get(from);
  const target = g.triggers.get(to);
  if (source && target) return new Refusal("rule", "A trigger starts jobs and crawlers, not triggers.");
  if (target && target.type !== "conditional") {
    return new Refusal("rule", "A start trigger begins the workflow; nothing can run before it.");
  }
  const way = g.path(to, from);
  if (way) return new Refusal("cycle", `${names.of(to)} already runs before ${names.of(from)}: ${names.spell(way)}.`, way);
  const joined = source || target ? g.after(from).includes(to) : g.after(from).some((t) => g.after(t).includes(to));
  return joined ? new Refusal("same", "Already connected.") : undefined;
}

// impossible lists every card that no edge from this one may lead to. It costs
// one walk over the graph, so that they can dim from the first pixel of a drag.
export function impossible(g: Graph, from: string): Set<string> {
  const out = g.ancestors(from).add(from);
  const source = g.triggers.get(from);
  for (const card of g.cards) {
    const target = g.triggers.get(card);
    if (target && (source || target.type !== "conditional")) out.add(card);
  }
  for (const next of g.after(from)) {
    out.add(next);
    if (!source) for (const end of g.after(next)) out.add(end);
  }
  // A gate that waits for this card is taken; what it starts may still have
  // another trigger, but the pair is joined already.
  return out;
}

export type { Logic };

// switched reports whether a trigger can be turned off and on, as the server has
// it: all but a person's start.
export const switched = (t: Trigger): boolean => t.type !== "on_demand";

// about is what the panel of a card shows of body, "" being the workflow's: two
// bodies that say the same of a card have the same panel. A name is told apart.
export function about(body: Body, card: string): string {
  if (card === "") return JSON.stringify([body.description, body.properties, body.max_runs, body.timeout]);
  const own = body.triggers?.find((t) => t.id === card);
  if (own) return JSON.stringify({ ...own, name: "" });
  return JSON.stringify(body.triggers?.filter((t) => t.actions?.some((a) => key(a.ref) === card)));
}
