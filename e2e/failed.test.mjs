// A run of which one node fails while others go on: what its page and the lists say of
// it, and what is started again from there.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, open, until } from "./house.mjs";
import { looked } from "./look.mjs";

let house, gate;
before(async () => {
  house = await open();
  gate = join(house.data, "gate");
});
after(async () => { await house.close(); });

const cli = (words, input) => {
  const done = spawnSync(binary, [...words.slice(0, 2), "--data", house.data, ...words.slice(2)], { input, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
};

const yaml = () => `dogear: 1
workflow:
  name: nightly load
  properties: {Day: "2026-11-29", Region: eu}
  triggers:
    - {name: daily at two, type: scheduled, schedule: 'cron(0 2 * * ? *)', start: [{job: extract}, {job: check quality}]}
    - {name: files, type: event, event: {source: calls, batch_size: 1}, start: [{job: extract}]}
    - {name: loads, type: conditional, when: [{job: extract, state: succeeded}], start: [{job: load}]}
    - {name: reports, type: conditional, when: [{job: load, state: succeeded}], start: [{job: report}]}
jobs:
  - {name: extract, kind: python, bookmark: off, script: {body: "import os, time\\nwhile not os.path.exists('${gate}'): time.sleep(0.02)"}}
  - {name: check quality, kind: python, bookmark: off, script: {body: "raise SystemExit(3)"}}
  - {name: load, kind: python, bookmark: off, script: {body: "pass"}}
  - {name: report, kind: python, bookmark: off, pool: warehouse, script: {body: "pass"}}
`;

const card = (page, name) => page.locator("dog-canvas .node", { hasText: name }).first();
const sub = (page, name) => card(page, name).locator("[data-slot=sub]");
const panelOf = (page, name) => page.waitForFunction((name) => document.querySelector("#panel h2")?.textContent === name, name);

let at;

test("a node that fails is named in the head, which leads to it and takes nobody's view", async () => {
  cli(["pool", "set", "warehouse", "0"]);
  cli(["workflow", "import", "-"], yaml());
  cli(["trigger", "on", "nightly load", "daily at two"]);
  at = `/runs/${JSON.parse(cli(["workflow", "run", "--json", "--trigger", "daily at two", "nightly load"])).id}`;
  const page = await house.page(at);
  await page.locator("dog-canvas.ready").waitFor();
  await card(page, "report").click();
  await panelOf(page, "report");

  const link = page.locator("#run-failed");
  await link.getByText("1 failed: check quality").waitFor({ timeout: 30_000 });
  assert.equal(await page.locator("#panel h2").first().textContent(), "report", "the panel stays at what was chosen");
  assert.match(await sub(page, "daily at two").textContent(), /^started by hand$/);
  await looked(page, "run-failed");

  // Far away from the card the link brings it back.
  await page.mouse.move(400, 300);
  for (let i = 0; i < 6; i++) await page.mouse.wheel(0, 600);
  await until("the card is out of sight", async () => !(await within(page, "check quality")));
  await link.click();
  await panelOf(page, "check quality");
  await page.locator("dog-canvas .node[aria-selected=true]", { hasText: "check quality" }).waitFor();
  await until("the card is in view", () => within(page, "check quality"));
  await page.locator("#node-head", { hasText: /ran \d+(\.\d)? m?s/ }).waitFor();
  await looked(page, "run-failed-chosen");
});

// within reports whether the whole card stands within the canvas.
async function within(page, name) {
  const [box, stage] = [await card(page, name).boundingBox(), await page.locator("dog-canvas .stage").boundingBox()];
  return box.x >= stage.x && box.y >= stage.y && box.x + box.width <= stage.x + stage.width && box.y + box.height <= stage.y + stage.height;
}

test("the card of a node that was told to be skipped says so until its turn", async () => {
  const page = await house.page(at);
  await page.locator("dog-canvas.ready").waitFor();
  await page.getByText("live", { exact: true }).or(page.locator("dog-canvas.ready")).first().waitFor();
  assert.equal(await sub(page, "load").textContent(), "Waiting");

  cli(["run", "skip", at.slice(6), "load"]);
  await sub(page, "load").getByText("Will be skipped").waitFor();
  await looked(page, "run-to-skip");
  cli(["run", "skip", "--undo", at.slice(6), "load"]);
  await sub(page, "load").getByText("Waiting", { exact: true }).waitFor();
  cli(["run", "skip", at.slice(6), "load"]);
  await sub(page, "load").getByText("Will be skipped").waitFor();

  writeFileSync(gate, "");
  await sub(page, "load").getByText(/^Skipped/).waitFor();
  await sub(page, "report").getByText(/waits for the pool warehouse, which has no places/).waitFor();
  await card(page, "report").click();
  await page.locator("#node-head", { hasText: /waiting \d:\d\d/ }).waitFor();
  await page.locator("#timeline", { hasText: /waiting (?!0:00)\d+:\d\d/ }).waitFor();
  await looked(page, "run-waiting");
  cli(["pool", "set", "warehouse", "1"]);
  await page.locator("#run-head .pill", { hasText: "Partly failed" }).waitFor({ timeout: 30_000 });
  // The head of the node and its bar say the same.
  // It follows the run by an answer of its own.
  const head = await (await page.waitForSelector("#node-head p.tiny:has-text('waited'):has-text(' ran ')")).textContent();
  const times = head.replace(/\s+/g, " ").match(/waited \d+(\.\d)? m?s, .*ran \d+(\.\d)? m?s/)?.[0];
  assert.ok(times, head);
  await page.waitForFunction((times) => document.querySelector("#timeline").textContent.replace(/\s+/g, " ").includes(times), times);
  await looked(page, "run-ended");
});

test("the list of runs leads to the node that failed", async () => {
  const page = await house.page("/runs");
  const link = page.getByTestId("fallen");
  await link.getByText("check quality failed").waitFor();
  await looked(page, "runs-fallen");
  await link.click();
  await page.waitForURL(/\/runs\/.*node=job-/);
  await panelOf(page, "check quality");
});

test("run again offers the properties, filled in", async () => {
  const page = await house.page(at);
  await page.locator("#run-again button").click();
  const dialog = page.getByTestId("again-dialog");
  assert.equal(await dialog.getByLabel("Day").inputValue(), "2026-11-29");
  await dialog.getByLabel("Day").fill("2026-11-28");
  await looked(page, "run-again");
  await dialog.getByTestId("again").click();

  await page.waitForURL((url) => url.pathname.startsWith("/runs/") && url.pathname !== at);
  await page.getByTestId("repeats").getByText("once more, with other properties: Day.").waitFor();
  const shown = JSON.parse(cli(["run", "show", "--json", page.url().split("/").pop().split("?")[0]]));
  assert.deepEqual(shown.properties, { Day: "2026-11-28", Region: "eu" });
  await page.locator("#run-head .pill", { hasText: "Partly failed" }).waitFor({ timeout: 30_000 });
});

test("an event trigger is turned off in its panel, and the list says what starts the workflow", async () => {
  const list = await house.page("/workflows");
  await list.getByText("and by events").waitFor();
  await list.getByRole("link", { name: "nightly load" }).first().click();
  await list.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  await list.locator("dog-canvas.ready").waitFor();
  await list.locator("dog-canvas li[data-kind=event]").click();
  const takes = list.locator("#panel").getByLabel("On", { exact: true });
  await takes.uncheck();
  await list.getByTestId("save-panel").click();
  await list.locator("dog-canvas li[data-kind=event]").getByText("Off").waitFor();
  await looked(list, "event-off");
  await list.getByRole("button", { name: /^Publish/ }).first().click();
  const dialog = list.locator("dialog[open]");
  await dialog.getByRole("button", { name: /publish/i }).last().click();
  await dialog.waitFor({ state: "detached" });

  const then = await house.page("/workflows");
  await then.getByText("1 event trigger off").waitFor();
  cli(["trigger", "on", "nightly load", "files"]);
  cli(["trigger", "off", "nightly load", "daily at two"]);
  await then.getByText("1 schedule off").waitFor();
  await then.getByText("By events").waitFor();
  await looked(then, "workflows-off");
});

test("the dialog of a run that goes on lists what is new in the newest definition", async () => {
  cli(["workflow", "import", "-"], yaml().replace("jobs:\n", `    - {name: mends, type: conditional, when: [{job: check quality, state: succeeded}], start: [{job: mend}]}
    - {name: audits, type: conditional, when: [{job: extract, state: succeeded}], start: [{job: audit}]}
jobs:
  - {name: mend, kind: python, bookmark: off, script: {body: "pass"}}
  - {name: audit, kind: python, bookmark: off, script: {body: "pass"}}
`));
  const page = await house.page(at);
  await page.getByRole("button", { name: "Resume…" }).click();
  const dialog = page.getByTestId("resume");
  assert.equal(await dialog.getByTestId("resume-idle").count(), 0, "by the definition of the run nothing is new");
  await dialog.getByLabel("The workflow").selectOption("newest");

  await dialog.getByTestId("resume-fresh").getByText("may have one now: mend.").waitFor();
  await dialog.getByTestId("resume-idle").getByText("nothing that is done again leads there: audit.").waitFor();
  await looked(page, "resume-new");
});

test("a pool without places says that nothing starts in it", async () => {
  const page = await house.page("/pools");
  await page.getByLabel("New pool").fill("api");
  await page.locator("form").filter({ has: page.getByLabel("New pool") }).getByLabel("Places", { exact: true }).fill("0");
  await page.getByRole("button", { name: "Make the pool" }).click();
  await page.locator('[data-pool="api"]').getByText("Nothing starts in this pool until it has places.").waitFor();
  await looked(page, "pool-shut");
});

test("nothing went wrong in the browser", () => assert.deepEqual(house.problems(), []));
