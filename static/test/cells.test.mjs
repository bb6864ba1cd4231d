import assert from "node:assert/strict";
import { test } from "node:test";
import { files, most } from "../src/cells.ts";

const cell = (keys, cut = false) => ({ keys, cut });

test("the files of the cells that were dragged over are asked for", () => {
  assert.deepEqual(files([cell("a.csv\nb.csv"), cell(""), cell("c.csv")]), ["a.csv", "b.csv", "c.csv"]);
});

test("what cannot be asked for is said", () => {
  assert.match(files([cell(""), cell("")]), /Nothing of this was read/);
  assert.match(files([cell("a.csv", true)]), /too many files/);
  assert.match(files([cell(Array.from({ length: most + 1 }, (_, i) => `${i}.csv`).join("\n"))]), /These are 1,001 files/);
});
