// How a job is started in a workflow: limits and arguments of one start, set in
// the panel, undone, published, and said by the run that they held for.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
// While a run of the workflow is under way, another one is asked for twice.
before(async () => {
  house = await open({ sample: true });
  const page = await house.page("/runs");
  await page.locator("main tr", { hasText: "Succeeded" }).first().waitFor({ timeout: 60_000 });
});
after(async () => { await house.close(); });

const card = (page, name) => page.locator("dog-canvas [role=option]", { hasText: name });
const start = (page) => page.locator("#panel [data-start]");

// editor opens the sample with the panel of its first job.
async function editor(options) {
  const page = await house.page("/workflows", options);
  await page.getByRole("link", { name: "daily-sales-pipeline" }).first().click();
  await page.locator("dog-canvas.ready").waitFor();
  await select(page, "raw-to-curated");
  return page;
}

async function select(page, name) {
  await card(page, name).click();
  await page.waitForFunction((name) => !document.querySelector("#panel").inert && document.querySelector("#panel h2").textContent === name, name);
}

const save = async (page, says) => {
  await page.getByTestId("save-panel").click();
  await page.locator("#panel", { hasText: says }).waitFor();
};

test("limits of a start are set, refused, undone, published and said by the run", async () => {
  const page = await editor();
  await start(page).locator("summary").click();
  await start(page).getByLabel("Timeout, min").fill("soon");
  await save(page, "Write a whole number");
  assert.equal(await start(page).getByLabel("Timeout, min").inputValue(), "soon");
  await start(page).getByLabel("Timeout, min").fill("7");
  await start(page).getByLabel("Retries").fill("2");
  await start(page).getByLabel("Arguments, one a line").fill("Region=eu");
  await save(page, "Saved in the draft");
  await start(page).locator("summary", { hasText: "7 min · 2 retries · 1 argument" }).waitFor();
  await looked(page, "starts");

  await page.locator(".tools [data-act=undo]").click();
  await start(page).locator("summary", { hasText: "as the job says" }).waitFor();
  await page.locator(".tools [data-act=redo]").click();
  await start(page).locator("summary", { hasText: "7 min · 2 retries · 1 argument" }).waitFor();

  await page.getByRole("button", { name: "Publish" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Timeout of this start").waitFor();
  await dialog.getByRole("button", { name: /Publish/ }).first().click();
  await page.getByText("v2", { exact: true }).waitFor();
  await house.quiet();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\//);
  await select(page, "raw-to-curated");
  await page.locator("#panel").getByRole("tab", { name: "Arguments" }).click();
  const limits = page.getByTestId("limits");
  await limits.waitFor();

  assert.match(await limits.innerText(), /7 min set by the trigger daily at noon, instead of 60 min/);
  assert.match(await limits.innerText(), /2 set by the trigger daily at noon, instead of 0/);
  assert.deepEqual(house.problems(), []);
});

test("the trigger that starts a job shows the same", async () => {
  const page = await editor();
  await select(page, "daily at noon");
  await start(page).locator("summary", { hasText: "Starts raw-to-curated" }).waitFor();

  assert.equal(await start(page).getByLabel("Timeout, min").inputValue(), "7");
});
