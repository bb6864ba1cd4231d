// What a card of a run says of its waiting follows the run.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { shot } from "./look.mjs";

let house;
before(async () => { house = await open(); });
after(async () => { await house.close(); });

const dogear = (input, ...args) => {
  const done = spawnSync(binary, [...args.slice(0, 2), "--data", house.data, ...args.slice(2)], { input, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
};

test("a card says what it waits for as soon as it does, and no longer than that", async () => {
  const go = join(house.data, "go");
  dogear("", "pool", "set", "narrow", "0");
  dogear(`dogear: 1
workflow:
  name: two
  triggers:
    - {name: by hand, type: on_demand, start: [{job: opens}]}
    - {name: then, type: conditional, when: [{job: opens, state: succeeded}], start: [{job: waits}]}
jobs:
  - {name: opens, kind: python, bookmark: off, script: {body: "import os, time\\nwhile not os.path.exists('${go}'): time.sleep(0.05)"}}
  - {name: waits, kind: python, bookmark: off, pool: narrow, script: {body: pass}}
`, "workflow", "import", "-");
  const { id } = JSON.parse(dogear("", "workflow", "run", "--json", "two"));
  const page = await house.page(`/runs/${id}`);
  const card = page.locator("dog-canvas .node", { hasText: "waits" });
  await card.getByText("Waiting", { exact: true }).waitFor();
  writeFileSync(go, "");

  await card.locator("[data-slot=sub]", { hasText: /^Queued, waits for .*narrow/ }).waitFor();
  await shot(page, "waiting");
  const said = await card.locator("[data-slot=sub]").textContent();
  await page.reload();
  await page.locator("dog-canvas.ready").waitFor();
  assert.equal(await card.locator("[data-slot=sub]").textContent(), said, "loaded, it says the same");

  dogear("", "pool", "set", "narrow", "1");
  await card.locator("[data-slot=sub]", { hasText: /^Succeeded$/ }).waitFor();
  assert.deepEqual(house.problems(), []);
});
