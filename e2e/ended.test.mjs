// A run that has ended, as who comes later reads it: what failed and why, what did not
// run, when; and how large its graph opens, on a desk and on a phone.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, open, until } from "./house.mjs";
import { looked } from "./look.mjs";

let house, at, wide;
const cli = (words, input) => {
  return spawnSync(binary, [...words.slice(0, 2), "--data", house.data, ...words.slice(2)], { input, encoding: "utf8" });
};

// The first job loads and then cannot; the crawler behind it and a job behind that have
// no turn. Beside it a script fails with a trace after a long log.
const yaml = (query) => `dogear: 1
workflow:
  name: shop
  triggers:
    - {name: on call, type: on_demand, start: [{job: load-in}, {job: tell}]}
    - {name: then crawl, type: conditional, when: [{job: load-in, state: succeeded}], start: [{crawler: orders}]}
    - {name: then sum, type: conditional, when: [{crawler: orders, state: succeeded}], start: [{job: sum up}]}
jobs:
  - name: load-in
    kind: sql
    sources: [{name: raw, path: ${join(house.data, "files", "raw", "*.csv")}, format: csv, read: new, ctx: raw, options: {settle_ms: 0}}]
    steps: [{name: out, sql: "${query}"}]
    sinks: [{from: out, path: curated, format: parquet, mode: append}]
  - name: tell
    kind: python
    bookmark: off
    script:
      body: |
        for i in range(4000): print("line", i, "of what was told on the way")
        def ring(bell):
            return bell["tone"]
        ring({})
  - {name: sum up, kind: python, bookmark: off, script: {body: "pass"}}
crawlers:
  - {name: orders, database: shop, targets: [{path: curated}]}
`;

const many = `dogear: 1
workflow:
  name: wide
  triggers: [{name: on call, type: on_demand, start: [${[..."abcdefghi"].map((j) => `{job: ${j}}`).join(", ")}]}]
jobs:
${[..."abcdefghi"].map((j) => `  - {name: ${j}, kind: python, bookmark: off, script: {body: "raise SystemExit(${j === "b" ? 3 : 0})"}}`).join("\n")}
`;

before(async () => {
  house = await open();
  mkdirSync(join(house.data, "files", "raw"), { recursive: true });
  writeFileSync(join(house.data, "files", "raw", "a.csv"), "id,amount\n1,2\n");
  for (const query of ["SELECT * FROM raw", "SELECT * FROM raw WHERE error('the till is shut') = 1"]) {
    const made = cli(["workflow", "import", "-"], yaml(query));
    assert.equal(made.status, 0, made.stderr);
    if (query.endsWith("raw")) cli(["job", "run", "load-in", "--wait"]);
  }
  writeFileSync(join(house.data, "files", "raw", "b.csv"), "id,amount\n2,3\n");
  const ran = cli(["workflow", "run", "shop", "--wait", "--json"]);
  at = `/runs/${JSON.parse(ran.stdout).id}`;
  cli(["workflow", "import", "-"], many);
  wide = `/runs/${JSON.parse(cli(["workflow", "run", "wide", "--wait", "--json"]).stdout).id}`;
});
after(async () => { await house.close(); });

const card = (page, name) => page.locator("dog-canvas .node", { hasText: name }).first();
const panelOf = (page, name) => page.waitForFunction((name) => document.querySelector("#panel h2")?.textContent === name, name);
const opened = async (path, how) => {
  const page = await house.page(path, how);
  await page.locator("dog-canvas.ready").waitFor();
  return page;
};
const scale = (page) => page.locator("dog-canvas .world").evaluate((world) => new DOMMatrix(getComputedStyle(world).transform).a);

test("the head says once that the run failed, and what", async () => {
  const page = await opened(at);
  assert.match(await page.locator("#run-head .pill").allTextContents().then((all) => all.map((t) => t.trim()).join("|")), /^Failed: (tell|load-in) and 1 more$/);
});

test("a card of a run that has ended says nothing of what waits today", async () => {
  const page = await opened(at);
  await page.waitForFunction(() => document.querySelector("dog-canvas .node[data-marks=on] .lag")); // it is known
  assert.equal(await page.locator("dog-canvas .lag:visible").count(), 0);
});

test("what failed stays red when it is chosen", async () => {
  const page = await opened(at);
  const red = await card(page, "load-in").evaluate((e) => getComputedStyle(e).borderTopColor);
  await card(page, "load-in").click();
  await panelOf(page, "load-in");
  const chosen = await card(page, "load-in").evaluate((e) => [getComputedStyle(e).borderTopColor, getComputedStyle(e).boxShadow]);
  assert.equal(chosen[0], red);
  const [other, plain] = [card(page, "orders"), await card(page, "orders").evaluate((e) => getComputedStyle(e).boxShadow)];
  assert.notEqual(chosen[1], plain, "and is seen to be chosen");
  assert.equal(await other.getAttribute("aria-selected"), "false");
});

test("a trace keeps its lines, and the log opens at its end and leads to its beginning", async () => {
  const page = await opened(at);
  await card(page, "tell").click();
  await panelOf(page, "tell");
  const trace = page.getByTestId("node-error").locator("span");
  assert.match(await trace.innerText(), /\n.*KeyError: 'tone'/);
  assert.match(await trace.evaluate((e) => getComputedStyle(e).fontFamily), /Mono/);
  assert.equal(await trace.evaluate((e) => getComputedStyle(e).whiteSpace), "pre-wrap");

  const log = page.getByTestId("log");
  await log.getByText("End of the log.").waitFor();
  await until("the error is in view", () => within(page, log.getByText("KeyError: 'tone'").last()));
  await looked(page, "ended-trace");
  // Upwards one comes to the first line, with each line once.
  await page.waitForFunction(() => {
    const pane = document.querySelector(".panel .pane");
    pane.scrollTop = -pane.scrollHeight;
    return pane.textContent.includes("line 0 of what");
  });
  const numbers = (await log.locator(".line").allTextContents()).join("\n").match(/line \d+ of/g).map((l) => parseInt(l.slice(5), 10));
  assert.ok(numbers.length === 4000 && numbers.every((n, i) => n === i), `${numbers.length} lines, the first ${numbers[0]}`);
});

// within reports whether a line is seen in the panel without scrolling.
async function within(page, line) {
  const [box, pane] = [await line.boundingBox(), await page.locator(".panel .pane").boundingBox()];
  return box.y >= pane.y - 1 && box.y + box.height <= pane.y + pane.height + 1;
}

test("a crawler that did not run is not said to have been tried, nor its log to have ended", async () => {
  const page = await opened(at);
  await card(page, "orders").click();
  await panelOf(page, "orders");
  await page.locator("#panel").getByText("This node did not run, so it has written none.").waitFor();
  assert.match(await page.locator("#node-head p.tiny").innerText(), /^Crawler · did not run/);
  assert.doesNotMatch(await page.locator("#panel").innerText(), /attempt 1|End of the log/);
  await looked(page, "ended-skipped");
});

const seconds = (clock) => clock.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);

test("the times of the page are of one clock", async () => {
  const page = await opened(at, { zone: "Asia/Kolkata" });
  const fired = await card(page, "on call").locator("[data-slot=sub]").innerText();
  const began = await page.getByTestId("began").locator("time").innerText();
  const iso = await page.getByTestId("began").locator("time").getAttribute("datetime");
  const inKolkata = new Date(Date.parse(iso) + 5.5 * 3600e3).toISOString().slice(11, 19);
  assert.ok(began.endsWith(inKolkata), `${began} is ${inKolkata} in Kolkata`);
  assert.match(fired, /^fired \d\d:\d\d:\d\d$/);
  const apart = Math.abs(seconds(fired.slice(6)) - seconds(inKolkata));
  assert.ok(Math.min(apart, 24 * 3600 - apart) < 60, `${fired}, and the run began at ${inKolkata}`); // midnight may lie between
  const [told, room] = await card(page, "on call").locator("[data-slot=sub]").evaluate((e) => [e.scrollWidth, e.clientWidth]);
  assert.ok(told <= room, "its card has room for it");
});

for (const [width, height] of [[1440, 900], [390, 844]]) {
  test(`the timeline shows whole rows at ${width}`, async () => {
    const page = await opened(wide, { width, height });
    const rows = page.locator(".gantt > li");
    assert.equal(await rows.count(), 9);
    const gantt = await page.locator(".gantt").boundingBox();
    const whole = (await rows.evaluateAll((all) => all.map((e) => e.getBoundingClientRect().bottom))).filter((bottom) => bottom <= gantt.y + gantt.height + 0.5);
    assert.ok(whole.length >= 5, `${whole.length} rows are whole`);
    assert.ok(Math.abs(whole.at(-1) - gantt.y - gantt.height) < 1, "and none is cut");
    if (width > 1000) {
      assert.ok(gantt.y + gantt.height <= height, "and above the edge of the window");
      const graph = await page.locator(".runpage > .graph").boundingBox();
      assert.ok(graph.height > 400, `the graph has ${graph.height}`);
    }
    if (width === 1440) {
      assert.match((await page.locator("#run-head .pill").allTextContents()).map((t) => t.trim()).join("|"), /^Partly failed: b$/);
      await looked(page, "ended");
    }
  });

  test(`a chain opens at a size that is read, its first cards whole, at ${width}`, async () => {
    const list = await house.page("/workflows");
    const editor = new URL(await list.getByRole("link", { name: "shop" }).first().getAttribute("href"), list.url()).pathname;
    for (const path of [at, editor]) {
      const page = await opened(path, { width, height });
      assert.ok((await scale(page)) >= 0.85, `${path} opens at ${await scale(page)}`);
      const [stage, tools] = [await page.locator("dog-canvas .stage").boundingBox(), await page.locator("dog-canvas .tools").boundingBox()];
      for (const name of ["on call", "tell"]) {
        const box = await card(page, name).boundingBox();
        assert.ok(box.x >= stage.x && box.y >= stage.y && box.y + box.height <= tools.y, `${name} at ${JSON.stringify(box)} in ${JSON.stringify(stage)}, tools at ${tools.y}`);
      }
      if (width === 390) await looked(page, `opened-${path === at ? "run" : "editor"}`);
    }
  });
}

test("on a phone the bin of a workflow stands apart from Run", async () => {
  const page = await house.page("/workflows", { width: 390, height: 844 });
  const run = await page.getByRole("button", { name: "Run shop" }).boundingBox();
  const bin = await page.getByRole("button", { name: "Delete shop" }).boundingBox();
  assert.ok(bin.x - run.x - run.width >= 20, `they are ${bin.x - run.x - run.width} apart`);
  assert.ok(Math.abs(bin.y + bin.height / 2 - run.y - run.height / 2) < 4, "in one line");
  await looked(page, "workflows-phone");
});

test("nothing went wrong in the browser", () => assert.deepEqual(house.problems(), []));
