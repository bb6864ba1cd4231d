// The operations do in the browser what they do on the server: both run the
// cases that the server's tests have written.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { impossible, Graph, Names, refuse } from "../src/canvas/model.ts";
import { apply, canonical, follow, inverse } from "../src/canvas/ops.ts";
import { Refusal } from "../src/canvas/types.ts";

const cases = JSON.parse(readFileSync("engine/draft/testdata/cases.json", "utf8"));

for (const c of cases) {
  test(`${c.name}, as on the server`, () => {
    const infos = Object.fromEntries(Object.entries(c.names).map(([card, name]) => [card, { name, sub: "", icon: "" }]));
    const before = canonical(c.body);
    let result;
    try {
      result = apply(c.body, c.op, infos);
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error));
      assert.equal(error.code, c.refused, `refused: ${error.message}`);
      if (["cycle", "rule", "same"].includes(c.refused)) assert.equal(error.message, c.message);
      assert.equal(canonical(c.body), before, "a refused operation changed the draft");
      return;
    }

    assert.equal(c.refused, undefined, `want a refusal: ${c.message}`);
    assert.equal(canonical(result.body), canonical(c.want));
    assert.equal(canonical(c.body), before, "the draft it was given changed");
    assert.equal(canonical(follow(c.body, c.delta)), canonical(c.want), "following the server's change");
    assert.equal(canonical(follow(result.body, inverse(result.delta))), canonical(c.body), "taking it back");
  });
}

test("every card that dims is one that would be refused, and no other", () => {
  const body = cases.find((c) => c.name === "a node is deleted").body;
  const graph = new Graph(body);
  const names = new Names(graph, {});
  for (const from of graph.cards) {
    const barred = impossible(graph, from);
    for (const to of graph.cards) {
      assert.equal(barred.has(to), refuse(graph, names, from, to) !== undefined, `${from} to ${to}`);
    }
  }
});

test("empty and absent are equal, and the order of names does not count", () => {
  assert.equal(canonical({ a: 1, b: [], c: false, d: { e: "" } }), canonical({ d: {}, a: 1 }));
  assert.notEqual(canonical({ a: 1 }), canonical({ a: 2 }));
});
