// How a run is asked for: what starts nothing by itself, what asks first, and
// what becomes of an answer that gets lost (cases A05, A09 and A20).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => { house = await open({ sample: true }); });
after(async () => { await house.close(); });

const runs = async () => {
  const page = await house.page("/runs");
  const count = await page.getByTestId("runs").locator("tbody tr").count();
  await page.close();
  return count;
};

test("A20 a Run whose answer is lost is one run when it is pressed again", async () => {
  const page = await house.page("/workflows");
  await house.quiet();
  const before = await runs();
  const tokens = [];
  // The line is down both ways: the page does not learn of the run by itself.
  await page.routeWebSocket(/.*/, () => {});
  await page.reload();
  await page.route(/\/run$/, async (route) => {
    tokens.push(await route.request().headerValue("idempotency-key"));
    if (tokens.length > 1) return route.continue();
    await route.fetch(); // the server has started the run
    await route.abort();
  });
  const run = page.getByRole("button", { name: "Run daily-sales-pipeline" });

  const lost = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/run"));
  await run.click();
  await lost;
  await run.click();
  await page.waitForURL(/\/runs\//);

  assert.match(tokens[0], /^[0-9A-Z]{26}$/);
  assert.equal(tokens[1], tokens[0], "asked again it is the same change");
  assert.equal(await runs(), before + 1);
});

// asked is a workflow that a person and calls may start.
const asked = `dogear: 1
workflow:
  name: asked
  properties: {Day: "{{due.date}}"}
  triggers:
    - {name: by hand, type: on_demand, start: [{job: raw-to-curated}]}
    - {name: calls, type: event, event: {source: calls, batch_size: 5}, start: [{job: raw-to-curated}]}
`;

const trigger = (page, name) => page.locator("dog-canvas [role=option]", { hasText: name });

test("A05 and A09 triggers that nobody turns off have no switch; one of events has its own; Run of one on demand asks", async () => {
  const made = spawnSync(binary, ["workflow", "import", "--data", house.data, "-"], { input: asked, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const before = await runs();
  const page = await house.page("/workflows");
  await page.getByRole("link", { name: "asked", exact: true }).click();
  await page.locator("dog-canvas.ready").waitFor();

  await trigger(page, "calls").click();
  await page.getByTestId("driven").getByText("Events drive it").waitFor();
  const takes = page.locator("#panel").getByLabel("On", { exact: true });
  const off = trigger(page, "calls").getByText("Off", { exact: true });
  await off.waitFor(); // so it was imported: the sample starts the job by itself
  assert.equal(await takes.isChecked(), false);
  await looked(page, "event-driven");
  await takes.check();
  await page.getByTestId("save-panel").click();
  await off.waitFor({ state: "detached" });
  assert.equal(await takes.isChecked(), true);
  await trigger(page, "by hand").click({ button: "right" });
  await page.getByRole("menuitem", { name: "Rename" }).waitFor();
  assert.equal(await page.getByRole("menuitem", { name: "Pause" }).count(), 0);
  await page.keyboard.press("Escape");
  await trigger(page, "by hand").click();
  await page.getByTestId("driven").getByText("Publishing it starts nothing").waitFor();
  assert.equal(await page.locator("#panel").getByLabel("On", { exact: true }).count(), 0);
  await page.keyboard.press("d");
  await page.getByTestId("ask-run").click();
  const dialog = page.getByTestId("start-dialog");
  await dialog.getByLabel("Start with").locator("option", { hasText: "by hand, which begins with raw-to-curated" }).waitFor({ state: "attached" });
  await looked(page, "on-demand");
  assert.equal(await runs(), before, "nothing has started");

  await dialog.getByLabel("Start with").selectOption({ label: "calls, which begins with raw-to-curated" });
  await dialog.getByLabel("Day").fill("2026-03-01");
  await dialog.getByTestId("start").click();
  await page.waitForURL(/\/runs\//);
  await page.getByTestId("began").getByText("by owner, with the trigger calls").waitFor();
  assert.equal(await runs(), before + 1);
  assert.deepEqual(page.problems, []);
});
