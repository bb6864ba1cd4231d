// A pool is made, and is deleted only after the question is answered.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => { house = await open(); });
after(async () => { await house.close(); });

test("deleting a pool asks first", async () => {
  const page = await house.page("/pools");
  const row = page.locator('[data-pool="warehouse"]');
  await page.getByLabel("New pool").fill("warehouse");
  await page.locator("form").filter({ has: page.getByLabel("New pool") }).getByLabel("Places", { exact: true }).fill("2");
  await page.getByRole("button", { name: "Make the pool" }).click();
  await row.waitFor();

  const question = page.getByTestId("delete-dialog");
  await page.getByRole("button", { name: "Delete warehouse" }).click();
  await question.getByText("Nothing uses it.").waitFor();
  await looked(page, "pool-delete");
  await question.getByRole("button", { name: "Cancel" }).click();
  await question.waitFor({ state: "detached" });
  assert.equal(await row.count(), 1, "cancelled, the pool stays");
  await page.getByRole("button", { name: "Delete warehouse" }).click();
  await page.getByTestId("confirm-delete").click();

  await row.waitFor({ state: "detached" });
  assert.deepEqual(house.problems(), []);
});
