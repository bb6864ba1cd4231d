// What the page of a run says in words: whose turn it takes, what holds a script, why a
// node was skipped, and to a screen reader what is so by now.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { looked } from "./look.mjs";

const wide = { width: 1440, height: 900 };
const phone = { width: 390, height: 844, theme: "dark" };

let house, first, second;
before(async () => {
  house = await open();
  dogear(["workflow", "import", "-"], file);
  first = run("--trigger", "every night");
  await ended(first);
  second = run("--trigger", "every night");
  await ended(second);
});
after(async () => { await house.close(); assert.deepEqual(house.problems(), []); });

const file = `dogear: 1
workflow:
  name: nightly
  triggers:
    - {name: every night, type: scheduled, schedule: "cron(0 2 * * ? *)", start: [{job: load}, {job: check}]}
    - {name: both, type: conditional, when: [{job: load, state: succeeded}, {job: check, state: succeeded}], start: [{job: report}]}
jobs:
  - {name: load, kind: python, bookmark: off, script: {body: "pass"}}
  - {name: check, kind: python, bookmark: off, script: {body: "raise SystemExit(3)"}}
  - {name: report, kind: python, bookmark: off, script: {body: "pass"}}
`;
const dogear = (args, input) => execFileSync(binary, [...args, "--data", house.data], { input, stdio: ["pipe", "pipe", "inherit"] }).toString();
const run = (...words) => JSON.parse(dogear(["workflow", "run", "--json", ...words, "nightly"])).id;
const card = (page, name) => page.locator("dog-canvas .node", { hasText: name }).first();

// ended opens the page of a run and waits until it has ended.
async function ended(id, size = wide) {
  const page = await house.page(`/runs/${id}`, size);
  await page.locator("#run-head[data-ended]").waitFor({ state: "attached" });
  await page.locator("dog-canvas.ready").waitFor();
  return page;
}

for (const size of [wide, phone]) test(`what there is to say of a run can be read, ${size.width} wide`, async () => {
  const page = await ended(second, size);
  const timeline = page.locator("#timeline");
  await timeline.getByText(/^Same properties as run/).waitFor();
  const [hidden, left] = await timeline.evaluate((t) => [
    t.querySelector(".remarks").scrollHeight - t.querySelector(".remarks").clientHeight,
    t.scrollHeight - t.clientHeight,
  ]);
  assert.ok(hidden <= 0, `${hidden} px of the remarks are hidden`);
  assert.ok(left <= 0, `the timeline lacks ${left} px`);
  await looked(page, `run-said-${size.width}`);
});

test("a node that was skipped says for which condition, and a script by which process it was held", async () => {
  const page = await ended(first);
  await card(page, "check").click();
  await page.locator("#figures dt", { hasText: /^Held by process$/ }).waitFor();
  await card(page, "report").click();
  await page.locator("#node-head", { hasText: "It was not started: check was to succeed and failed." }).waitFor();
  assert.equal(await page.locator("#figures").count(), 0, "what did not run has no figures");
  await looked(page, "run-skipped");
});

test("a screen reader is told how the nodes stand, each once", async () => {
  const gate = join(house.data, "gate");
  const parts = ["one", "two", "three", "four"];
  dogear(["workflow", "import", "-"], `dogear: 1
workflow:
  name: chain
  triggers:
    - {name: by hand, type: on_demand, start: [{job: one}]}
${parts.slice(1).map((name, i) => `    - {name: before ${name}, type: conditional, when: [{job: ${parts[i]}, state: succeeded}], start: [{job: ${name}}]}`).join("\n")}
jobs:
${parts.map((name) => `  - {name: ${name}, kind: python, bookmark: off, script: {body: "${{ one: `import os, time\\nwhile not os.path.exists('${gate}'): time.sleep(0.02)`, three: "raise SystemExit(3)" }[name] ?? "pass"}"}}`).join("\n")}
`);
  const page = await house.page(`/runs/${JSON.parse(dogear(["workflow", "run", "--json", "chain"])).id}`, wide);
  await page.locator("dog-canvas.ready").waitFor();
  await card(page, "one").locator("[data-slot=sub]", { hasText: "Running" }).waitFor();
  await page.evaluate(() => {
    window.heard = [];
    const box = document.querySelector(".said");
    new MutationObserver(() => window.heard.push(box.textContent)).observe(box, { childList: true, characterData: true, subtree: true });
  });

  writeFileSync(gate, "");

  await page.locator("#run-head[data-ended]").waitFor({ state: "attached" });
  await page.waitForFunction(() => /^(2 succeeded, 1 failed, 1 skipped|four: Skipped)$/.test(window.heard.at(-1)));
  for (const said of await page.evaluate(() => window.heard)) {
    const counted = [...said.matchAll(/(\d+) [a-z]+/g)].map(([, n]) => Number(n));
    assert.ok(counted.length === 0 || counted.reduce((a, b) => a + b) === parts.length, said);
  }
});
