// One node of a run: skipped before its turn, taken back, stopped while the run goes
// on, and what a second tab is told.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => { house = await open(); });
after(async () => { await house.close(); });

const cli = (words, input) => spawnSync(binary, [...words.slice(0, 2), "--data", house.data, ...words.slice(2)], { input, encoding: "utf8" });

// begin starts a run of extract, load and report, of which the first takes its time.
function begin() {
  const made = cli(["workflow", "import", "-"], `dogear: 1
workflow:
  name: nightly
  triggers:
    - {name: by hand, type: on_demand, start: [{job: extract}]}
    - {name: loads, type: conditional, when: [{job: extract, state: succeeded}], start: [{job: load}]}
    - {name: reports, type: conditional, when: [{job: load, state: succeeded}], start: [{job: report}]}
    - {name: alarms, type: conditional, when: [{job: extract, state: stopped}], start: [{job: alarm}]}
jobs:
  - {name: extract, kind: python, bookmark: off, script: {body: "import time; time.sleep(600)"}}
  - {name: load, kind: python, bookmark: off, script: {body: "pass"}}
  - {name: report, kind: python, bookmark: off, script: {body: "pass"}}
  - {name: alarm, kind: python, bookmark: off, script: {body: "pass"}}
`);
  assert.equal(made.status, 0, made.stderr);
  return `/runs/${JSON.parse(cli(["workflow", "run", "--json", "nightly"]).stdout).id}`;
}

async function choose(page, name) {
  await page.locator("dog-canvas .node", { hasText: name }).first().click();
  await page.waitForFunction((name) => document.querySelector("#panel h2")?.textContent === name, name);
}

async function menu(page, deed) {
  await page.getByTestId("node-menu").click();
  await page.getByTestId(`node-${deed}`).click();
}

test("a node is skipped in one tab, and the other is told", async () => {
  const at = begin();
  const one = await house.page(at);
  await one.locator("dog-canvas.ready").waitFor();
  const two = await house.page(at, { theme: "dark", width: 390, height: 844 });
  await choose(one, "load");
  await one.getByTestId("node-menu").click();
  await one.getByTestId("node-skip").waitFor();
  const card = await one.locator("dog-canvas .node", { hasText: "load" }).getAttribute("data-id");
  assert.equal(cli(["run", "skip", at.slice(6), "load"]).status, 0);
  await two.goto(`${house.address}${at}?node=${card}`);
  await two.locator("#node-head", { hasText: "When its turn comes, it will be skipped by owner" }).waitFor();
  await looked(two, "node-skip-phone");

  await one.locator("#node-head", { hasText: "When its turn comes, it will be skipped by owner" }).waitFor();
  assert.equal(await one.getByTestId("node-skip").count(), 0, "the first tab offers no second skip");
  await looked(one, "node-skip");
  assert.match(cli(["run", "skip", at.slice(6), "load"]).stderr, /was skipped by owner/);

  await menu(one, "unskip");
  await one.getByText("load runs in this run after all.").waitFor();
  await one.locator("#node-head", { hasText: "It will be skipped" }).waitFor({ state: "detached" });
  await menu(one, "skip");
  await one.getByText("load is skipped in this run").waitFor();
  cli(["run", "stop", at.slice(6)]);
  await one.locator("#run-head .pill", { hasText: "Stopped" }).waitFor({ timeout: 30_000 });
});

test("one node is stopped and the run goes on", async () => {
  const at = begin();
  const page = await house.page(at);
  await page.locator("dog-canvas.ready").waitFor();
  await choose(page, "extract");
  await page.locator("#node-head .pill", { hasText: "Running" }).waitFor({ timeout: 30_000 });

  await menu(page, "stop");
  await page.getByTestId("stop-dialog").getByText("The run goes on without it.").waitFor();
  await page.getByTestId("confirm-stop").click();

  await page.locator("#node-head", { hasText: "Stopped by owner." }).waitFor({ timeout: 30_000 });
  await page.locator("#run-head .pill", { hasText: "Stopped" }).waitFor({ timeout: 30_000 });
  await looked(page, "node-stop");
  assert.match(cli(["run", "show", at.slice(6)]).stdout, /alarm +Succeeded/);
});

test("nothing went wrong in the browser", () => assert.deepEqual(house.problems(), []));
