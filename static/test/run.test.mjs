// What a card says at the end of its node, the same as the server draws.
import assert from "node:assert/strict";
import { test } from "node:test";
import { figure } from "../src/canvas/run";

test("a card ends with rows, or with what a crawl found", () => {
  assert.equal(figure({ rows_out: 1200, tables: 1 }), "1,200 rows");
  assert.equal(figure({ rows_out: 1 }), "1 row");
  assert.equal(figure({ tables: 1, partitions: 3 }), "3 partitions");
  assert.equal(figure({ tables: 2 }), "2 tables");
  assert.equal(figure({ files: 4 }), "");
  assert.equal(figure({ nothing_new: true }), "nothing new");
  assert.equal(figure(undefined), "");
});
