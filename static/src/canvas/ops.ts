// The operations on a draft, as the server does them (engine/draft): both run
// the same cases, see engine/draft/testdata/cases.json. Here they make an edit
// visible before the server has answered.
import { actions, compact, conditions, Graph, key, Names, parse, refuse } from "./model";
import { Body, Delta, Info, Op, Pair, Point, Ref, Refusal, Trigger } from "./types";

// apply returns the body after op and what changed; body stays as it is. It
// throws a Refusal where op is not possible.
export function apply(body: Body, op: Op, infos: Record<string, Info>): { body: Body; delta: Delta } {
  const next = structuredClone(body);
  const removed = new Set<string>();
  run(next, op, infos, removed);
  settle(body, next, removed);
  if (new Graph(next).hasLoop() && !new Graph(body).hasLoop()) throw new Refusal("cycle", "This would loop.");
  return { body: next, delta: between(body, next) };
}

function run(body: Body, op: Op, infos: Record<string, Info>, removed: Set<string>): void {
  const card = op.card ?? "";
  const to = op.to ?? "";
  switch (op.op) {
    case "add_node":
      return addNode(body, op, infos);
    case "del_node":
      return delNode(body, card, removed);
    case "move": {
      const g = new Graph(body);
      for (const [moved, at] of Object.entries(op.move ?? {})) if (g.has(moved)) place(body, moved, at);
      return;
    }
    case "connect":
      return connect(body, op, infos);
    case "disconnect":
      return disconnect(body, op);
    case "add_trigger":
      if (!op.new) throw new Refusal("rule", "A new trigger needs a type.");
      (body.triggers ??= []).push({ ...op.new, name: op.new.name || freeName(body, defaults[op.new.type]) });
      return place(body, op.new.id, op.at);
    case "del_trigger":
      body.triggers = body.triggers?.filter((t) => t.id !== card);
      return;
    case "set_trigger": {
      const { logic, ...fields } = op.patch ?? {};
      const t = Object.assign(triggerOf(body, card), fields);
      if (logic) t.predicate = { ...t.predicate, logic };
      return;
    }
    case "set_condition": {
      const t = triggerOf(body, card);
      const watching = conditions(t).filter((c) => key(c.ref) === to);
      if (watching.length === 0) throw new Refusal("gone", "This condition was removed meanwhile.");
      const seen = op.prev?.state; // of several conditions on one node the one that the person saw
      const c = watching.find((c) => !seen || c.state === seen);
      if (!c) throw new Refusal("changed", `${t.name} was changed meanwhile.`);
      if (op.patch?.state) c.state = op.patch.state;
      return;
    }
    case "set_start": {
      const t = triggerOf(body, card);
      const action = actions(t).find((a) => key(a.ref) === to);
      if (!action) throw new Refusal("gone", `${t.name} no longer starts ${infos[to]?.name ?? "it"}.`);
      if (op.patch?.arguments) action.arguments = { ...op.patch.arguments };
      if (op.patch?.limits) Object.assign(action, { timeout: op.patch.limits.timeout, retries: op.patch.limits.retries });
      return;
    }
    case "restore":
      if (op.delta) restore(body, op.delta, removed);
      return;
    case "tidy":
      return; // only the server lays out
  }
  throw new Refusal("rule", `There is no operation ${op.op}.`);
}

const defaults = { on_demand: "On demand", scheduled: "Schedule", event: "Event", conditional: "Condition" };

function triggerOf(body: Body, id: string): Trigger {
  const t = body.triggers?.find((t) => t.id === id);
  if (!t) throw new Refusal("gone", "This trigger was deleted meanwhile.");
  return t;
}

function place(body: Body, card: string, at?: Point): void {
  if (at) (body.layout ??= {})[card] = at;
}

function addNode(body: Body, op: Op, infos: Record<string, Info>): void {
  const card = op.card ?? "";
  const ref = parse(card);
  if (!ref || !infos[card]) throw new Refusal("gone", `This ${ref?.kind ?? "card"} no longer exists.`);
  if (new Graph(body).has(card)) throw new Refusal("same", `${infos[card].name} is on the canvas already.`);
  (body.cards ??= []).push(ref);
  place(body, card, op.at);
}

function delNode(body: Body, card: string, removed: Set<string>): void {
  removed.add(card);
  body.cards = body.cards?.filter((r) => key(r) !== card);
  body.triggers = body.triggers?.filter(
    (t) => !(compact(t) && (key(conditions(t)[0]!.ref) === card || (actions(t).length === 1 && key(actions(t)[0]!.ref) === card))),
  );
  for (const t of body.triggers ?? []) {
    if (t.predicate?.conditions) t.predicate.conditions = conditions(t).filter((c) => key(c.ref) !== card);
    if (t.actions) t.actions = t.actions.filter((a) => key(a.ref) !== card);
  }
}

function connect(body: Body, op: Op, infos: Record<string, Info>): void {
  const [from, to] = [op.card ?? "", op.to ?? ""];
  const g = new Graph(body);
  const refusal = refuse(g, new Names(g, infos), from, to);
  if (refusal) throw refusal;
  const source = g.triggers.get(from);
  const target = g.triggers.get(to);
  if (source) {
    (source.actions ??= []).push({ ref: parse(to)! });
  } else if (target) {
    watch(target, from, op);
  } else if (op.join) {
    if (!g.after(op.trigger ?? "").includes(to)) throw new Refusal("gone", "The condition to join was deleted meanwhile.");
    place(body, op.trigger ?? "", op.at);
    watch(triggerOf(body, op.trigger ?? ""), from, op);
  } else {
    (body.triggers ??= []).push({
      id: op.trigger ?? "",
      name: freeName(body, shorten(op.name || `after ${infos[from]?.name ?? ""}`)),
      type: "conditional",
      predicate: { conditions: [{ ref: parse(from)!, state: op.patch?.state ?? "succeeded" }] },
      actions: [{ ref: parse(to)! }],
    });
  }
}

function watch(t: Trigger, from: string, op: Op): void {
  const predicate = (t.predicate ??= {});
  (predicate.conditions ??= []).push({ ref: parse(from)!, state: op.patch?.state ?? "succeeded" });
  if (op.logic) predicate.logic = op.logic;
}

function disconnect(body: Body, op: Op): void {
  const [from, to] = [op.card ?? "", op.to ?? ""];
  const find = (id: string) => body.triggers?.find((t) => t.id === id);
  const target = find(to);
  const source = find(from);
  if (target?.predicate) {
    target.predicate.conditions = conditions(target).filter((c) => key(c.ref) !== from);
  } else if (source) {
    source.actions = actions(source).filter((a) => key(a.ref) !== to);
  } else if (op.trigger) {
    const pill = find(op.trigger);
    if (pill && !compact(pill)) throw new Refusal("changed", `${pill.name} was changed meanwhile.`);
    if (!pill) return;
    pill.actions = actions(pill).filter((a) => key(a.ref) !== to);
    if (pill.actions.length === 0) body.triggers = body.triggers?.filter((t) => t !== pill);
  }
}

function freeName(body: Body, name: string): string {
  const taken = new Set(body.triggers?.map((t) => t.name));
  let free = name;
  for (let n = 2; taken.has(free); n++) free = `${name} ${n}`;
  return free;
}

function shorten(name: string): string {
  const letters = [...name];
  return letters.length <= 250 ? name : `${letters.slice(0, 249).join("")}…`;
}

// settle keeps the cards of nodes that were cut off from every trigger and
// forgets the places of cards that are gone.
function settle(before: Body, body: Body, removed: Set<string>): void {
  const named = new Graph({ triggers: body.triggers });
  body.cards = body.cards?.filter((r) => !named.has(key(r)));
  for (const card of refs(before)) {
    if (!named.has(card) && !removed.has(card) && !body.cards?.some((r) => key(r) === card)) (body.cards ??= []).push(parse(card)!);
  }
  const g = new Graph(body);
  for (const card of Object.keys(body.layout ?? {})) if (!g.has(card)) delete body.layout![card];
}

const refs = (body: Body) => new Graph(body).cards.filter((card) => parse(card));

// between is the change that leads from one body to another.
export function between(from: Body, to: Body): Delta {
  const delta: Delta = { triggers: [], cards: [], layout: pairs(from.layout, to.layout), properties: pairs(from.properties, to.properties) };
  delta.about = pair(from.description ?? "", to.description ?? "");
  delta.max_runs = pair(from.max_runs ?? 0, to.max_runs ?? 0);
  delta.timeout = pair(from.timeout ?? 0, to.timeout ?? 0);
  const [old, now] = [from.triggers ?? [], to.triggers ?? []];
  old.forEach((t, index) => {
    const at = now.findIndex((n) => n.id === t.id);
    if (at < 0) delta.triggers!.push({ id: t.id, index, from: t });
    else if (!same(t, now[at])) delta.triggers!.push({ id: t.id, index: at, from: t, to: now[at] });
  });
  now.forEach((t, index) => {
    if (!old.some((o) => o.id === t.id)) delta.triggers!.push({ id: t.id, index, to: t });
  });
  const loose = (list: Ref[] = []) => new Set(list.map(key));
  const [was, is] = [loose(from.cards), loose(to.cards)];
  from.cards?.forEach((ref, index) => !is.has(key(ref)) && delta.cards!.push({ ref, index, in: false }));
  to.cards?.forEach((ref, index) => !was.has(key(ref)) && delta.cards!.push({ ref, index, in: true }));
  const [before, after] = [new Set(refs(from)), new Set(refs(to))];
  delta.on = [...after].filter((card) => !before.has(card)).map((card) => parse(card)!);
  delta.off = [...before].filter((card) => !after.has(card)).map((card) => parse(card)!);
  return delta;
}

const pair = <T>(from: T, to: T): Pair<T> | undefined => (from === to ? undefined : { from, to });

function pairs<T>(from: Record<string, T> = {}, to: Record<string, T> = {}): Record<string, Pair<T>> {
  const out: Record<string, Pair<T>> = {};
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    if (!same(from[name], to[name])) out[name] = { from: from[name], to: to[name] };
  }
  return out;
}

// inverse is the change that takes one back.
export function inverse(d: Delta): Delta {
  const turn = <T>(p?: Pair<T>) => p && { from: p.to, to: p.from };
  const all = <T>(m?: Record<string, Pair<T>>) => m && Object.fromEntries(Object.entries(m).map(([k, p]) => [k, turn(p)!]));
  return {
    triggers: d.triggers?.map((t) => ({ id: t.id, index: t.index, from: t.to, to: t.from })),
    cards: d.cards?.map((c) => ({ ...c, in: !c.in })),
    layout: all(d.layout),
    properties: all(d.properties),
    on: d.off,
    off: d.on,
    about: turn(d.about),
    max_runs: turn(d.max_runs),
    timeout: turn(d.timeout),
  };
}

export const empty = (d: Delta): boolean =>
  !d.triggers?.length && !d.cards?.length && !Object.keys(d.layout ?? {}).length && !Object.keys(d.properties ?? {}).length && !d.about && !d.max_runs && !d.timeout;

// follow applies a change that the server made: it is always possible there.
export function follow(body: Body, d: Delta): Body {
  const next = structuredClone(body);
  write(next, d);
  return next;
}

function restore(body: Body, d: Delta, removed: Set<string>): void {
  for (const t of d.triggers ?? []) {
    const current = body.triggers?.find((c) => c.id === t.id);
    if (!current && t.from) throw new Refusal("gone", `${t.from.name} was deleted meanwhile.`);
    if (current && !same(current, t.from)) throw new Refusal("changed", `${current.name} was changed meanwhile.`);
  }
  write(body, d);
  for (const ref of d.off ?? []) {
    if (new Graph({ triggers: body.triggers }).has(key(ref))) throw new Refusal("changed", "This card was connected meanwhile.");
    body.cards = body.cards?.filter((r) => key(r) !== key(ref));
    removed.add(key(ref));
  }
}

function write(body: Body, d: Delta): void {
  let triggers = body.triggers ?? [];
  for (const t of d.triggers ?? []) {
    if (!t.to) triggers = triggers.filter((c) => c.id !== t.id);
    else triggers = triggers.map((c) => (c.id === t.id ? structuredClone(t.to!) : c));
  }
  for (const t of [...(d.triggers ?? [])].sort((a, b) => a.index - b.index)) {
    if (t.to && !t.from && !triggers.some((c) => c.id === t.id)) triggers.splice(t.index, 0, structuredClone(t.to));
  }
  let cards = body.cards ?? [];
  for (const c of d.cards ?? []) if (!c.in) cards = cards.filter((r) => key(r) !== key(c.ref));
  for (const c of [...(d.cards ?? [])].sort((a, b) => a.index - b.index)) {
    if (c.in && !cards.some((r) => key(r) === key(c.ref))) cards.splice(c.index, 0, c.ref);
  }
  body.triggers = triggers;
  body.cards = cards;
  body.layout = written(body.layout, d.layout);
  body.properties = written(body.properties, d.properties);
  if (d.about) body.description = d.about.to;
  if (d.max_runs) body.max_runs = d.max_runs.to;
  if (d.timeout) body.timeout = d.timeout.to;
}

function written<T>(values: Record<string, T> = {}, pairs: Record<string, Pair<T>> = {}): Record<string, T> {
  for (const [name, p] of Object.entries(pairs)) {
    if (p.to === undefined) delete values[name];
    else values[name] = p.to;
  }
  return values;
}

// same compares as the server does: what is empty and what is absent are equal,
// and the order of names does not count.
export const same = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

export function canonical(v: unknown): string {
  if (Array.isArray(v)) return `[${v.map(canonical).join()}]`;
  if (v && typeof v === "object") {
    const parts = Object.entries(v)
      .map(([name, value]) => [name, canonical(value)] as const)
      .filter(([, text]) => !hollow.has(text))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, text]) => `${JSON.stringify(name)}:${text}`);
    return `{${parts.join()}}`;
  }
  return JSON.stringify(v) ?? "null";
}

const hollow = new Set(["null", "false", '""', "[]", "{}"]);
