// The moves of a bookmark in the browser, each from where people make it, and
// the way back from each.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";
import { looked, shot } from "./look.mjs";

let house;
let bookmark; // the path of its page
before(async () => {
  house = await open({ sample: true });
  const page = await house.page("/runs");
  await page.locator("main a[href^='/runs/']").first().click();
  await succeeded(page);
  await page.goto(house.address + "/bookmarks");
  await page.getByRole("link", { name: "raw-to-curated" }).click();
  await page.waitForURL(/\/bookmarks\/[0-9A-Z]{26}/);
  bookmark = new URL(page.url()).pathname;
});
after(async () => { await house?.close(); });

const succeeded = (page) => page.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 60_000 });
const figure = (page, name) => page.locator(".figure", { has: page.locator("dt", { hasText: name }) }).locator("dd").first();
const dialog = (page) => page.getByRole("dialog");
const stands = (page) => page.locator(".mark b").innerText();

// opened is the page of the bookmark once it has looked at its source.
async function opened() {
  const page = await house.page(bookmark);
  await page.getByTestId("days").waitFor();
  await page.getByTestId("coverage").waitFor(); // nothing moves down any more
  return page;
}

// another day's file comes, which then waits.
async function arrives() {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "Add the next day's files" }).click();
  await page.getByText(/Added \d{4}-\d\d-\d\d\.csv/).waitFor();
}

// ran runs the workflow to its end.
async function ran() {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "Run daily-sales-pipeline" }).click();
  await page.waitForURL(/\/runs\/[0-9A-Z]{26}/);
  await succeeded(page);
}

// undone takes the newest move back and returns the page as it is then.
async function undone(page) {
  await page.getByRole("button", { name: "Undo" }).first().click();
  await dialog(page).getByRole("button", { name: "Undo" }).click();
  await page.getByText(/undone, as in v\d+/).first().waitFor();
  return opened();
}

test("a bookmark is paused from the list, stays where it is while its job reads, and is resumed", async () => {
  await arrives();
  const then = await opened();
  const [before, waits] = [await stands(then), await figure(then, "Waiting").innerText()];
  const list = await house.page("/bookmarks");
  await list.getByRole("button", { name: "Pause sales_csv" }).click();
  await list.locator("#toasts", { hasText: "sales_csv: paused." }).waitFor();
  const row = list.locator("[data-testid=bookmarks] tr", { hasText: "raw-to-curated" });
  await row.locator(".pill", { hasText: "Paused" }).waitFor();
  await looked(list, "list-paused");

  await ran();
  const page = await opened();
  assert.equal(await stands(page), before);
  assert.equal(await figure(page, "Waiting").innerText(), waits);

  await list.getByRole("button", { name: "Resume sales_csv" }).click();
  await row.locator(".pill", { hasText: /^\s*On\s*$/ }).waitFor();
  await ran();
  assert.equal(await figure(await opened(), "Waiting").innerText(), "0 files");
});

test("a bookmark is paused on its card and resumed on its page, and each place follows the other", async () => {
  const canvas = await house.page("/workflows");
  await canvas.locator("main a[href^='/workflows/']").first().click();
  await canvas.locator("dog-canvas.ready").waitFor();
  const card = canvas.locator("dog-canvas .node", { hasText: "raw-to-curated" });
  await card.locator(".lag", { hasText: "up to date" }).waitFor();
  const page = await opened();

  await card.click({ button: "right", position: { x: 60, y: 40 } });
  await canvas.getByRole("menuitem", { name: "Pause bookmark" }).click();
  await card.locator(".lag", { hasText: "paused" }).waitFor();
  await page.locator("[data-testid=history] tr", { hasText: "paused" }).first().waitFor();

  await page.reload();
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  await card.locator(".lag", { hasText: "up to date" }).waitFor();
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
});

test("the mark is dragged back and then to the end: what waits counts as read, until that is undone", async () => {
  let page = await opened();
  const all = await figure(page, "Read so far").innerText();
  await page.getByRole("slider", { name: /bookmark/i }).focus();
  for (const key of ["ArrowLeft", "ArrowLeft", "ArrowLeft", "Enter"]) await page.keyboard.press(key);
  await dialog(page).getByRole("button", { name: "Read again" }).click();
  await page.getByText(/to be read again/).first().waitFor();
  page = await opened();
  const [waits, at] = [await figure(page, "Waiting").innerText(), await stands(page)];
  assert.notEqual(waits, "0 files");

  const mark = page.getByRole("slider", { name: /bookmark/i });
  const from = await mark.boundingBox();
  const days = await page.getByTestId("days").boundingBox();
  await page.mouse.move(from.x + 1, from.y + 60);
  await page.mouse.down();
  await page.mouse.move(days.x + days.width - 2, from.y + 60, { steps: 6 });
  await page.getByText("set to now", { exact: true }).waitFor();
  await page.mouse.up();
  await dialog(page).getByText(/\d+ files count as read without having been read\./).waitFor();
  await looked(page, "set-now");
  await page.keyboard.press("Escape");
  await page.getByText(at, { exact: true }).waitFor(); // it went back

  await mark.focus();
  for (const key of ["End", "Enter"]) await page.keyboard.press(key);
  await dialog(page).getByLabel("Reason").fill("loaded by hand");
  await dialog(page).getByRole("button", { name: "Set to now" }).click();
  await page.getByText("loaded by hand").waitFor();
  page = await opened();
  assert.equal(await figure(page, "Waiting").innerText(), "0 files");
  assert.equal(await figure(page, "Read so far").innerText(), all);

  page = await undone(page);
  assert.equal(await figure(page, "Waiting").innerText(), waits);
});

test("a branch is tried, promoted and dropped, each after it was said what that does, and the promotion undone", async () => {
  const page = await opened();
  const waits = await figure(page, "Waiting").innerText();
  await page.getByRole("button", { name: "Make one" }).click();
  await dialog(page).getByLabel("Name").fill("what if");
  await dialog(page).getByRole("button", { name: "Make the branch" }).click();
  await page.getByText("Branch what if").waitFor();
  await page.getByTestId("moves").click();
  await page.getByRole("button", { name: "Read files again…" }).click();
  await page.getByLabel("Path pattern").fill("nothing-*.csv");
  await page.getByRole("button", { name: "See what it would do" }).click();
  await page.getByText("Nothing that counts as read fits nothing-*.csv.").waitFor();
  await page.getByLabel("Path pattern").fill("*.csv");
  await page.getByRole("button", { name: "See what it would do" }).click();
  await page.getByText(/Only this branch moves/).waitFor();
  await dialog(page).getByRole("button", { name: "Read again" }).click();
  await page.getByText("*.csv", { exact: true }).waitFor();

  let trunk = await opened();
  const branch = trunk.getByTestId("branch");
  await branch.getByText(/By it, a run would read \d+ files/).waitFor();
  assert.equal(await figure(trunk, "Waiting").innerText(), waits);
  await branch.getByRole("button", { name: /Promote/ }).click();
  await dialog(trunk).getByText(/The next run reads \d+ files.*were read before/).waitFor();
  await dialog(trunk).getByText(/merged on order_id: no row stands twice/).waitFor();
  await looked(trunk, "promote");
  await trunk.keyboard.press("Escape");
  assert.equal(await figure(trunk, "Waiting").innerText(), waits);
  await branch.getByRole("button", { name: /Promote/ }).click();
  await dialog(trunk).getByLabel("Reason").fill("it is right");
  await dialog(trunk).getByRole("button", { name: "Promote" }).click();
  await trunk.getByText("from the branch what if: it is right").waitFor();

  trunk = await undone(trunk);
  assert.equal(await figure(trunk, "Waiting").innerText(), waits);
  await trunk.getByTestId("branch").getByRole("button", { name: /Drop/ }).click();
  await dialog(trunk).getByText("A drop cannot be undone.", { exact: false }).waitFor();
  await looked(trunk, "drop");
  await dialog(trunk).getByRole("button", { name: "Drop" }).click();
  await trunk.getByText("None. A branch is a copy").waitFor();
});

test("a bookmark goes to AWS Glue and comes back, after it was said what the file does", async () => {
  await ran(); // nothing older than what was read waits
  const page = await opened();
  await page.getByTestId("moves").click();
  const saved = page.waitForEvent("download");
  await page.getByRole("link", { name: "Export for AWS Glue" }).click();
  const file = await (await saved).path();
  assert.match(JSON.parse(readFileSync(file, "utf8")).JobBookmarkEntry.JobBookmark, /HadoopDataSourceJobBookmarkState/);
  await page.getByRole("button", { name: "Reset…" }).click();
  await dialog(page).getByRole("button", { name: "Reset" }).click();
  await page.getByText(/reset, \d+ files no longer count as read/).first().waitFor();

  const back = await opened();
  await back.getByTestId("moves").click();
  await back.getByRole("button", { name: "Import…" }).click();
  await back.getByLabel("File", { exact: true }).setInputFiles(file);
  await back.getByRole("button", { name: "See what it would do" }).click();
  await back.getByText("Nothing was changed.").waitFor(); // it is no bookmark of ours
  await looked(back, "import-refused");
  await back.getByLabel("The file is").selectOption({ label: "a job bookmark of AWS Glue" });
  await back.getByRole("button", { name: "See what it would do" }).click();
  await back.getByText(/\d+ files that do not count as read now would count as read/).waitFor();
  await looked(back, "import-glue");
  await dialog(back).getByLabel("Reason").fill("back from AWS");
  await dialog(back).getByRole("button", { name: "Import" }).click();
  await back.getByText("from AWS Glue's raw-to-curated", { exact: false }).first().waitFor();
  const then = await opened();
  assert.equal(await figure(then, "Waiting").innerText(), "0 files");
  await shot(then, "bookmark");
});

test("on a phone the lists of bookmarks and crawlers fit", async () => {
  for (const path of ["/bookmarks", "/crawlers"]) {
    const page = await house.page(path, { width: 390, height: 844 });
    const wide = await page.evaluate(() => [document.documentElement, ...document.querySelectorAll(".scroll")].map((e) => e.scrollWidth - e.clientWidth));
    assert.deepEqual(wide.filter((more) => more > 0), [], path);
    await looked(page, "phone" + path.replace("/", "-"));
  }
});

test("nothing was reported by the browser", () => {
  assert.deepEqual(house.problems(), []);
});
