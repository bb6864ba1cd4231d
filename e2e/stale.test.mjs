// What the editor shows follows what is done on the canvas and elsewhere, and a
// refusal goes once it no longer matters.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open, until } from "./house.mjs";

let house;
before(async () => { house = await open(); });
after(async () => {
  await house.close();
  assert.deepEqual(house.problems(), []);
});

const yaml = (name) => `dogear: 1
workflow:
  name: ${name}
  triggers:
    - name: ${name} at night
      type: scheduled
      schedule: cron(0 2 * * ? *)
      start: [{job: ${name} copy}]
jobs:
  - name: ${name} copy
    kind: sql
    sources: [{name: input, path: in/*.csv, format: csv}]
    steps: [{name: out, sql: SELECT * FROM input}]
    sinks: [{from: out, path: out-${name}, format: parquet}]
`;
const dogear = (input, ...args) => execFileSync(binary, [...args, "--data", house.data], { input, encoding: "utf8" });
const card = (page, kind) => page.locator(`dog-canvas li[data-kind=${kind}]`);
const switchOf = (page) => page.locator("#panel").getByLabel("On", { exact: true });
const middle = (box) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });

async function pull(page, from, ...stops) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (const to of stops) await page.mouse.move(to.x, to.y, { steps: 8 });
}

// drop pulls a block of the palette onto the canvas.
async function drop(page, block, x, y) {
  const canvas = await page.locator("dog-canvas").boundingBox();
  await pull(page, middle(await page.locator(`[data-block=${block}]`).boundingBox()), { x: canvas.x + x, y: canvas.y + y });
  await page.mouse.up();
  await card(page, block).waitFor();
}

// imported opens the editor of a workflow that was imported, with its schedule
// selected.
async function imported(name) {
  dogear(yaml(name), "workflow", "import", "-");
  const page = await house.page("/workflows");
  await page.getByRole("link", { name, exact: true }).first().click();
  await card(page, "scheduled").click();
  await page.locator("#panel h2", { hasText: `${name} at night` }).waitFor();
  return page;
}

test("the panel of a condition has the job that was just connected, and a refusal goes where the line is welcome", async () => {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "New workflow" }).first().click();
  await page.getByLabel("Name").fill("gates");
  await page.getByRole("button", { name: "Create and draw" }).click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  await drop(page, "scheduled", 110, 120);
  await drop(page, "job", 300, 300);
  await drop(page, "conditional", 560, 120);
  await page.locator("#panel").getByText("It waits for nothing yet").waitFor();

  const job = await card(page, "job").boundingBox();
  await pull(page, { x: job.x + job.width, y: job.y + job.height / 2 }, middle(await card(page, "conditional").boundingBox()));
  await page.mouse.up();
  await page.locator("#panel").getByText("It waits for nothing yet").waitFor({ state: "detached" });
  await page.locator("#panel select").first().waitFor();

  const start = await card(page, "scheduled").boundingBox();
  await pull(page, { x: start.x + start.width, y: start.y + start.height / 2 }, middle(await card(page, "conditional").boundingBox()));
  const refusal = page.locator(".refused.shown");
  await refusal.waitFor();
  await page.mouse.move(...Object.values(middle(await card(page, "job").boundingBox())), { steps: 8 });
  await refusal.waitFor({ state: "detached" });
  await page.mouse.up();
});

test("a trigger that is turned off in a terminal is off in the panel, and nothing is left to publish", async () => {
  const page = await imported("turned");
  assert.equal(await switchOf(page).isChecked(), true);
  dogear("", "trigger", "off", "turned", "turned at night");

  await page.waitForFunction(() => !document.querySelector("#panel input[name=enabled]").checked);
  await card(page, "scheduled").getByText("Off").waitFor();
  await page.getByTestId("version").getByText(/^v2/).waitFor();
  await page.getByTestId("publish").waitFor({ state: "detached" });
});

test("what is typed stays when the card is changed elsewhere, and the panel says so", async () => {
  const page = await imported("typed");
  await page.locator("#panel #zone").fill("Europe/Berlin");
  dogear("", "trigger", "off", "typed", "typed at night");
  await page.locator("#panel").getByText("This was changed meanwhile.").waitFor();
  assert.equal(await page.locator("#panel #zone").inputValue(), "Europe/Berlin");

  await page.getByTestId("save-panel").click();
  await page.getByText("Saved in the draft.").waitFor();
  assert.equal(await switchOf(page).isChecked(), false, "what was done elsewhere is kept");
  assert.equal(await page.locator("#panel #zone").inputValue(), "Europe/Berlin");
});

// saved changes the limits of a job on its own page, as somebody else would.
async function saved(name, retries) {
  const page = await house.page("/jobs");
  await page.getByRole("link", { name, exact: true }).first().click();
  await page.waitForURL(/\/jobs\/[0-9A-Z]{26}/);
  await page.locator("#retries").fill(retries);
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: "Save the draft" }).click()]);
  await page.close();
}

test("the panel of a job follows what is saved elsewhere, and leaves alone what is typed", async () => {
  const page = await imported("followed");
  await card(page, "job").click();
  const retries = page.locator("#panel #retries");
  await retries.waitFor();

  await saved("followed copy", "3");
  await page.waitForFunction(() => document.querySelector("#panel #retries")?.value === "3");
  await page.getByTestId("version").getByText(/1 change not published/).waitFor();

  await page.locator("#panel #timeout").fill("77");
  await saved("followed copy", "4");
  await page.locator("#panel").getByText("This was changed meanwhile.").waitFor();
  assert.equal(await page.locator("#panel #timeout").inputValue(), "77");
  await page.getByTestId("discard-panel").click();
  await page.waitForFunction(() => document.querySelector("#panel #retries")?.value === "4");

  // What a panel saves itself is no news to it.
  await page.locator("#panel #timeout").fill("78");
  await page.getByTestId("save-panel").click();
  await page.locator("#panel").getByText("Saved in the draft.").waitFor();
  assert.equal(await page.locator("#panel [data-stale]").count(), 0);
});

test("what is saved elsewhere while the panel of a job is on its way is seen in it", async () => {
  const page = await imported("overtaken");
  await page.evaluate(() => document.body.addEventListener("dogear:jobs-changed", () => { document.body.dataset.changes = Number(document.body.dataset.changes ?? 0) + 1; }));
  const changes = () => page.evaluate(() => Number(document.body.dataset.changes ?? 0));
  await until("the page follows", async () => await changes() > 0 || (await saved("overtaken copy", "2"), false));
  let ask, answered;
  const asked = new Promise((resolve) => { ask = resolve; });
  const released = new Promise((resolve) => { answered = resolve; });
  await page.route(/\/cards\//, async (route) => {
    const answer = await route.fetch();
    ask();
    await released;
    await route.fulfill({ response: answer });
  }, { times: 1 });
  await card(page, "job").click();
  await asked;

  const known = await changes();
  await saved("overtaken copy", "5");
  await until("the page has heard of it", async () => await changes() > known);
  answered();

  await page.waitForFunction(() => document.querySelector("#panel #retries")?.value === "5");
});

test("the keys of the canvas are read from the first on", async () => {
  const page = await imported("keys");
  await page.setViewportSize({ width: 1000, height: 420 });
  await page.getByRole("button", { name: "Keyboard (?)" }).click();
  const heading = page.getByRole("heading", { name: "Keys of the canvas" });
  await heading.waitFor();
  const { y } = await heading.boundingBox();
  assert.ok(y > 0, `the heading stands at ${y}`);
});

test("undo does not turn back what a terminal has turned", async () => {
  const page = await imported("undone");
  const undo = page.getByRole("button", { name: /^Undo/ });
  await page.locator("#panel #zone").fill("Europe/Berlin");
  await page.getByTestId("save-panel").click();
  await page.waitForFunction(() => document.querySelector("[data-act=undo]").getAttribute("aria-disabled") === "false");
  await page.getByTestId("publish").click();
  await Promise.all([page.waitForEvent("load"), page.getByTestId("confirm-publish").click()]);
  await page.locator("dog-canvas.ready").waitFor();
  await page.locator("[data-act=undo][aria-disabled=false]").waitFor();
  dogear("", "trigger", "off", "undone", "undone at night");
  await page.getByTestId("version").getByText(/^v3/).waitFor();
  await card(page, "scheduled").getByText("Off").waitFor();

  await undo.click(); // of the zone: somebody has changed the trigger since
  await page.getByText("Can't undo: undone at night was changed meanwhile.").first().waitFor();
  await card(page, "scheduled").getByText("Off").waitFor();
  await page.reload();
  await page.locator("dog-canvas.ready").waitFor();
  await page.locator("[data-act=undo][aria-disabled=false]").waitFor();
  await card(page, "scheduled").getByText("Off").waitFor();
});
