// What a screen reader hears of the cards of a run: the same while the run goes on as
// when the page is loaded again.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";

let house;
before(async () => { house = await open({}); });
after(async () => {
  await house.close();
  assert.deepEqual(house.problems(), []);
});

const cli = (words, input) => spawnSync(binary, [...words.slice(0, 2), "--data", house.data, ...words.slice(2)], { input, encoding: "utf8" });

test("what is to be skipped, and who started a run, is heard the same", async () => {
  const gate = join(house.data, "gate");
  const made = cli(["workflow", "import", "-"], `dogear: 1
workflow:
  name: told
  triggers:
    - {name: nightly, type: scheduled, schedule: 'cron(0 2 * * ? *)', start: [{job: first}]}
    - {name: then, type: conditional, when: [{job: first, state: succeeded}], start: [{job: second}]}
jobs:
  - {name: first, kind: python, bookmark: off, script: {body: "import os, time\\nwhile not os.path.exists('${gate}'): time.sleep(0.05)"}}
  - {name: second, kind: python, bookmark: off, script: {body: "pass"}}
`);
  assert.equal(made.status, 0, made.stderr);
  const id = JSON.parse(cli(["workflow", "run", "--json", "told"]).stdout).id;
  const page = await house.page(`/runs/${id}`);
  await page.locator("dog-canvas.ready").waitFor();
  const all = () => page.locator(".nodes > li [data-slot=aside]").allTextContents();

  await page.locator(".nodes > li", { hasText: ", Running, " }).waitFor(); // it takes its time to begin
  assert.equal(cli(["run", "skip", id, "second"]).status, 0);
  await page.locator(".nodes > li", { hasText: "Will be skipped" }).waitFor();
  const live = await all();
  assert.deepEqual([live.filter((text) => text.includes(", Will be skipped, ")).length, live.filter((text) => text.includes(", Started by hand, ")).length], [1, 1], live.join(" | "));
  await page.reload();
  await page.locator("dog-canvas.ready").waitFor();

  assert.deepEqual(await all(), live);
  writeFileSync(gate, "");
  await page.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 30_000 });
});

test("live changes keep what a card is and what is around it", async () => {
  const [fail, pass] = ["fail", "pass"].map((name) => join(house.data, name));
  const wait = (file, then) => `import os, time\\nwhile not os.path.exists('${file}'): time.sleep(0.05)\\n${then}`;
  const made = cli(["workflow", "import", "-"], `dogear: 1
workflow:
  name: heard
  triggers:
    - {name: by hand, type: on_demand, start: [{job: a}, {job: b}]}
    - {name: both, type: conditional, logic: all, when: [{job: a, state: succeeded}, {job: b, state: succeeded}], start: [{job: c}]}
    - {name: either, type: conditional, logic: any, when: [{job: a, state: succeeded}, {job: b, state: succeeded}], start: [{job: d}]}
jobs:
  - {name: a, kind: python, bookmark: off, script: {body: "${wait(pass, "pass")}"}}
  - {name: b, kind: python, bookmark: off, script: {body: "${wait(fail, "raise SystemExit(3)")}"}}
  - {name: c, kind: python, bookmark: off, script: {body: "pass"}}
  - {name: d, kind: python, bookmark: off, script: {body: "pass"}}
`);
  assert.equal(made.status, 0, made.stderr);
  const id = JSON.parse(cli(["workflow", "run", "--json", "heard"]).stdout).id;
  const page = await house.page(`/runs/${id}`);
  await page.locator("dog-canvas.ready").waitFor();
  const card = (name) => page.locator(".nodes > li", { has: page.locator(`[data-slot=name][title="${name}"]`) });
  const hears = async (name, what) => {
    await card(name).locator("[data-slot=aside]").getByText(what, { exact: true }).waitFor({ state: "attached" });
    return card(name).locator("[data-slot=aside]").textContent();
  };
  await hears("both", ", Condition, Waiting, 2 before, 1 after");

  writeFileSync(fail, "");
  await hears("b", ", Job, Failed, 1 before, 2 after");
  await hears("both", ", Condition, Did not fire, 2 before, 1 after");
  await card("both").getByText("did not fire", { exact: true }).waitFor();
  await hears("either", ", Condition, Waiting, 2 before, 1 after");
  writeFileSync(pass, "");
  await hears("either", ", Condition, Fired, 2 before, 1 after");
  await hears("d", ", Job, Succeeded, 1 before, 0 after");

  const all = () => page.locator(".nodes > li [data-slot=aside]").allTextContents();
  const live = await all();
  await page.reload();
  await page.locator("dog-canvas.ready").waitFor();
  assert.deepEqual(await all(), live, "the page loaded again says the same");
  await page.locator("#graph-list tr", { hasText: "both" }).getByText("Did not fire").waitFor({ state: "attached" });
});
