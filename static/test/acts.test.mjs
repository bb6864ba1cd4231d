// A gesture is one act of several operations: what becomes of the graph, and
// that it can be done at all.
import assert from "node:assert/strict";
import { test } from "node:test";
import { clip, heal, insert, paste, readClip } from "../src/canvas/acts.ts";
import { gap } from "../src/canvas/line.ts";
import { room } from "../src/canvas/insert.ts";
import { Graph } from "../src/canvas/model.ts";
import { apply, canonical, follow, inverse } from "../src/canvas/ops.ts";

const job = (n) => `job-${n}`;
const ref = (n) => ({ kind: "job", id: n });
const infos = Object.fromEntries(["a", "b", "c", "d", "x"].map((n) => [job(n), { name: n, sub: "", icon: "" }]));
const pill = (id, from, to, more = {}) => ({
  id, name: id, type: "conditional", predicate: { conditions: [{ ref: ref(from), state: more.state ?? "succeeded" }] },
  actions: [{ ref: ref(to), ...more.start }],
});
const start = (id, ...to) => ({ id, name: id, type: "on_demand", actions: to.map((n) => ({ ref: ref(n) })) });
const all = (id, from, to) => ({ id, name: id, type: "conditional", predicate: { logic: "all", conditions: from.map((n) => ({ ref: ref(n), state: "succeeded" })) }, actions: [{ ref: ref(to) }] });

// act does the operations and takes them back again.
function act(body, ops) {
  const deltas = [];
  let now = body;
  for (const [i, op] of ops.entries()) {
    const { body: next, delta } = apply(now, { ...op, id: String(i) }, infos);
    deltas.push(delta);
    now = next;
  }
  let back = now;
  for (const delta of deltas.reverse()) back = follow(back, inverse(delta));
  assert.equal(canonical(back), canonical(body), "one undo brings everything back");
  return now;
}

// edges are written "from -state-> to", pills and cards alike.
const edges = (body) => new Graph(body).edges().map((e) => `${e.from} ${e.state ? `-${e.state}->` : "->"} ${e.to}`).sort();
const edgeOf = (body, from, to) => new Graph(body).edges().find((e) => e.from === from && e.to === to);

test("a job is put on an edge between two jobs and keeps its condition, its arguments and the limits of its start", () => {
  const body = { triggers: [pill("t", "a", "b", { state: "failed", start: { arguments: { Day: "1" }, timeout: 30, retries: 0 } })], cards: [ref("x")] };

  const after = act(body, insert(new Graph(body), edgeOf(body, job("a"), job("b")), job("x")));

  assert.deepEqual(edges(after), ["job-a -failed-> job-x", "job-x -succeeded-> job-b"]);
  const last = after.triggers.find((t) => t.actions[0].ref.id === "b");
  assert.deepEqual(last.actions[0], { ref: ref("b"), arguments: { Day: "1" }, timeout: 30, retries: 0 });
});

test("a job is put after a trigger, before a gate, and on one edge of a pill with two", () => {
  const body = { triggers: [start("s", "a"), all("g", ["a", "b"], "c")], cards: [ref("x"), ref("b")] };
  const after = act(body, insert(new Graph(body), edgeOf(body, "s", job("a")), job("x")));
  assert.deepEqual(edges(after).filter((e) => !e.includes(" g")), ["g -> job-c", "job-x -succeeded-> job-a", "s -> job-x"]);

  const gated = act(body, insert(new Graph(body), edgeOf(body, job("a"), "g"), job("x")));
  assert.deepEqual(edges(gated), ["g -> job-c", "job-a -succeeded-> job-x", "job-b -succeeded-> g", "job-x -succeeded-> g", "s -> job-a"]);

  const fork = { triggers: [{ ...pill("t", "a", "b"), actions: [{ ref: ref("b") }, { ref: ref("c") }] }], cards: [ref("x")] };
  const forked = act(fork, insert(new Graph(fork), edgeOf(fork, job("a"), job("c")), job("x")));
  assert.deepEqual(edges(forked), ["job-a -succeeded-> job-b", "job-a -succeeded-> job-x", "job-x -succeeded-> job-c"]);
});

test("deleting with healing connects what stood before with what came after", () => {
  const body = { triggers: [start("s", "a"), pill("t", "a", "b", { state: "failed" }), pill("u", "b", "c", { start: { arguments: { Day: "2" } } }), all("g", ["b", "x"], "d")], cards: [] };

  const after = act(body, heal(body, [job("b")], infos));

  assert.deepEqual(edges(after), ["g -> job-d", "job-a -failed-> g", "job-a -failed-> job-c", "job-x -succeeded-> g", "s -> job-a"]);
  assert.deepEqual(after.triggers.find((t) => t.actions.some((a) => a.ref.id === "c")).actions[0].arguments, { Day: "2" });
});

test("healing over several cards at once reaches across all of them, and joins no pair twice", () => {
  const body = { triggers: [start("s", "a"), pill("t", "a", "b"), pill("u", "b", "c"), pill("v", "c", "d"), pill("w", "a", "d")] };

  const after = act(body, heal(body, [job("b"), job("c")], infos));

  assert.deepEqual(edges(after), ["job-a -succeeded-> job-d", "s -> job-a"]);
});

test("what a start trigger leads to is healed, but never a trigger to a trigger", () => {
  const body = { triggers: [start("s", "a"), pill("t", "a", "b"), all("g", ["a", "x"], "c")] };

  const after = act(body, heal(body, [job("a")], infos));

  assert.deepEqual(edges(after), ["job-x -succeeded-> job-c", "s -> job-b"]);
});

test("a copy carries the edges between its cards, and only those", () => {
  const body = { triggers: [start("s", "a"), pill("t", "a", "b"), pill("u", "b", "c")], layout: {} };
  const places = new Map([[job("a"), { x: 0, y: 0, w: 1 }], [job("b"), { x: 300, y: 0, w: 1 }]]);
  const copied = readClip(JSON.stringify(clip(body, new Set([job("a"), job("b")]), places, (card) => card)));

  const { ops, made } = paste(copied, new Graph(body), new Map([[job("a"), job("x")], [job("b"), job("d")]]), { x: 20, y: 20 });
  const after = act(body, ops);

  assert.deepEqual(made, [job("x"), job("d")]);
  assert.deepEqual(after.layout[job("d")], { x: 320, y: 20 });
  assert.deepEqual(edges(after).filter((e) => /job-[xd]/.test(e)), ["job-x -succeeded-> job-d"]);
  assert.deepEqual(after.triggers.map((t) => t.name), ["s", "t", "u", "t 2"]);
});

test("a pasted edge that lost an end is left out", () => {
  const body = { triggers: [pill("t", "a", "b")] };
  const places = new Map([[job("a"), { x: 0, y: 0 }], [job("b"), { x: 300, y: 0 }]]);
  const copied = clip(body, new Set([job("a"), job("b")]), places, (card) => card);

  const { ops } = paste(copied, new Graph({}), new Map([[job("a"), job("a")]]), { x: 20, y: 20 });

  assert.deepEqual(edges(act({}, ops)), []);
});

test("what is not a copy of cards is not pasted", () => {
  for (const text of ["", "hello", "null", "7", "{}", '{"dogear":2,"cards":[],"triggers":[]}', '{"dogear":1,"cards":[{"card":7}],"triggers":[]}', '{"dogear":1,"cards":[],"triggers":[{"trigger":null}]}', `{"dogear":1,"cards":[${'{"card":"job-a","name":"a","at":{"x":1,"y":1}},'.repeat(200)}{"card":"job-a","name":"a","at":{"x":1,"y":1}}],"triggers":[]}`]) {
    assert.equal(readClip(text), undefined, text.slice(0, 60));
  }
});

test("cards to the right make way for one that is put between", () => {
  const box = (x) => ({ x, y: 40, w: 190, h: 76 });
  const after = new Map([[job("b"), box(300)], [job("c"), box(600)], [job("far"), box(100)]]);

  const tight = room(box(0), box(300), { w: 190, h: 76 }, after);
  const wide = room(box(0), box(900), { w: 190, h: 76 }, new Map([[job("b"), box(900)]]));

  assert.deepEqual(tight.move, { [job("b")]: { x: 500, y: 40 }, [job("c")]: { x: 800, y: 40 } });
  assert.deepEqual(tight.at, { x: 250, y: 40 });
  assert.deepEqual(wide, { at: { x: 450, y: 40 }, move: {} });
});

test("a point is as far from a line as it looks", () => {
  const [from, to] = [{ x: 0, y: 0, w: 190, h: 76 }, { x: 400, y: 0, w: 190, h: 76 }];
  assert.equal(gap(from, to, { x: 295, y: 38 }), 0);
  assert.equal(gap(from, to, { x: 295, y: 58 }), 20);
  assert.ok(gap(from, to, { x: 700, y: 300 }) > 200);
});
