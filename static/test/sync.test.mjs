// The draft of a tab: edits are visible at once, sent one request at a time,
// and never lost.
import assert from "node:assert/strict";
import { test } from "node:test";
import { apply, between, canonical } from "../src/canvas/ops.ts";
import { Sync } from "../src/canvas/sync.ts";

const id = (n) => `01JQ00000000000000000000${String(n).padStart(2, "0")}`;
const job = (n) => `job-${id(n)}`;
const infos = Object.fromEntries([1, 2, 3].map((n) => [job(n), { name: "abc"[n - 1], sub: "", icon: "" }]));
const add = (n) => ({ op: "add_node", card: job(n), at: { x: n * 300, y: 0 } });
const connect = (a, b) => ({ op: "connect", card: job(a), to: job(b), trigger: id(50 + 10 * a + b) });

// Server applies operations by the same rules, and answers when it is told to.
class Server {
  body = {};
  log = [];
  waiting = [];
  requests = 0;
  hold = false;
  down = false;

  wire = async (method, path, body) => {
    this.requests++;
    if (this.hold) await new Promise((go) => this.waiting.push(go));
    if (this.down) return { status: 0, json: undefined };
    const base = method === "GET" ? Number(path.split("since=")[1]) : body.base;
    const done = new Set(this.log.map((e) => e.op));
    let now = this.body;
    const made = [];
    for (const op of body?.ops ?? []) {
      if (done.has(op.id)) continue;
      try {
        const { body: next, delta } = apply(now, op, infos);
        made.push({ seq: this.log.length + made.length + 1, op: op.id, act: op.act, kind: op.op, of: op.of, client: body.client, delta });
        now = next;
      } catch (refusal) {
        return { status: refusal.code === "gone" || refusal.code === "changed" ? 409 : 422, json: { code: refusal.code, message: refusal.message, op: op.id } };
      }
    }
    this.body = now;
    this.log.push(...made);
    return { status: 200, json: { seq: this.log.length, entries: this.log.slice(base) } };
  };

  // other is somebody else's edit.
  other(op) {
    const { body, delta } = apply(this.body, op, infos);
    this.log.push({ seq: this.log.length + 1, op: `other ${this.log.length}`, act: `other ${this.log.length}`, client: "other", delta });
    this.body = body;
  }
}

class Shelf {
  kept = new Map();
  getItem = (name) => this.kept.get(name) ?? null;
  setItem = (name, value) => void this.kept.set(name, value);
  removeItem = (name) => void this.kept.delete(name);
}

function tab(server, shelf = new Shelf(), data = {}) {
  const told = { refusals: [], states: [] };
  const watcher = {
    changed() {},
    refused: (r) => told.refusals.push(r.message),
    saving: (state) => told.states.push(state),
    problems() {},
  };
  const sync = new Sync({ workflow: "w", seq: 0, body: {}, infos: { ...infos }, ...data }, watcher, server.wire, shelf);
  sync.start();
  return { sync, told, shelf };
}

test("E02: an edit made while a save is under way is still unsaved when the answer comes", async () => {
  const server = new Server();
  const { sync, told } = tab(server);
  server.hold = true;

  sync.act([add(1)]);
  sync.act([add(2)]); // while the first is under way
  server.waiting.shift()();
  await new Promise((go) => setImmediate(go));

  assert.equal(sync.open, 1, "one edit is not yet saved");
  assert.equal(told.states.at(-1), "saving");
  server.hold = false;
  server.waiting.shift()();
  await sync.settled();
  assert.equal(sync.open, 0);
  assert.equal(told.states.at(-1), "saved");
  assert.equal(server.requests, 2, "one request at a time");
  assert.equal(canonical(sync.body), canonical(server.body));
});

test("E02: undo and redo are edits, and unsaved until they are sent", async () => {
  const server = new Server();
  const { sync } = tab(server);
  sync.act([add(1)]);
  await sync.settled();
  server.hold = true;

  sync.undo();
  sync.redo();

  assert.equal(sync.open, 2);
  server.hold = false;
  server.waiting.splice(0).forEach((go) => go());
  await sync.settled();
  assert.equal(canonical(server.body), canonical(sync.body));
  assert.equal(server.body.cards.length, 1);
});

test("E01: two tabs edit from the same state and both edits stand", async () => {
  const server = new Server();
  const one = tab(server);
  const two = tab(server);

  one.sync.act([add(1)]);
  await one.sync.settled();
  two.sync.act([add(2)]);
  await two.sync.settled();
  one.sync.pull(2);
  await one.sync.settled();

  assert.equal(server.body.cards.length, 2);
  assert.equal(canonical(one.sync.body), canonical(server.body));
  assert.equal(canonical(two.sync.body), canonical(server.body));
});

test("what the server refuses is taken back, whole, and the rest is kept", async () => {
  const server = new Server();
  const { sync, told } = tab(server);
  sync.act([add(1)]);
  sync.act([add(2)]);
  await sync.settled();
  server.other(connect(1, 2)); // this tab has not heard of it

  sync.act([connect(2, 1)]);
  sync.act([add(3)]);
  await sync.settled();

  assert.match(told.refusals.join(), /already runs before/);
  assert.equal(canonical(sync.body), canonical(server.body));
  assert.equal(sync.body.triggers.length, 1, "the other's edge stands");
  assert.ok(sync.body.cards.some((r) => r.id === id(3)), "the next act stands");
  sync.undo();
  await sync.settled();
  assert.ok(!sync.body.cards.some((r) => r.id === id(3)), "undo takes back the last act that stands");
});

test("a network that is away loses nothing, not even with the page", async () => {
  const server = new Server();
  const { sync, told, shelf } = tab(server);
  server.down = true;

  sync.act([add(1)]);
  await sync.settled();
  assert.equal(told.states.at(-1), "offline");
  server.down = false;
  const later = tab(server, shelf); // the page was closed and opened again
  await later.sync.settled();

  assert.equal(server.body.cards.length, 1);
  assert.equal(shelf.kept.size, 0, "what was sent is no longer kept");
  void sync.save(); // the old page wakes up: a repeat does nothing
  await sync.settled();
  assert.equal(server.log.length, 1);
});

test("one act of several operations is one undo", async () => {
  const server = new Server();
  const { sync } = tab(server);
  sync.act([add(1)]);
  sync.act([add(2), connect(1, 2)]);
  await sync.settled();

  sync.undo();
  await sync.settled();

  assert.equal(canonical(server.body), canonical({ cards: [{ kind: "job", id: id(1) }], layout: { [job(1)]: { x: 300, y: 0 } } }));
  sync.redo();
  await sync.settled();
  assert.equal(server.body.triggers.length, 1);
});

test("an undo never takes back what somebody changed since", async () => {
  const server = new Server();
  const { sync, told } = tab(server);
  sync.act([add(1), add(2)]);
  sync.act([connect(1, 2)]);
  await sync.settled();
  server.other({ op: "set_condition", card: id(62), to: job(1), patch: { state: "failed" } });
  sync.pull(server.log.length);
  await sync.settled();

  sync.undo();
  await sync.settled();

  assert.match(told.refusals.join(), /Can't undo: after a was changed meanwhile/);
  assert.equal(server.body.triggers[0].predicate.conditions[0].state, "failed");
});

test("a client far behind takes the whole draft", async () => {
  const server = new Server();
  const { sync } = tab(server);
  server.other(add(1));
  const whole = structuredClone(server.body);
  server.wire = async () => ({ status: 200, json: { seq: 900, entries: null, body: whole } });
  const far = tab(server);

  far.sync.pull(900);
  await far.sync.settled();

  assert.equal(canonical(far.sync.body), canonical(whole));
  assert.equal(canonical(between(far.sync.body, whole).triggers), "[]");
  assert.equal(sync.open, 0);
});

test("what the form of the panel saved is an act of its tab, and of no other", async () => {
  const server = new Server();
  const [one, two] = [tab(server), tab(server)];
  const { body, delta } = apply(server.body, add(1), infos);
  server.log.push({ seq: 1, op: "form", act: "form", client: one.sync.client, delta });
  server.body = body;

  for (const { sync } of [one, two]) {
    sync.pull(1);
    await sync.settled();
  }

  assert.deepEqual([one.sync.canUndo, two.sync.canUndo], [true, false]);
  one.sync.undo();
  await one.sync.settled();
  assert.deepEqual(server.body.cards, []);
  assert.deepEqual([one.sync.canUndo, one.sync.canRedo], [false, true], "the undo is no act to undo");
});

test("the settings of a workflow are undone and redone", async () => {
  const server = new Server();
  const { sync } = tab(server);
  const set = { timeout: 90, description: "Sales", properties: { Region: "eu" } };
  server.log.push({ seq: 1, op: "form", act: "form", client: sync.client, delta: { timeout: { from: 0, to: 90 }, about: { from: "", to: "Sales" }, properties: { Region: { to: "eu" } } } });
  server.body = set;
  sync.pull(1);
  await sync.settled();

  sync.undo();
  await sync.settled();
  const undone = [sync.body, server.body].map(({ timeout, description, properties }) => ({ timeout, description, properties }));
  sync.redo();
  await sync.settled();

  const none = { timeout: 0, description: "", properties: {} };
  assert.deepEqual(undone, [none, none]);
  assert.equal(canonical(sync.body), canonical(set));
  assert.equal(canonical(server.body), canonical(set));
});
