// The sides of the editor fold away, tidying up leaves nothing out of sight, and
// what a run would fail of is said before it is published.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";
import { looked, shot } from "./look.mjs";

let house, workflow;
before(async () => {
  house = await open({ sample: true });
  const page = await house.page("/workflows");
  await page.getByRole("link", { name: "daily-sales-pipeline" }).first().click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  workflow = new URL(page.url()).pathname;
});
after(async () => { await house.close(); });

const fold = (page, name) => page.locator(".editpage > .graph").getByRole("button", { name, exact: true });
const card = (page, name) => page.locator("dog-canvas [role=option]", { hasText: name });
const settled = (page) => page.waitForFunction(() => document.querySelector("dog-canvas.ready") && !document.querySelector("#panel").inert);

test("both sides fold away by the keyboard, stay so, and come back for what is opened", async () => {
  const page = await house.page(workflow);
  await settled(page);
  const wide = await page.locator("dog-canvas").boundingBox();
  await page.getByTestId("palette").locator(".block").last().focus();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.fold), "palette");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");

  assert.equal(await fold(page, "Blocks").getAttribute("aria-expanded"), "false");
  assert.equal(await fold(page, "Details").getAttribute("aria-expanded"), "false");
  assert.ok(await page.getByTestId("palette").isHidden());
  assert.ok(await page.locator("#panel").isHidden());
  const wider = await page.locator("dog-canvas").boundingBox();
  assert.ok(wider.width > wide.width + 480, `the canvas has ${wider.width} of ${wide.width}`);
  await looked(page, "editor-folded");

  await page.reload();
  await settled(page);
  assert.ok(await page.getByTestId("palette").isHidden());
  assert.equal(await fold(page, "Details").getAttribute("aria-expanded"), "false");

  await card(page, "raw-to-curated").click();
  assert.ok(await page.locator("#panel").isHidden(), "a click selects and opens nothing");
  await page.keyboard.press("Enter");
  await page.locator("#panel h2", { hasText: "raw-to-curated" }).waitFor();
  assert.equal(await fold(page, "Details").getAttribute("aria-expanded"), "true");
  await fold(page, "Blocks").click();
  assert.ok(await page.getByTestId("palette").isVisible());
  await looked(page, "editor");
});

for (const [width, height] of [[1440, 900], [390, 844]]) test(`after tidying up every card is in sight, ${width} wide`, async () => {
  const page = await house.page(workflow, { width, height });
  await settled(page);
  for (let i = 0; i < 4; i++) await page.getByRole("button", { name: /Zoom in/ }).click();
  const outside = () => page.evaluate(() => {
    const stage = document.querySelector("dog-canvas .stage").getBoundingClientRect();
    return [...document.querySelectorAll("dog-canvas .node")].filter((node) => {
      const box = node.getBoundingClientRect();
      return box.left < stage.left || box.top < stage.top || box.right > stage.right || box.bottom > stage.bottom;
    }).length;
  });
  assert.ok((await outside()) > 0, "something is out of sight before");

  await page.getByRole("button", { name: /Tidy up/ }).click();

  await page.waitForFunction(() => {
    const stage = document.querySelector("dog-canvas .stage").getBoundingClientRect();
    return [...document.querySelectorAll("dog-canvas .node")].every((node) => {
      const box = node.getBoundingClientRect();
      return box.left >= stage.left && box.top >= stage.top && box.right <= stage.right && box.bottom <= stage.bottom;
    });
  });
  assert.equal(await outside(), 0);
  if (width === 1440) await shot(page, "tidied");
});

test("what a run would fail of is said at the text, in the dialog and before a job is published", async () => {
  const page = await house.page(workflow);
  await settled(page);
  await card(page, "raw-to-curated").click();
  const sql = page.locator("#panel textarea[name='step.0.sql']");
  await sql.waitFor();
  await sql.fill((await sql.inputValue()).replace(/FROM/i, "FORM"));
  await page.getByTestId("save-panel").click();
  const says = page.locator("#panel [data-testid=failing]");
  await says.waitFor();
  assert.match(await says.textContent(), /at line \d+, column \d+: syntax error/);
  await page.getByTestId("problems").getByText("1 warning").waitFor();
  await looked(page, "panel-failing");

  await page.getByTestId("publish").click();
  const dialog = page.getByTestId("publish-dialog");
  await dialog.getByTestId("fails").waitFor();
  assert.equal((await dialog.getByTestId("confirm-publish").textContent()).trim(), "Publish anyway");
  const diff = dialog.getByTestId("diff");
  assert.match(await diff.locator("del").first().textContent(), /^−.*FROM/i);
  assert.match(await diff.locator("ins").first().textContent(), /^\+.*FORM/);
  await looked(page, "publish-failing");
  await dialog.getByRole("button", { name: "Cancel" }).click();

  await page.getByRole("link", { name: /All of this job/ }).click();
  await page.getByTestId("failing").waitFor();
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.getByRole("button", { name: "Publish anyway" }).waitFor();
  await page.getByRole("alert").getByText("Nothing was saved or published yet").waitFor();
  await looked(page, "job-failing");
  assert.deepEqual(house.problems(), []);
});
