// A pool is made, and is deleted only after the question is answered.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => { house = await open(); });
after(async () => { await house.close(); });

const set = (name, places) => spawnSync(binary, ["pool", "set", "--data", house.data, name, places], { encoding: "utf8" });

test("an open page of pools follows what is done elsewhere, and what is typed there stays", async () => {
  const page = await house.page("/pools");
  const typed = page.getByLabel("Places of backfills");
  await typed.fill("7");
  await page.getByLabel("New pool").fill("half typed");

  assert.equal(set("api", "3").status, 0);
  await page.locator('[data-pool="api"]').waitFor();
  assert.equal(await page.getByLabel("Places of api").inputValue(), "3");
  assert.equal(set("api", "4").status, 0);
  await page.waitForFunction(() => document.querySelector('[aria-label="Places of api"]').value === "4");
  assert.equal(await typed.inputValue(), "7");
  assert.equal(await page.getByLabel("New pool").inputValue(), "half typed");
  await looked(page, "pools");
});

test("a name with a blank at an end is no name of a pool, whichever way it comes", () => {
  const refused = set(" p", "1");
  assert.notEqual(refused.status, 0);
  assert.match(refused.stderr, /begins or ends with a blank/);
});

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
