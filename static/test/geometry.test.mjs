import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bounds, freeSpot, nearest, opening, snap, whole } from "../src/canvas/geometry.ts";
import { between, gap } from "../src/canvas/line.ts";
import { find, table } from "../src/canvas/keys.ts";
import { ulid } from "../src/canvas/ids.ts";
import { clock, length } from "../src/canvas/length.ts";

const lines = JSON.parse(readFileSync("views/canvas/testdata/lines.json", "utf8"));

test("lines are drawn as the server draws them", () => {
  for (const { from, to, path, middle, tight } of lines) assert.deepEqual(between(from, to), { d: path, middle, tight });
});

test("a point of a line is on it, whichever way it leads", () => {
  for (const { from, to, middle } of lines) {
    assert.ok(gap(from, to, middle) < 2, `${JSON.stringify([from, to])}: its middle is ${gap(from, to, middle)} away`);
    assert.ok(gap(from, to, { x: middle.x, y: middle.y + 900 }) > 100, "a point far away is not on it");
  }
});

test("cards snap to the grid and move down to a free spot", () => {
  assert.deepEqual(snap({ x: 14.9, y: 15.1 }), { x: 10, y: 20 });
  const card = { x: 0, y: 0, w: 190, h: 76 };
  assert.deepEqual(freeSpot(card, [{ ...card, y: 30 }]), { x: 0, y: 110 });
  assert.deepEqual(freeSpot(card, [{ ...card, y: 30 }], 20), { x: 0, y: 130 }, "with a gap");
  assert.equal(bounds([]), undefined);
});

test("an arrow goes to what lies nearest in its direction", () => {
  const at = (x, y) => ({ x, y, w: 10, h: 10 });
  const boxes = new Map([["right", at(100, 0)], ["far", at(300, 0)], ["aside", at(60, 200)], ["down", at(0, 100)]]);
  assert.equal(nearest(at(0, 0), "right", boxes), "right");
  assert.equal(nearest(at(0, 0), "down", boxes), "down");
  assert.equal(nearest(at(0, 0), "left", boxes), undefined);
});

test("every key stands once in the table and is found with its modifiers", () => {
  const keys = table.flatMap((entry) => entry.keys);
  assert.equal(new Set(keys).size, keys.length);
  const event = (key, more = {}) => ({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...more });
  assert.equal(find(event("z", { ctrlKey: true }))?.act, "undo");
  assert.equal(find(event("Z", { metaKey: true, shiftKey: true }))?.act, "redo");
  assert.equal(find(event("?", { shiftKey: true }))?.act, "keys");
  assert.equal(find(event("T", { shiftKey: true }))?.act, "tidy");
  assert.equal(find(event("t")), undefined);
  assert.equal(find(event("+", { shiftKey: true }))?.act, "zoom-in");
  assert.equal(find(event("ArrowRight", { shiftKey: true }))?.act, "arrow");
  assert.equal(find(event("ArrowRight", { altKey: true })), undefined, "keys of the browser are left alone");
});

test("ids are ULIDs that sort by time", () => {
  const [early, late] = [ulid(1_000_000), ulid(2_000_000)];
  assert.match(early, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  assert.ok(early < late);
  assert.notEqual(ulid(5), ulid(5));
});

test("times are written as the server writes them", () => {
  assert.equal(clock(41_900), "0:41");
  assert.equal(clock(3_723_000), "1:02:03");
  assert.equal(length(49), "49 ms");
  assert.equal(length(50), "0.1 s");
  assert.equal(length(4_100), "4.1 s");
  assert.equal(length(41_000), "41 s");
  assert.equal(length(245_000), "4 min 05 s");
  assert.equal(length(7_800_000), "2 h 10 min");
});

// seen is where a box of the graph stands in the stage.
const seen = (look, box) => ({ x: look.x + box.x * look.k, y: look.y + box.y * look.k, w: box.w * look.k, h: box.h * look.k });
const inside = (look, box, w, h) => {
  const s = seen(look, box);
  return s.x >= 0 && s.y >= 0 && s.x + s.w <= w && s.y + s.h <= h;
};
// chain and fan are the extent of n cards in a row, and below each other.
const chain = (n) => ({ x: 0, y: 0, w: n * 270 - 80, h: 76 });
const fan = (n) => ({ x: 0, y: 0, w: 420, h: n * 100 - 24 });

test("a graph opens at a size that is read with ease", () => {
  const desk = [700, 560];
  const phone = [390, 320];
  const first = { x: 0, y: 0, w: 190, h: 76 };
  for (const [w, h] of [desk, phone]) {
    const look = opening(w, h, chain(4), first);
    assert.equal(look.k, 0.85, `a chain of four at ${w}`);
    assert.ok(inside(look, first, w, h - 62), `its first card is in view at ${w}`);
    assert.equal(opening(w, h, first, first).k, 1, `one card at ${w}`);
  }
  assert.ok(whole(...desk, chain(4)).k < 0.85, "all of it would be smaller");
  const high = opening(...desk, fan(8), first);
  assert.ok(high.k < 0.85 && inside(high, fan(8), ...desk), "what is only too high is shown whole while it can be read");
  const net = { x: 0, y: 0, w: 1200, h: 376 };
  const rows = opening(...phone, net, first);
  assert.ok(rows.k >= 0.55 && seen(rows, net).y >= 0 && seen(rows, net).y + seen(rows, net).h <= 320 - 62, "no row of a graph that is long and a little high is cut");
  const tall = opening(390, 590, fan(9), first);
  assert.ok(tall.k >= 0.5 && inside(tall, fan(9), 390, 590 - 62), "a fan of nine stands whole on a phone that has the height for it");
  for (const n of [40, 500]) {
    const middle = { x: 0, y: Math.floor(n / 2) * 100, w: 190, h: 76 };
    assert.ok(inside(opening(...desk, fan(n), middle), middle, ...desk), `the beginning of ${n} cards is in view`);
  }
  assert.equal(opening(0, 0, chain(4), first), undefined, "without a stage there is nothing to show");
});
