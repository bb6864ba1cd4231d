// Nothing that somebody typed is lost without a word, in the panel beside the
// graph and on the page of a job.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";
import { looked } from "./look.mjs";

let house, workflow;
before(async () => {
  house = await open({ sample: true });
  await house.quiet();
  const page = await house.page("/workflows");
  workflow = await page.getByRole("link", { name: "daily-sales-pipeline" }).first().getAttribute("href");
});
after(async () => {
  await house.close();
  assert.deepEqual(house.problems(), []);
});

const card = (page, name) => page.locator("dog-canvas [role=option]", { hasText: name });
const title = (page, name) => page.locator("#panel h2", { hasText: name }).first().waitFor();
const retries = (page) => page.locator("#panel #retries");
const says = (page, text) => page.getByTestId("saved").getByText(text, { exact: true }).waitFor();

// edit opens the editor with a job selected.
async function edit(name = "raw-to-curated") {
  const page = await house.page(workflow);
  await card(page, name).click();
  await title(page, name);
  return page;
}

// asked presses what leaves the page, and answers whether the browser asks
// first; then it stays.
async function asked(page, leave) {
  const question = page.waitForEvent("dialog").then(async (dialog) => {
    await dialog.dismiss();
    return dialog.type();
  });
  leave().catch(() => {}); // whoever stays waits in vain for the other page
  return question;
}

test("what was typed in the panel is saved when another card is selected", async () => {
  const page = await edit();
  await retries(page).fill("4");
  await says(page, "Unsaved text");
  await card(page, "legacy-csv-export").click();
  await title(page, "legacy-csv-export");
  await says(page, "Saved");

  await card(page, "raw-to-curated").click();
  await title(page, "raw-to-curated");
  assert.equal(await retries(page).inputValue(), "4");
});

test("a click on the empty canvas saves, too", async () => {
  const page = await edit();
  await retries(page).fill("5");
  const canvas = await page.locator("dog-canvas").boundingBox();
  await page.mouse.click(canvas.x + 20, canvas.y + 120);
  await title(page, "Workflow");

  await page.reload();
  await card(page, "raw-to-curated").click();
  await title(page, "raw-to-curated");
  assert.equal(await retries(page).inputValue(), "5");
});

test("a panel that is refused stays with the reason, and Discard lets it go", async () => {
  const page = await house.page(workflow);
  await page.locator("dog-canvas li[data-kind=scheduled]").first().click();
  const schedule = page.locator("#panel #schedule");
  await schedule.fill("cron(every day)");
  await card(page, "legacy-csv-export").click();
  await page.locator("#panel .error").first().waitFor();
  assert.equal(await schedule.inputValue(), "cron(every day)");
  await page.locator("dog-canvas li[data-kind=scheduled][aria-selected=true]").waitFor();
  assert.equal(await page.locator("dog-canvas [aria-selected=true]").count(), 1);
  await says(page, "Unsaved text");

  await page.getByTestId("discard-panel").click();
  await says(page, "Saved");
  await card(page, "legacy-csv-export").click();
  await title(page, "legacy-csv-export");
});

test("Publish… saves first and lists what was typed", async () => {
  const page = await edit();
  await retries(page).fill("6");
  await page.getByTestId("publish").click();
  const dialog = page.getByTestId("publish-dialog");
  await dialog.locator("ins", { hasText: /^6$/ }).waitFor();
});

test("Run with unsaved text says that it is not what runs, and offers to publish it", async () => {
  const page = await edit();
  const drop = page.getByTestId("publish"); // what the tests before have left
  if (await drop.count()) {
    await drop.click();
    await Promise.all([page.waitForEvent("load"), page.getByTestId("confirm-publish").click()]);
    await card(page, "raw-to-curated").click();
    await title(page, "raw-to-curated");
  }
  const runs = [];
  page.on("request", (request) => { if (request.method() === "POST" && /\/(run|publish)$/.test(request.url())) runs.push(request.url()); });
  await retries(page).fill("11");
  await page.getByTestId("run").click();
  const dialog = page.getByTestId("publish-dialog");
  await dialog.getByText(/What you typed is saved in the draft. A run takes what is published, which is still v\d+ without it/).waitFor();
  await dialog.locator("ins", { hasText: /^11$/ }).waitFor();
  assert.deepEqual(runs, [], "nothing has started");
  await looked(page, "run-unsaved");
  await dialog.getByRole("button", { name: /^Run v\d+ as it is$/ }).waitFor();

  await dialog.getByRole("button", { name: "Publish and run" }).click();
  await page.waitForURL(/\/runs\//);
  await page.goto(house.address + workflow);
  await page.locator("dog-canvas.ready").waitFor();
  assert.equal(await page.getByTestId("publish").count(), 0, "what was typed is published");
});

test("a link saves first and then leads where it says", async () => {
  const page = await edit();
  await retries(page).fill("7");
  await page.getByRole("link", { name: /All of this job/ }).click();
  await page.waitForURL(/\/jobs\//);
  assert.equal(await page.locator("#retries").inputValue(), "7");
});

test("a reload asks before it drops what was typed in the panel", async () => {
  const page = await edit();
  await retries(page).fill("8");
  assert.equal(await asked(page, () => page.reload()), "beforeunload");
});

test("the server that does not answer leaves what was typed where it is", async () => {
  const page = await edit();
  await retries(page).fill("9");
  await page.route(/\/cards\//, (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
  await card(page, "legacy-csv-export").click();
  await page.locator(".toast.bad").waitFor();
  assert.equal(await retries(page).inputValue(), "9");
  await page.unroute(/\/cards\//);
  page.problems.length = 0; // the browser tells of the request that was broken off

  await page.keyboard.press("ControlOrMeta+s");
  await page.locator("#panel").getByText("Saved in the draft.").waitFor();
});

test("the page of a job asks before it drops what was typed, and Ctrl+S saves it", async () => {
  const page = await edit();
  await page.getByRole("link", { name: /All of this job/ }).click();
  await page.waitForURL(/\/jobs\//);
  const save = await page.getByRole("button", { name: "Save and publish" }).boundingBox();
  assert.ok(save.y + save.height <= 900, `Save and publish ends at ${save.y + save.height}`);
  const editor = page.locator(".cm-content").first();
  await editor.click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText("\n-- by hand");
  assert.equal(await asked(page, () => page.getByRole("link", { name: "Runs", exact: true }).first().click()), "beforeunload");

  await editor.click();
  const loaded = page.waitForEvent("load");
  await page.keyboard.press("ControlOrMeta+s");
  await loaded;
  await page.locator(".cm-content").getByText("-- by hand").waitFor();
  page.once("dialog", () => assert.fail("nothing is unsaved any more"));
  await page.getByRole("link", { name: "Runs", exact: true }).first().click();
  await page.waitForURL(/\/runs/);
});
