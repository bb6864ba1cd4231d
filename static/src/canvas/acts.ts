// What a gesture means as operations on a draft: each list is one act, which one
// undo takes back. Nothing here knows of the page.
import { ulid } from "./ids";
import { actions, compact, conditions, Edge, Graph, key, parse } from "./model";
import { apply } from "./ops";
import { Body, Fields, Info, Op, Point, Ref, Refusal, Trigger } from "./types";

export type Draft = Omit<Op, "id">;

// link draws an edge; between two nodes it makes the trigger of that id.
function link(from: string, to: string, state?: string, trigger = ulid()): Draft {
  const op: Draft = { op: "connect", card: from, to };
  if (parse(from) && parse(to)) op.trigger = trigger;
  if (state) op.patch = { state };
  return op;
}

// passing is how what an edge passes to its end, and the limits of that start,
// go on to the edge that takes its place; nothing where it says nothing.
function passing(graph: Graph, edge: Edge, starter: string): Draft[] {
  const old = graph.triggers.get(edge.trigger ?? edge.from);
  const { arguments: passed = {}, timeout, retries } = (old && actions(old).find((a) => key(a.ref) === edge.to)) ?? {};
  const patch: Fields = {};
  if (Object.keys(passed).length > 0) patch.arguments = passed;
  if (timeout || retries !== undefined) patch.limits = { timeout, retries };
  return patch.arguments || patch.limits ? [{ op: "set_start", card: starter, to: edge.to, patch }] : [];
}

export const cut = (edge: Edge): Draft => ({ op: "disconnect", card: edge.from, to: edge.to, trigger: edge.trigger });

export const remove = (graph: Graph, card: string): Draft => ({ op: graph.triggers.has(card) ? "del_trigger" : "del_node", card });

// insert leads an edge through a job or crawler: it starts as the end of the
// edge did, and the end starts when it has succeeded.
export function insert(graph: Graph, edge: Edge, card: string): Draft[] {
  const next = ulid();
  return [cut(edge), link(edge.from, card, edge.state), link(card, edge.to, undefined, next), ...passing(graph, edge, next)];
}

// heal removes cards and connects what stood before each with what came after
// it. Pairs that no edge may join, or that are joined already, are left as they
// are. A condition that waits for several is not healed: all of them together
// is something else than each of them.
export function heal(body: Body, cards: Iterable<string>, infos: Record<string, Info>): Draft[] {
  const ops: Draft[] = [];
  const attempt = (list: Draft[]) => {
    try {
      for (const op of list) body = apply(body, { ...op, id: ulid() }, infos).body;
      ops.push(...list);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  };
  for (const card of cards) {
    const graph = new Graph(body);
    const edges = graph.edges();
    attempt([remove(graph, card)]);
    if (graph.triggers.has(card)) continue;
    for (const before of edges.filter((e) => e.to === card)) {
      for (const after of edges.filter((e) => e.from === card)) {
        const trigger = ulid();
        const starter = parse(before.from) ? trigger : before.from;
        attempt([link(before.from, after.to, before.state, trigger), ...(parse(after.to) ? passing(graph, after, starter) : [])]);
      }
    }
  }
  return ops;
}

// Clip is what copying puts into the clipboard, as text.
export interface Clip {
  dogear: 1;
  cards: { card: string; name: string; at: Point }[];
  triggers: { trigger: Trigger; at?: Point }[];
}

// clip copies the selected cards with the edges between them.
export function clip(body: Body, selection: Set<string>, places: Map<string, Point>, name: (card: string) => string): Clip {
  const copied: Clip = { dogear: 1, cards: [], triggers: [] };
  const chosen = (ref: Ref) => selection.has(key(ref));
  for (const card of selection) {
    const at = places.get(card);
    if (parse(card) && at) copied.cards.push({ card, name: name(card), at: { x: at.x, y: at.y } });
  }
  for (const t of body.triggers ?? []) {
    const whole = selection.has(t.id);
    const pill = compact(t) && chosen(conditions(t)[0]!.ref) && actions(t).some((a) => chosen(a.ref));
    if (!whole && !pill) continue;
    const trigger = structuredClone(t);
    if (trigger.predicate) trigger.predicate.conditions = conditions(t).filter((c) => chosen(c.ref));
    trigger.actions = actions(t).filter((a) => chosen(a.ref));
    const at = places.get(t.id);
    copied.triggers.push({ trigger, at: at && { x: at.x, y: at.y } });
  }
  return copied;
}

const most = 200; // cards of one paste

// readClip reads what somebody pastes; nothing where it is something else.
export function readClip(text: string): Clip | undefined {
  let given: Partial<Clip>;
  try {
    given = JSON.parse(text) as Partial<Clip>;
  } catch {
    return undefined;
  }
  if (given?.dogear !== 1 || !Array.isArray(given.cards) || !Array.isArray(given.triggers)) return undefined;
  const point = (p?: Point) => p === undefined || (Number.isFinite(p.x) && Number.isFinite(p.y));
  const whole =
    given.cards.length + given.triggers.length <= most &&
    given.cards.every((c) => typeof c?.card === "string" && typeof c.name === "string" && c.at && point(c.at)) &&
    given.triggers.every(({ trigger: t, at }) => typeof t?.id === "string" && typeof t.name === "string" && typeof t.type === "string" && point(at));
  return whole ? (given as Clip) : undefined;
}

// paste puts copies on the canvas, moved by a little. cards says which card each
// of the clip has become; one that is missing there is left out.
export function paste(clip: Clip, graph: Graph, cards: Map<string, string>, by: Point): { ops: Draft[]; made: string[] } {
  const ops: Draft[] = [];
  const made: string[] = [];
  const moved = (p: Point) => ({ x: p.x + by.x, y: p.y + by.y });
  for (const { card, at } of clip.cards) {
    const now = cards.get(card);
    if (!now) continue;
    ops.push({ op: "add_node", card: now, at: moved(at) });
    made.push(now);
  }
  const names = new Set([...graph.triggers.values()].map((t) => t.name));
  const turned = <T extends { ref: Ref }>(list: T[]) =>
    list.flatMap((part) => {
      const ref = parse(cards.get(key(part.ref)) ?? "");
      return ref ? [{ ...part, ref }] : [];
    });
  for (const { trigger: t, at } of clip.triggers) {
    const copy: Trigger = { ...t, id: ulid(), name: freeName(t.name, names), actions: turned(actions(t)) };
    if (t.predicate) copy.predicate = { logic: t.predicate.logic, conditions: turned(conditions(t)) };
    if (!at && !compact(copy)) continue; // a pill that lost an end
    names.add(copy.name);
    ops.push({ op: "add_trigger", new: copy, at: at && !compact(copy) ? moved(at) : undefined });
    if (!compact(copy)) made.push(copy.id);
  }
  return { ops, made };
}

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name} ${n}`;
  return free;
}
