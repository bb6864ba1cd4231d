// Somebody draws a workflow that begins with an event: first with calls, sent by
// the very command that the panel shows, then with files that arrive.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let house, inbox, old;
before(async () => {
  house = await open();
  inbox = join(house.data, "files", "in");
  mkdirSync(inbox, { recursive: true });
  old = new Date(Date.now() - 3600_000);
  put("before.csv");
});
after(async () => {
  assert.deepEqual(house.problems(), []);
  await house.close();
});

// put drops a file that was complete long ago.
function put(name) {
  writeFileSync(join(inbox, name), "id,amount\n1,10\n");
  utimesSync(join(inbox, name), old, old);
}

const yaml = (name, event) => `dogear: 1
workflow:
  name: ${name}
  triggers:
    - name: arrivals
      type: event
      event: ${event}
      start: [{job: ${name} copy}]
jobs:
  - name: ${name} copy
    kind: sql
    bookmark: enabled
    sources: [{name: input, path: in/*.csv, format: csv}]
    steps: [{name: out, sql: SELECT * FROM input}]
    sinks: [{from: out, path: out-${name}, format: parquet}]
`;

const dogear = (input, ...args) => execFileSync(binary, [...args.slice(0, 2), "--data", house.data, ...args.slice(2)], { input, encoding: "utf8" });

const card = (page, kind) => page.locator(`dog-canvas li[data-kind=${kind}]`);
const saved = (page) => page.getByText("Saved", { exact: true }).waitFor();

// middle is where a mouse meets an element.
async function middle(locator) {
  const box = await locator.boundingBox();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= 8; i++) await page.mouse.move(from.x + ((to.x - from.x) * i) / 8, from.y + ((to.y - from.y) * i) / 8);
  await page.mouse.up();
}

// drop pulls a block of the palette onto the canvas.
async function drop(page, block, x, y) {
  const canvas = await page.locator("dog-canvas").boundingBox();
  await drag(page, await middle(page.locator(`[data-block=${block}]`)), { x: canvas.x + x, y: canvas.y + y });
}

// connect pulls a line from the right port of a card onto another card.
async function connect(page, from, to) {
  const start = await from.boundingBox();
  await drag(page, { x: start.x + start.width, y: start.y + start.height / 2 }, await middle(to));
}

// publish publishes what is drawn and waits until that is done.
async function publish(page) {
  await page.getByRole("button", { name: /^Publish/ }).first().click();
  const dialog = page.locator("dialog[open]");
  await dialog.getByRole("button", { name: /publish/i }).last().click();
  await dialog.waitFor({ state: "detached" });
}

async function editor(name) {
  const page = await house.page("/workflows");
  await page.getByRole("link", { name, exact: true }).first().click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  await card(page, "event").click();
  await page.getByTestId("events").waitFor();
  return page;
}

test("the command that the panel shows starts a run, once", async () => {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "New workflow" }).first().click();
  await page.getByLabel("Name").fill("called");
  await page.getByRole("button", { name: "Create and draw" }).click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  await drop(page, "event", 110, 300);
  await card(page, "event").waitFor();
  await drop(page, "crawler", 440, 300);
  await card(page, "crawler").waitFor();
  await connect(page, card(page, "event"), card(page, "crawler"));
  await saved(page);

  // The crawler needs a place; the trigger becomes one for calls.
  await card(page, "crawler").click();
  await page.locator("#target\\.0\\.path").fill("in");
  await page.locator("#database").fill("lake");
  await page.getByTestId("save-panel").click();
  await page.getByText("Saved in the draft.").waitFor();
  await card(page, "event").click();
  await page.getByLabel("Events are").selectOption("calls");
  assert.ok(!(await page.getByRole("textbox", { name: /^Folder or prefix/ }).isVisible()), "calls have no folder");
  await page.getByTestId("save-panel").click();
  await page.getByText("Saved in the draft.").waitFor();
  await card(page, "event").getByText("Each call").waitFor();
  await page.getByText("no call is taken").waitFor();
  await publish(page);
  await page.getByTestId("events").getByText("Nothing waits.").waitFor();
  await page.getByTestId("make-secret").click();
  await page.getByTestId("secret").waitFor();
  const command = await page.getByTestId("curl").textContent();
  const anew = page.waitForResponse((r) => r.request().method() === "GET" && /\/cards\/[^/]+$/.test(new URL(r.url()).pathname));
  await page.evaluate(() => document.body.dispatchEvent(new CustomEvent("dogear:workflows-changed")));
  await (await anew).finished();
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  assert.ok(await page.getByTestId("secret").isVisible(), "a panel that is drawn anew keeps the secret, which is shown this once");

  const taken = JSON.parse(execFileSync("bash", ["-c", command], { encoding: "utf8" }));

  const list = page.getByTestId("event-list");
  await list.getByText('{"hello": "world"}').waitFor();
  const run = list.getByRole("link", { name: /run/ });
  await run.waitFor();
  assert.equal(await list.getByRole("listitem").count(), 1);
  const forged = JSON.parse(execFileSync("bash", ["-c", command.replace("hello", "forged").replace(/^secret='whsec_./, "secret='whsec_x")], { encoding: "utf8" }));
  assert.equal(forged.code, "unsigned");
  await run.click();
  await page.getByTestId("run-events").getByText("Started by 1 event").waitFor();
  await page.getByRole("link", { name: "What came" }).click();
  await page.getByTestId("came").getByText(taken.id).waitFor();
  await page.locator("#run-head .pill", { hasText: /Succeeded|failed/i }).waitFor({ timeout: 30_000 });
});

test("a batch of files starts a run, and what lay there before does not", async () => {
  dogear(yaml("landed", "{source: files, path: in/*.csv, batch_size: 2, batch_window_seconds: 900, every_seconds: 1}"), "workflow", "import", "-");
  const page = await editor("landed");
  await card(page, "event").getByText("2 files, or 15 min").waitFor();
  await page.getByText(/Looked last/).waitFor();
  await page.waitForFunction(() => !document.body.textContent.includes("It has not looked yet"));

  put("a.csv");
  await page.getByTestId("events").getByText("1 of 2 waiting.").waitFor();
  put("b.csv");
  await page.getByTestId("event-list").getByRole("link", { name: /run/ }).nth(1).waitFor();

  const text = await page.getByTestId("event-list").textContent();
  assert.ok(text.includes("a.csv") && text.includes("b.csv") && !text.includes("before.csv"), text);
});

test("a batch that cannot start says why, and can be discarded", async () => {
  dogear(yaml("held", "{source: calls, batch_size: 1}").replace("  triggers:", "  max_runs: 1\n  triggers:").replace("SELECT * FROM input", "'SELECT input.* FROM input, (SELECT count(*) FROM range(30000000000)) AS slow'"), "workflow", "import", "-");
  const page = await editor("held");

  dogear("", "event", "send", "--workflow", "held", "--id", "first");
  await page.getByTestId("event-list").getByRole("link", { name: /run/ }).waitFor();
  dogear("", "event", "send", "--workflow", "held", "--id", "second", "--detail", '{"n": 2}');

  await page.getByTestId("events").getByText(/Concurrent runs exceeded/).waitFor();
  page.once("dialog", (d) => void d.accept());
  await page.getByRole("button", { name: "Discard what waits" }).click();
  await page.getByText(/discarded by/).waitFor();
  await page.getByTestId("events").getByText("Nothing waits.").waitFor();
  dogear("", "run", "stop", (await page.getByTestId("event-list").getByRole("link", { name: /run/ }).getAttribute("href")).split("/").pop());
});

test("axe finds nothing serious beside the graph, and no panel is wider than a phone", async () => {
  const findings = [];
  for (const name of ["called", "landed", "held"]) {
    const page = await editor(name);
    await page.evaluate(axe);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      for (const v of violations) {
        if (v.impact === "serious" || v.impact === "critical") findings.push(`${name}, ${colorScheme}: ${v.id}: ${v.nodes[0].html.slice(0, 120)}`);
      }
    }
    const phone = await house.page(page.url().replace(house.address, ""), { width: 390, height: 844 });
    await phone.getByTestId("events").waitFor();
    const over = await phone.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) findings.push(`${name} is wider than a phone by ${over} px`);
  }
  assert.deepEqual(findings, []);
});
