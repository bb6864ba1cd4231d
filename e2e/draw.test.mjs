// Somebody draws a pipeline of their own by mouse, from an empty canvas, is
// refused a loop, publishes it and runs it.
import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";

let house;
before(async () => {
  house = await open();
  const dir = join(house.data, "files", "in");
  mkdirSync(dir, { recursive: true });
  const past = new Date(Date.now() - 3600_000);
  for (const [name, text] of [["a.csv", "id,amount\n1,10\n2,20\n"], ["b.csv", "id,amount\n3,30\n"]]) {
    writeFileSync(join(dir, name), text);
    utimesSync(join(dir, name), past, past);
  }
});
after(async () => { await house.close(); });

// middle is where a mouse meets an element.
async function middle(locator) {
  const box = await locator.boundingBox();
  assert.ok(box, "the element has a place");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(page, from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= 8; i++) await page.mouse.move(from.x + ((to.x - from.x) * i) / 8, from.y + ((to.y - from.y) * i) / 8);
  await page.mouse.up();
}

const card = (page, kind) => page.locator(`dog-canvas li[data-kind=${kind}]`);

// connect pulls a line from the right port of a card onto another card.
async function connect(page, from, to) {
  const start = await from.boundingBox();
  await drag(page, { x: start.x + start.width, y: start.y + start.height / 2 }, await middle(to));
}

// drop pulls a block of the palette onto the canvas.
async function drop(page, block, x, y) {
  const canvas = await page.locator("dog-canvas").boundingBox();
  await drag(page, await middle(page.locator(`[data-block=${block}]`)), { x: canvas.x + x, y: canvas.y + y });
}

const saved = (page) => page.getByText("Saved", { exact: true }).waitFor();

test("a pipeline is drawn, refused a loop, published and run", async () => {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "New workflow" }).first().click();
  await page.getByLabel("Name").fill(`Müller's "first" <pipeline>`);
  await page.getByRole("button", { name: "Create and draw" }).click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);

  await drop(page, "scheduled", 110, 300);
  await card(page, "scheduled").waitFor();
  await drop(page, "job", 340, 300);
  await card(page, "job").waitFor();
  await drop(page, "crawler", 600, 300);
  await card(page, "crawler").waitFor();
  await saved(page);

  await connect(page, card(page, "scheduled"), card(page, "job"));
  await connect(page, card(page, "job"), card(page, "crawler"));
  await page.locator("dog-canvas").getByText(/on success/i).first().waitFor();
  await saved(page);

  await connect(page, card(page, "crawler"), card(page, "job"));
  await page.getByRole("alert").filter({ hasText: /loop|already runs before/i }).waitFor();

  // The job gets its definition on its own page.
  await card(page, "job").click();
  const href = await page.locator("#panel a[href^='/jobs/'], aside a[href^='/jobs/']").first().getAttribute("href");
  await define(href);
  await card(page, "crawler").click();
  const crawlerHref = await page.locator("#panel a[href^='/crawlers/'], aside a[href^='/crawlers/']").first().getAttribute("href");
  await aim(crawlerHref);

  await page.reload();
  await page.getByRole("button", { name: /Publish and run/ }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  await dialog.getByRole("button", { name: /publish/i }).last().click();
  await page.waitForURL(/\/runs\//, { timeout: 30_000 });
  await page.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 60_000 });
  for (const kind of ["job", "crawler"]) await card(page, kind).filter({ hasText: "Succeeded" }).waitFor();
  assert.match(await card(page, "job").innerText(), /3 rows/);
});

// define fills in the form of a job: what it reads and where it writes.
async function define(href) {
  const page = await house.page(href);
  const add = async (what, label) => {
    if (await page.getByLabel(label).count() > 0) return;
    await page.getByRole("button", { name: what }).click();
    await page.getByLabel(label).first().waitFor();
  };
  await add(/Add a source/, "Name in SQL");
  await page.getByLabel(/Folder or address/).first().fill("in/*.csv");
  await add(/Add a target/, "Rows of");
  await page.getByLabel("Target folder or prefix", { exact: true }).fill("out");
  await page.getByRole("button", { name: "Save the draft" }).click();
  await page.getByText(/the draft differs|Never published/).waitFor();
}

// aim says where a crawler looks and which database it writes.
async function aim(href) {
  const page = await house.page(href);
  await page.getByLabel(/Database/).fill("mine");
  await page.getByLabel("Folder or prefix", { exact: true }).fill("out");
  const saved = page.waitForResponse((r) => r.request().method() === "POST" && r.url().includes("/crawlers/"));
  await page.getByRole("button", { name: "Save and publish" }).click();
  assert.equal((await saved).status(), 200);
}

test("nothing was reported by the browser", () => {
  assert.deepEqual(house.problems(), []);
});
