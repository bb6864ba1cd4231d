// A run that was stopped says who did so, and when, also of a script that stands still.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => { house = await open({}); });
after(async () => {
  await house.close();
  assert.deepEqual(house.problems(), []);
});

test("a script that stands still is stopped, and the run says by whom", async () => {
  const page = await house.page("/jobs");
  await page.getByRole("button", { name: "New job" }).first().click();
  await page.locator("#job-name").fill("still");
  await page.getByText("Python", { exact: true }).click();
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/\/jobs\/[0-9A-Z]{26}/);
  await page.locator(".cm-content").click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText("import os, signal\nprint('up')\nos.killpg(0, signal.SIGSTOP)\n");
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.getByText("v1 runs, as shown.").waitFor();
  await page.getByRole("button", { name: "Run alone" }).click();
  await page.waitForURL(/\/runs\//);
  await page.getByTestId("log").getByText("up", { exact: true }).waitFor();

  await page.locator("#run-stop button").click();
  await page.getByTestId("confirm-stop").click();

  await page.locator("#run-head .pill", { hasText: "Stopped" }).waitFor();
  await page.getByTestId("stopper").getByText("by owner").waitFor();
  await page.getByTestId("stopped").getByText("by owner").waitFor();
  await looked(page, "stopped");
});
