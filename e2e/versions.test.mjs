// Versions of a job are compared with each other and with the draft, on its page.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => { house = await open(); });
after(async () => { await house.close(); assert.deepEqual(house.problems(), []); });

const version = (body) => {
  const done = spawnSync(binary, ["workflow", "import", "--data", house.data, "-"], {
    input: `dogear: 1\nworkflow: {name: w, triggers: [{name: by hand, type: on_demand, start: [{job: tells}]}]}\njobs:\n  - {name: tells, kind: python, bookmark: off, script: {body: ${JSON.stringify(body)}}}\n`, encoding: "utf8",
  });
  assert.equal(done.status, 0, done.stderr);
};

test("a version is compared with the one before, with any other, and with the draft", async () => {
  for (const word of ["one", "two", "three"]) version(`import sys\n\nprint('${word}')\nprint('the end')\n`);
  const list = await house.page("/jobs");
  await list.getByRole("link", { name: "tells", exact: true }).click();
  await list.waitForURL(/\/jobs\/[0-9A-Z]{26}/);
  const page = list;
  const dialog = page.getByTestId("compare");

  await page.getByRole("button", { name: "Compare v3 with another version" }).click();
  await dialog.locator(".diff del", { hasText: "print('two')" }).waitFor();
  await dialog.locator(".diff ins", { hasText: "print('three')" }).waitFor();
  assert.equal(await dialog.getByLabel("From").inputValue(), "2");
  await looked(page, "compare");
  await dialog.getByLabel("From").selectOption("1");
  await dialog.locator(".diff del", { hasText: "print('one')" }).waitFor();
  await dialog.getByLabel("To").selectOption("0");
  await dialog.locator(".diff ins", { hasText: "print('three')" }).waitFor(); // the draft is what is published
  await dialog.getByLabel("From").selectOption("3");
  await dialog.getByText("They hold the same.").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});
