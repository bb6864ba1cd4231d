// The search does things, too, and a form of a job fixes the columns of a source: both
// by keys alone.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => {
  house = await open();
  const done = spawnSync(binary, ["workflow", "import", "--data", house.data, "-"], {
    input: `dogear: 1
workflow: {name: nightly, triggers: [{name: by hand, type: on_demand, start: [{job: load}]}]}
jobs:
  - name: load
    kind: sql
    bookmark: off
    sources: [{name: shop, path: ${house.data}/files/*.csv, format: csv, read: all}]
    steps: [{name: out, sql: "SELECT * FROM shop"}]
    sinks: [{from: out, path: ${house.data}/files/out, format: parquet, mode: append}]
`, encoding: "utf8",
  });
  assert.equal(done.status, 0, done.stderr);
});
after(async () => { await house.close(); assert.deepEqual(house.problems(), []); });

const find = async (page, text) => {
  await page.keyboard.press("Control+k");
  await page.locator("#palette input").fill(text);
  await page.locator("#palette li").first().waitFor();
  await page.keyboard.press("Enter");
};

test("a command of the search opens its dialog, on its page or over another", async () => {
  const page = await house.page("/health");
  await find(page, "new job");
  await page.waitForURL(/\/jobs$/); // the address that opened it is spent
  await page.locator("dialog#new-job[open]").waitFor();
  await page.keyboard.press("Escape");
  await find(page, "new job");
  await page.locator("dialog#new-job[open]").waitFor();
  await page.keyboard.press("Escape");

  await page.keyboard.press("Control+K"); // as with Caps Lock
  await page.locator("#palette input").fill("run night");
  await page.locator("#palette li", { hasText: "Run nightly" }).waitFor();
  await looked(page, "search-commands");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: /Run nightly v1 now\?/ }).waitFor();
  assert.ok(!(await page.locator("#palette").evaluate((e) => e.open)), "the search has made room");
});

test("the search presses the buttons of the page: the theme, and tidying up in the editor alone", async () => {
  const page = await house.page("/health");
  await page.keyboard.press("Control+k");
  await page.locator("#palette input").fill("tidy");
  await page.getByText("Nothing has that in its name").waitFor();
  await page.keyboard.press("Escape");
  await find(page, "dark");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  assert.ok(!(await page.locator("#palette").evaluate((e) => e.open)), "the search has made room");
  await page.reload();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark", "it stays chosen");

  await page.goto(house.address + "/workflows");
  await page.getByRole("link", { name: "nightly", exact: true }).first().click();
  await page.locator("dog-canvas.ready").waitFor();
  const card = page.locator("dog-canvas [role=option]", { hasText: "load" });
  const before = await card.getAttribute("data-x");
  const box = await card.boundingBox();
  await page.mouse.move(box.x + 40, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 240, box.y + 120, { steps: 8 });
  await page.mouse.up();
  await page.waitForFunction((x) => document.querySelector('dog-canvas [data-kind="job"]').dataset.x !== x, before);
  await page.keyboard.press("Control+k");
  await page.locator("#palette input").fill("tidy");
  await page.locator("#palette li", { hasText: "Tidy up" }).waitFor();
  await looked(page, "search-tidy");
  await page.keyboard.press("Enter");
  await page.waitForFunction((x) => document.querySelector('dog-canvas [data-kind="job"]').dataset.x === x, before);
});

test("columns are fixed by keys, and a wrong line is named and led to", async () => {
  const page = await house.page("/jobs?name=load");
  await page.getByRole("link", { name: "load", exact: true }).click();
  const summary = page.locator("summary", { hasText: "Columns and their types" });
  await summary.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  const field = page.getByLabel("Columns, one a line: its name, then its type");
  await page.waitForFunction(() => document.activeElement?.name === "source.0.schema");
  await page.keyboard.type("id BIGINT\nname VARCHR");
  await page.keyboard.press("Control+s");
  await page.getByText("The columns at line 2: there is no type VARCHR. Did you mean VARCHAR?").waitFor();
  await looked(page, "columns-wrong");
  const lead = page.getByRole("button", { name: "Go to line 2" });
  await lead.focus();
  await page.keyboard.press("Enter");
  assert.equal(await field.evaluate((e) => e.value.slice(0, e.selectionStart)), "id BIGINT\n");

  await page.keyboard.press("Control+End");
  await page.keyboard.press("Backspace");
  await page.keyboard.type("AR(10)");
  await page.keyboard.press("Control+s");
  await page.locator("summary", { hasText: "2 columns, fixed in this version" }).waitFor();
  assert.equal(await field.inputValue(), "id BIGINT\nname VARCHAR(10)");
  await looked(page, "columns");
});

test("run again says what it does, and where rows may stand twice", async () => {
  const page = await house.page("/workflows");
  const run = spawnSync(binary, ["workflow", "run", "--data", house.data, "--json", "nightly"], { encoding: "utf8" });
  const id = JSON.parse(run.stdout).id;
  await page.goto(`${house.address}/runs/${id}`);
  await page.locator("#run-again button").click();
  const dialog = page.getByTestId("again-dialog");
  await dialog.getByText("Reads its sources again, also what was read before.").waitFor();
  await dialog.getByText("rows may stand there twice").waitFor();
  await looked(page, "run-again-asks");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.ok(page.url().endsWith(id), "nothing was started");

  const phone = await house.page(`/runs/${id}`, { width: 390, height: 844, theme: "dark" });
  const name = phone.locator(".crumbs").getByText("nightly");
  await name.waitFor();
  const box = await name.boundingBox();
  assert.ok(box.x >= 0 && box.x + box.width <= 390, "the name of the workflow is on the screen of a phone");
});

// It is the last: it ends the session of all.
test("the search signs out", async () => {
  const page = await house.page("/health");
  await find(page, "sign out");
  await page.getByRole("navigation", { name: "Screens" }).waitFor({ state: "detached" });
  await page.goto(house.address + "/health");
  assert.equal(await page.getByRole("navigation", { name: "Screens" }).count(), 0, "nobody is signed in any more");
});
