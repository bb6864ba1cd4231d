// A bookmark as a person uses it: the mark is dragged back and those days are
// read again, a file is held and released, a changed source is asked about, and
// a run that failed goes on from its page.
import assert from "node:assert/strict";
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

// opened is the page of the bookmark once it has looked at its source.
async function opened() {
  const page = await house.page(bookmark);
  await page.getByTestId("days").waitFor();
  await page.getByTestId("coverage").waitFor(); // nothing moves down any more
  return page;
}

// boxes are where elements lie, all of them at one moment: what follows the
// bookmark may be drawn anew at any other.
async function boxes(list) {
  await list.first().waitFor();
  return list.evaluateAll((all) => all.map((element) => element.getBoundingClientRect().toJSON()));
}

const figure = (page, name) => page.locator(".figure", { has: page.locator("dt", { hasText: name }) }).locator("dd").first();

// ran runs the workflow to its end and returns the inputs of its first job.
async function ran() {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "Run daily-sales-pipeline" }).click();
  await page.waitForURL(/\/runs\/[0-9A-Z]{26}/);
  await succeeded(page);
  const run = new URL(page.url()).pathname;
  const card = await page.locator("dog-canvas .node", { hasText: "raw-to-curated" }).getAttribute("data-id");
  await page.goto(`${house.address}${run}?node=${card}&tab=inputs`);
  await page.locator(".panel table").first().waitFor();
  return page;
}

test("dragging the mark back over two days says what it would do, and those days are read again", async () => {
  const page = await opened();
  const days = page.locator("[data-testid=days] .bar");
  const titles = await days.evaluateAll((bars) => bars.slice(-2).map((bar) => bar.title));
  const files = titles.reduce((sum, title) => sum + Number(title.match(/: (\d+) files? read/)[1]), 0);
  const mark = page.getByRole("slider", { name: /bookmark/i });
  const [[from], to] = [await boxes(mark), (await boxes(days)).at(-2)];
  await page.mouse.move(from.x + 1, from.y + 60);
  await page.mouse.down();
  await page.mouse.move(to.x + 1, from.y + 60, { steps: 8 });
  const day = titles[0].slice(0, titles[0].indexOf(":"));
  await page.getByText(`read again from ${day}`).waitFor();
  await page.mouse.up();

  const dialog = page.getByRole("dialog");
  await dialog.getByText(new RegExp(`The next run reads ${files} files.*were read before`)).waitFor();
  await dialog.getByText(/merged on order_id: no row stands twice/).waitFor();
  await looked(page, "read-again");
  await page.keyboard.press("Escape");
  await page.getByText("bookmark v1", { exact: true }).waitFor(); // it went back

  await mark.focus();
  for (const key of ["ArrowLeft", "ArrowLeft", "Enter"]) await page.keyboard.press(key);
  await dialog.getByLabel("Reason").fill("prices were wrong");
  await dialog.getByRole("button", { name: "Read again" }).click();
  await page.getByText("prices were wrong").waitFor();
  await page.getByTestId("days").waitFor();
  assert.equal(await figure(page, "Waiting").innerText(), `${files} files`);

  const inputs = await ran();
  const again = inputs.locator("[data-testid=inputs] tr", { hasText: "Read again" });
  assert.equal(await again.count(), files);
  const then = await opened();
  assert.equal(await figure(then, "Waiting").innerText(), "0 files");
});

test("bars are dragged across to read their days beside the bookmark", async () => {
  const page = await opened();
  const version = await page.locator(".mark b").innerText();
  const days = page.locator("[data-testid=days] .bar");
  const [, , , from, , to] = await boxes(days);
  await page.mouse.move(from.x + 2, from.y + 4);
  await page.mouse.down();
  await page.mouse.move(to.x + 2, from.y + 4, { steps: 5 });
  await page.mouse.up();
  await page.getByRole("dialog").getByRole("button", { name: "Read them now" }).click();
  await page.waitForURL(/\/runs\/[0-9A-Z]{26}/);
  await succeeded(page);
  await page.getByText(/Reads again beside the bookmarks/).waitFor();
  await page.getByText("3", { exact: true }).first().waitFor(); // files
  const then = await opened();
  assert.equal(await then.locator(".mark b").innerText(), version);
});

test("the map of source against target is dragged over to read its months again", async () => {
  const page = await opened();
  const cells = page.getByTestId("coverage").locator(".cell");
  await cells.first().waitFor();
  await looked(page, "coverage");
  const files = (await cells.evaluateAll((list) => list.map((cell) => cell.title))).map((title) => Number(title.match(/(\d+) files? read/)[1]));
  const [from, to] = await boxes(cells);
  await page.mouse.move(from.x + 6, from.y + 6);
  await page.mouse.down();
  await page.mouse.move(to.x + 6, to.y + 6, { steps: 4 });
  await page.mouse.up();
  await page.getByRole("dialog").getByText(`Read again: ${files[0] + files[1]} chosen files`).waitFor();
  await page.keyboard.press("Escape");
  await cells.nth(1).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").getByText(`Read again: ${files[1]} chosen files`).waitFor();
});

test("a file is held, left by the run, and read once it is released", async () => {
  const add = await house.page("/workflows");
  await add.getByRole("button", { name: "Add the next day's files" }).click();
  await add.getByText(/Added \d{4}-\d\d-\d\d\.csv/).waitFor();
  const page = await opened();
  const row = page.locator("[data-testid=waiting] tr", { hasText: "Waiting" }).first();
  const name = await row.locator("td").first().innerText();
  await row.getByRole("button", { name: /Hold/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 file held until released.").waitFor();
  await looked(page, "hold");
  await dialog.getByLabel("Reason").fill("half of it is missing");
  await dialog.getByRole("button", { name: "Hold" }).click();
  await page.getByText(/held by \S+: half of it is missing/).first().waitFor();

  let inputs = await ran();
  await inputs.locator("[data-testid=inputs] tr", { hasText: name }).filter({ hasText: "Held" }).waitFor();
  const then = await opened();
  await then.locator("[data-testid=waiting] tr", { hasText: name }).getByRole("button", { name: /Release/ }).click();
  await then.getByRole("dialog").getByRole("button", { name: "Release" }).click();
  await then.getByText("released", { exact: false }).first().waitFor();
  inputs = await ran();
  await inputs.locator("[data-testid=inputs] tr", { hasText: name }).filter({ hasText: "Read again" }).waitFor();

  const story = await opened();
  await story.getByLabel("Part of the file's name").fill(name);
  await story.getByRole("button", { name: /Its story/ }).first().click();
  await story.getByTestId("story").getByText(/\.parquet/).first().waitFor();
  await looked(story, "story");
});

test("every dialog of a move can be read by everybody", async () => {
  const page = await opened();
  for (const [item, name] of [["Rewind…", "rewind"], ["Read files again…", "choose"], ["Make a branch…", "branch"], ["Import…", "import"], ["Set to now…", "set-now"]]) {
    await page.getByTestId("moves").click();
    await page.getByRole("button", { name: item }).click();
    if (name === "set-now") { // nothing waits, so it is refused
      await page.locator(".toast.bad", { hasText: "read already" }).waitFor();
      continue;
    }
    await page.getByRole("dialog").waitFor();
    await looked(page, name);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  }
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByTestId("compare").waitFor();
  await looked(page, "compare");
});

test("a card says what waits, and its bookmark is paused and reset from the card's menu", async () => {
  const page = await house.page("/workflows");
  await page.locator("main a[href^='/workflows/']").first().click();
  await page.locator("dog-canvas.ready").waitFor();
  const card = page.locator("dog-canvas .node", { hasText: "raw-to-curated" });
  await card.locator(".lag", { hasText: "up to date" }).waitFor();
  const choose = async (item) => {
    await card.click({ button: "right", position: { x: 60, y: 40 } });
    await page.getByRole("menuitem", { name: item }).click();
  };
  await choose("Pause bookmark");
  await card.locator(".lag", { hasText: "paused" }).waitFor();
  await choose("Resume bookmark");
  await card.locator(".lag:not(.warn)").waitFor();
  await choose("Reset bookmark…");
  await page.getByRole("dialog").getByText(/The next run reads 62 files/).waitFor();
  await looked(page, "reset-job");
  await page.keyboard.press("Escape");
});

test("a changed source is asked about before anything reads by its bookmark", async () => {
  const page = await house.page("/jobs");
  await page.getByRole("link", { name: "raw-to-curated" }).click();
  const path = page.locator('[name="source.0.path"]');
  await path.fill((await path.inputValue()).replace("*.csv", "2*.csv"));
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.getByText("v2 runs, as shown.").waitFor();
  const asked = await house.page(bookmark);
  await asked.getByRole("heading", { name: "Is this the same source?" }).waitFor();
  await looked(asked, "differs");
  await asked.getByRole("button", { name: "It is the same thing" }).click();
  await asked.getByRole("dialog").getByText(/What was read stays read/).waitFor();
  await asked.getByRole("dialog").getByRole("button", { name: "Same thing" }).click();
  await asked.getByTestId("days").waitFor();
  assert.equal(await figure(asked, "Waiting").innerText(), "0 files");
});

test("a run that failed goes on from its page", async () => {
  const job = await house.page("/jobs");
  await job.getByRole("link", { name: "legacy-csv-export" }).click();
  await job.waitForURL(/\/jobs\/[0-9A-Z]{26}/);
  const at = job.url();
  const good = await publish(job, "SELECT error('the disk is full') AS broken FROM orders");
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "Run daily-sales-pipeline" }).click();
  await page.waitForURL(/\/runs\/[0-9A-Z]{26}/);
  await page.locator("#run-head .pill", { hasText: "Partly failed" }).waitFor({ timeout: 60_000 });
  const first = page.url();
  await job.goto(at);
  await publish(job, good);

  await page.getByRole("button", { name: "Resume…" }).click();
  const dialog = page.getByTestId("resume");
  assert.equal(await dialog.getByLabel("What becomes of legacy-csv-export").inputValue(), "again");
  assert.equal(await dialog.getByLabel("What becomes of raw-to-curated").inputValue(), "keep");
  await looked(page, "resume");
  await dialog.getByRole("button", { name: "Resume" }).click();
  await page.waitForURL((url) => String(url) !== first);
  await succeeded(page);
  await page.getByText(/Resumes run/).waitFor();
  await page.locator("dog-canvas .node", { hasText: "raw-to-curated" }).filter({ hasText: "copied" }).waitFor();
  await shot(page, "resumed");
});

// publish makes the only step of the job on page say sql, and returns what it
// said before.
async function publish(page, sql) {
  const area = page.locator('textarea[name="step.0.sql"]');
  await area.waitFor({ state: "attached" });
  const before = await area.inputValue();
  await page.locator(".cm-content").first().click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(sql);
  const base = await page.locator("[name=base]").inputValue();
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.locator(`[name=base]:not([value="${base}"])`).waitFor({ state: "attached" });
  return before;
}

test("nothing was reported by the browser", () => {
  assert.deepEqual(house.problems(), []);
});
