// A trigger is turned at once, whatever the draft of its workflow holds and whatever is
// typed in its panel.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => { house = await open({ sample: true }); });
after(async () => { await house.close(); assert.deepEqual(house.problems(), []); });

test("a schedule is turned off at once beside a draft and beside typed text, and follows in other tabs", async () => {
  const page = await house.page("/workflows");
  await page.locator("main a[href^='/workflows/']").first().click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  await page.locator("dog-canvas.ready").waitFor();
  const other = await house.page(new URL(page.url()).pathname);
  await other.locator("dog-canvas.ready").waitFor();
  await page.locator("#description").fill("half done");
  await page.getByTestId("save-panel").click();
  await page.locator("#edit-head").getByText("1 change not published").waitFor();
  const schedule = (of) => of.locator("dog-canvas li[data-kind=scheduled]").first();
  await schedule(page).click();
  const runs = page.getByTestId("runs-now");
  if ((await runs.innerText()).includes("Turn on now")) {
    await page.getByTestId("turn-now").click();
    await runs.getByText("Turn off now").waitFor();
  }
  const version = Number((await runs.getByRole("status").innerText()).match(/v(\d+)/)[1]);
  await page.locator("#schedule").fill("cron(0 3 ? ? ? *"); // not to be saved

  await page.getByTestId("turn-now").click();

  await runs.getByText(`in v${version + 1}`).waitFor();
  await runs.getByText("Turn on now").waitFor();
  assert.equal(await page.locator("#schedule").inputValue(), "cron(0 3 ? ? ? *");
  await page.waitForFunction(() => document.activeElement.id === "turn-now");
  await schedule(page).getByText("Off", { exact: true }).waitFor();
  await schedule(other).getByText("Off", { exact: true }).waitFor();
  await page.locator("#edit-head").getByText(`v${version + 1} · 1 change not published`).waitFor();
  await looked(page, "turned-now");
});
