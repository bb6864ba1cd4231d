// A run of which several nodes fail: all of them can be gone through, by the pointer and
// by keys; and a stop of what works asks first.
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
after(async () => { await house.close(); assert.deepEqual(house.problems(), []); });

const cli = (words, input) => {
  const done = spawnSync(binary, [...words.slice(0, 2), "--data", house.data, ...words.slice(2)], { input, encoding: "utf8" });
  assert.equal(done.status, 0, done.stderr);
  return done.stdout;
};

const parts = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const bad = (n) => n % 3 === 2; // 2, 5, 8
const yaml = () => `dogear: 1
workflow:
  name: fan of nine
  triggers:
    - {name: by hand, type: on_demand, start: [{job: extract}]}
    - {name: parts, type: conditional, when: [{job: extract, state: succeeded}], start: [${parts.map((n) => `{job: part ${n}}`).join(", ")}]}
jobs:
  - {name: extract, kind: python, bookmark: off, script: {body: "pass"}}
${parts.map((n) => `  - {name: part ${n}, kind: python, bookmark: off, script: {body: "${bad(n) ? "raise SystemExit(3)" : n === 9 ? `import os, time\\nwhile not os.path.exists('${gate}'): time.sleep(0.02)` : "pass"}"}}`).join("\n")}
`;

const start = () => `/runs/${JSON.parse(cli(["workflow", "run", "--json", "fan of nine"])).id}`;
const panelOf = (page, name) => page.waitForFunction((name) => document.querySelector("#panel h2")?.textContent === name, name);
let at;

test("all that failed is gone through, by buttons and by keys, while the run goes on", async () => {
  cli(["workflow", "import", "-"], yaml());
  at = start();
  const page = await house.page(at);
  await page.locator("dog-canvas.ready").waitFor();
  await page.locator("#run-failed").getByText("3 failed: part").waitFor();
  const turn = page.locator("#run-turn");
  await page.locator("dog-canvas .node", { hasText: "extract" }).first().click();
  await panelOf(page, "extract");
  await turn.getByText("3", { exact: true }).waitFor();

  const next = page.getByRole("button", { name: "Next node that failed" });
  for (const [i, name] of ["part 2", "part 5", "part 8", "part 2"].entries()) {
    await next.click();
    await panelOf(page, name);
    await turn.getByText(`${(i % 3) + 1} of 3`).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.id), "run-fallen-next", "the focus stays at the button");
    await until(`the bar of ${name} is in sight`, async () => {
      const [bar, bars] = [await page.locator(".gantt a", { hasText: name }).boundingBox(), await page.locator(".gantt").boundingBox()];
      return bar.y >= bars.y - 1 && bar.y + bar.height <= bars.y + bars.height + 1;
    });
  }
  await page.getByRole("button", { name: "Previous node that failed" }).click();
  await panelOf(page, "part 8");
  await page.locator("dog-canvas .node[aria-selected=true]").focus();
  await page.keyboard.press("Shift+F");
  await panelOf(page, "part 5");
  await page.keyboard.press("f");
  await panelOf(page, "part 8");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("f");
  await panelOf(page, "part 2");
  await looked(page, "fallen");
});

test("the failed node that a run opens at can be seen, and stays so when the window becomes smaller", async () => {
  const page = await house.page(at, { width: 900, height: 500 });
  await page.locator("dog-canvas.ready").waitFor();
  const seen = () => page.waitForFunction(() => {
    const [card, stage] = [".node[aria-selected=true]", ".stage"].map((e) => document.querySelector(`dog-canvas ${e}`)?.getBoundingClientRect());
    return card && card.left >= stage.left && card.top >= stage.top && card.right <= stage.right && card.bottom <= stage.bottom;
  });
  await page.locator("#run-turn", { hasText: "of 3" }).waitFor();
  await seen();
  await page.getByRole("button", { name: "Previous node that failed" }).click();
  await seen();
  await page.setViewportSize({ width: 760, height: 420 });
  await seen();
});

test("a stop asks, and names what works and for how long; Escape lets it go on, Enter stops", async () => {
  const page = await house.page(at);
  await page.locator("dog-canvas.ready").waitFor();
  const stop = page.locator("#run-stop button");
  const dialog = page.getByTestId("stop-dialog");
  await until("part 9 alone works", () => {
    const states = JSON.parse(cli(["run", "show", "--json", at.slice(6)])).nodes.map((n) => n.state).filter((state) => !["succeeded", "failed"].includes(state));
    return states.join() === "running";
  });
  await stop.click();
  await dialog.locator("li", { hasText: /part 9\s*Running for/ }).waitFor();
  assert.equal(await dialog.locator("li").count(), 1);
  await looked(page, "stop");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(JSON.parse(cli(["run", "show", "--json", at.slice(6)])).outcome ?? "", "");

  await stop.click();
  await dialog.waitFor();
  await page.keyboard.press("Enter");
  await page.locator("#run-head .pill", { hasText: "Stopped" }).waitFor();
  assert.equal(JSON.parse(cli(["run", "show", "--json", at.slice(6)])).outcome, "stopped");
});

test("a fan of nine stands whole on a phone, and the buttons of a run that has ended in one line", async () => {
  writeFileSync(gate, "");
  cli(["workflow", "import", "-"], `dogear: 1
workflow: {name: breaks, triggers: [{name: by hand, type: on_demand, start: [{job: breaks}, {job: part 1}]}]}
jobs:
  - {name: breaks, kind: python, bookmark: off, script: {body: "raise SystemExit(3)"}}
  - {name: part 1, kind: python, bookmark: off, script: {body: "pass"}}
`);
  const phone = { width: 390, height: 844 };
  const line = async (page, ...names) => {
    const boxes = await Promise.all(names.map((name) => page.locator(name).boundingBox()));
    const middles = boxes.map((b) => b.y + b.height / 2);
    assert.ok(Math.max(...middles) - Math.min(...middles) < 4, `${names} stand at ${middles}`);
    for (const b of boxes) assert.ok(b.x >= 0 && b.x + b.width <= phone.width, `${names}: ${JSON.stringify(b)}`);
  };
  for (const [name, together] of [["fan of nine", []], ["breaks", ["#run-failed"]]]) {
    const id = JSON.parse(cli(["workflow", "run", "--json", name])).id;
    const page = await house.page(`/runs/${id}`, phone);
    await page.locator("#run-head .pill", { hasText: "Partly failed" }).waitFor();
    await page.reload();
    await page.locator("dog-canvas.ready").waitFor();
    await line(page, "#run-resume", "#run-again button", ...together);
    const stage = await page.locator("dog-canvas .stage").boundingBox();
    for (const card of await page.locator("dog-canvas .node").all()) {
      const box = await card.boundingBox();
      assert.ok(box.x >= stage.x && box.y >= stage.y && box.x + box.width <= stage.x + stage.width && box.y + box.height <= stage.y + stage.height, `${await card.innerText()} is cut: ${JSON.stringify(box)} in ${JSON.stringify(stage)}`);
    }
    assert.ok(stage.y + stage.height < phone.height - 100, "the page can be scrolled beside the graph");
    await looked(page, `phone-${name.replaceAll(" ", "-")}`);
  }
});
