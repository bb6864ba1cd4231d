import assert from "node:assert/strict";
import { test } from "node:test";
import { address, barAt, chosen, dropped, edgeAt, settle, step, words } from "../src/days.ts";

// Four days were read, one of them nothing of; two wait.
const bars = ["1", "2", "3", "4", "5", "6"].map((d, i) => ({
  label: `${d} Nov`, since: `2026-11-0${d}T00:00:00Z`, until: `2026-11-0${i + 2}T00:00:00Z`, read: i < 4 && i !== 1,
}));
const home = 4;

test("the mark goes to the nearest edge and stays within the bars", () => {
  assert.deepEqual([-1, 0, 0.24, 0.26, 0.9, 2].map((share) => edgeAt(share, 6)), [0, 0, 1, 2, 5, 6]);
  assert.deepEqual([-1, 0, 0.99, 2].map((share) => barAt(share, 6)), [0, 0, 5, 5]);
});

test("beyond where it stands the mark can only be set to now", () => {
  assert.equal(settle(5, home, 6), 6);
  assert.equal(settle(3, home, 6), 3);
  assert.deepEqual(dropped(bars, home, 6), { move: "set_now" });
  assert.equal(words(bars, home, 6, "v7"), "set to now");
});

test("letting the mark go earlier asks to read again from the first day that was read", () => {
  assert.deepEqual(dropped(bars, home, 2), { move: "read_again", since: bars[2].since });
  assert.deepEqual(dropped(bars, home, 1), { move: "read_again", since: bars[2].since });
  assert.equal(words(bars, home, 1, "v7"), "read again from 3 Nov");
  assert.equal(dropped(bars, home, home), undefined);
  assert.equal(words(bars, home, home, "v7"), "v7");
});

test("bars that nothing was read of ask nothing", () => {
  assert.equal(dropped([bars[1], bars[1]], 2, 0), undefined);
  assert.equal(chosen(bars, 4, 5), undefined);
});

test("a span of bars asks for its days, in either direction", () => {
  const ask = { move: "read_again", since: bars[2].since, until: bars[3].until };
  assert.deepEqual(chosen(bars, 1, 5), ask);
  assert.deepEqual(chosen(bars, 5, 1), ask);
  assert.deepEqual(chosen(bars, 0, 0), { move: "read_again", since: bars[0].since, until: bars[0].until });
});

test("arrow keys move the mark by a bar, and over what waits at once", () => {
  assert.equal(step("ArrowLeft", home, home, 6), 3);
  assert.equal(step("ArrowRight", 3, home, 6), 4);
  assert.equal(step("ArrowRight", home, home, 6), 6);
  assert.equal(step("ArrowLeft", 6, home, 6), home);
  assert.equal(step("ArrowLeft", 0, home, 6), 0);
  assert.equal(step("Home", 3, home, 6), 0);
  assert.equal(step("End", 0, home, 6), 6);
  assert.equal(step("PageDown", home, home, 6), 0);
  assert.equal(step("PageUp", 0, home, 6), home);
  assert.equal(step("a", 3, home, 6), undefined);
});

test("the dialog is asked for by the days", () => {
  assert.equal(address("/b/preview/", { move: "set_now" }), "/b/preview/set_now");
  assert.equal(address("/b/preview/", chosen(bars, 0, 0)), "/b/preview/read_again?since=2026-11-01T00%3A00%3A00Z&until=2026-11-02T00%3A00%3A00Z");
});
