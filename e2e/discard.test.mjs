// What a draft changed is discarded, and an undo brings it back; cards and panels say
// at once what is wrong, what is mended, and what still fires.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";

let house, workflow;
before(async () => {
  house = await open({ sample: true });
  await house.quiet();
  const page = await house.page("/workflows");
  workflow = await page.getByRole("link", { name: "daily-sales-pipeline" }).first().getAttribute("href");
  await page.close();
});
after(async () => {
  assert.deepEqual(house.problems(), []);
  await house.close();
});

const card = (page, kind) => page.locator(`dog-canvas li[data-kind=${kind}]`);
const saved = (page) => page.getByText("Saved in the draft.").waitFor();
const shown = (page) => process.env.DOGEAR_SHOTS && page.waitForTimeout(400); // for pictures alone

async function picture(page, name) {
  if (!process.env.DOGEAR_SHOTS) return;
  await shown(page);
  await page.screenshot({ path: `${process.env.DOGEAR_SHOTS}/${name}.png` });
}

async function discard(page) {
  await page.getByTestId("more").click();
  await page.locator("#edit-head").getByTestId("discard-draft").click();
  const dialog = page.getByTestId("discard-dialog");
  await dialog.waitFor();
  return dialog;
}

test("a schedule that is off in the draft alone says so, is discarded, and an undo turns it off again", async () => {
  const page = await house.page(workflow);
  const schedule = card(page, "scheduled").first();
  await schedule.click();
  await page.locator("#panel input[name=enabled]").uncheck();
  await page.getByTestId("save-panel").click();
  await saved(page);

  await schedule.getByText("Off in the draft").waitFor();
  assert.match(await schedule.locator("[data-slot=sub]").getAttribute("title"), /^Version \d+ still fires until you publish, or turn it off now\.$/);
  const [wide, room] = await schedule.locator("[data-slot=sub]").evaluate((e) => [e.scrollWidth, e.clientWidth]);
  assert.ok(wide <= room, `the words are ${wide} px wide, and have ${room}`);
  await page.locator("#panel").getByText("still fires until you publish").waitFor();
  await picture(page, "off-in-draft");
  const dialog = await discard(page);
  assert.match(await dialog.innerText(), /Switch/);
  await picture(page, "discard-dialog");
  await dialog.getByTestId("confirm-discard").click();
  await page.locator("#edit-head", { hasNotText: "not published" }).waitFor();
  await schedule.getByText("Off in the draft").waitFor({ state: "hidden" });
  assert.doesNotMatch(await schedule.innerText(), /Off/);

  await page.locator("[data-act=undo]").click();
  await schedule.getByText("Off in the draft").waitFor();
  await page.locator("#edit-head").getByText("1 change not published").waitFor();
  await (await discard(page)).getByTestId("confirm-discard").click();
  await page.locator("#edit-head", { hasNotText: "not published" }).waitFor();
});

test("a card is marked and cleared by what its panel saves, without a change of the graph", async () => {
  const page = await house.page(workflow);
  const job = card(page, "job").filter({ hasText: "raw-to-curated" });
  await job.click();
  const sql = page.locator("#panel [name='step.0.sql']");
  const good = await sql.inputValue();
  await sql.fill("SELECT * FORM nothing");
  await page.getByTestId("save-panel").click();
  await saved(page);

  await page.locator("dog-canvas li.warned", { hasText: "raw-to-curated" }).waitFor();
  assert.equal(await job.locator(".badge").isVisible(), true);
  await page.getByTestId("problems").getByText("1 warning").waitFor();
  await page.getByTestId("problems").click();
  await picture(page, "warning");
  await page.getByTestId("problems").click();

  await sql.fill(good);
  await page.getByTestId("save-panel").click();
  await saved(page);
  await page.locator("dog-canvas li.warned").waitFor({ state: "detached" });
  await page.close();
});

test("a schedule that is wired says no more that it starts nothing", async () => {
  const page = await house.page(workflow);
  await page.locator("[data-block=scheduled]").click();
  const fresh = card(page, "scheduled").last();
  await page.locator("#panel").getByText("It starts nothing yet").waitFor();
  await page.locator("#panel [name=zone]").fill("Europe/Berlin"); // and does not save it yet
  const from = await fresh.boundingBox();
  const to = await card(page, "job").filter({ hasText: "raw-to-curated" }).boundingBox();
  await page.mouse.move(from.x + from.width, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 8 });
  await page.mouse.up();

  await page.locator("#panel").getByText("It starts nothing yet").waitFor({ state: "hidden" });
  assert.equal(await page.locator("#panel [name=zone]").inputValue(), "Europe/Berlin");
  await page.getByTestId("save-panel").click();
  await saved(page);
  await page.locator("#panel").getByText("Starts raw-to-curated").waitFor();
  await (await discard(page)).getByTestId("confirm-discard").click();
  await page.locator("#edit-head", { hasNotText: "not published" }).waitFor();
});

test("the page of a job says that what is typed is not what runs", async () => {
  const page = await house.page("/jobs");
  await page.getByRole("link", { name: "raw-to-curated" }).first().click();
  await page.getByText(/^v\d+ runs, as shown\.$/).waitFor();
  await page.locator(".cm-content").first().click();
  await page.keyboard.type("-- more\n");

  await page.getByText(/^v\d+ runs; what is typed here is not saved\.$/).waitFor();
  assert.equal(await page.getByTestId("stands").isVisible(), false);
  await page.getByRole("button", { name: "Save the draft" }).click();
  await page.getByText(/^v\d+ runs; the draft differs from it\.$/).waitFor();
  await picture(page, "job");
  await page.getByTestId("discard-draft").click();
  const dialog = page.getByTestId("discard-dialog");
  assert.match(await dialog.innerText(), /-- more/);
  await picture(page, "job-dialog");
  await dialog.getByTestId("confirm-discard").click();
  await page.getByText(/^v\d+ runs, as shown\.$/).waitFor();
});
