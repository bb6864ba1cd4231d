// Somebody writes a script in the browser, runs it, sees what it prints while it
// runs, and stops one that would go on for ever.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";

let house;
before(async () => { house = await open({}); });
after(async () => {
  await house.close();
  assert.deepEqual(house.problems(), []);
});

// write makes a script job of a name and publishes it.
async function write(name, body) {
  const page = await house.page("/jobs");
  await page.getByRole("button", { name: "New job" }).first().click();
  await page.locator("#job-name").fill(name);
  await page.getByText("Python", { exact: true }).click();
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/\/jobs\/[0-9A-Z]{26}/);
  const editor = page.locator(".cm-content");
  await editor.click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.insertText(body);
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.getByText("v1 runs, as shown.").waitFor();
  return page;
}

const run = async (page) => {
  await page.getByRole("button", { name: "Run alone" }).click();
  await page.waitForURL(/\/runs\//);
};
const pill = (page, word) => page.locator("#panel .pill", { hasText: word }).first();

test("a script is written, run, and its output seen while it runs", async () => {
  const page = await write("count", `import os, sys, time
for i in range(3):
    print("step", i)
print("careful", file=sys.stderr)
while not os.path.exists(${JSON.stringify(house.data + "/go")}):
    time.sleep(0.05)
print("through")
`);
  await run(page);
  const log = page.getByTestId("log");
  await log.getByText("step 2").waitFor();
  await log.locator(".line.err", { hasText: "careful" }).waitFor();
  assert.equal(await log.getByText("through").count(), 0, "it still runs");

  const { writeFileSync } = await import("node:fs");
  writeFileSync(house.data + "/go", "");
  await log.getByText("through").waitFor();
  await pill(page, "Succeeded").waitFor();
  await page.locator("#figures", { hasText: /Exit code\s*0/ }).waitFor();
});

test("a script that fails says its exit code and its last words", async () => {
  const page = await write("broken", "print('on the way')\nraise ValueError('no such day')\n");
  await run(page);
  await pill(page, "Failed").waitFor();
  const note = page.locator("#panel .note.bad");
  assert.match(await note.innerText(), /exit code 1[^]*ValueError: no such day/);
});

test("a script that would go on for ever is stopped", async () => {
  const page = await write("endless", "import time\nprint('up')\nwhile True:\n    time.sleep(0.1)\n");
  await run(page);
  await page.getByTestId("log").getByText("up").waitFor();
  await page.getByRole("button", { name: "Stop" }).first().click();
  await page.getByTestId("confirm-stop").click();
  await pill(page, "Stopped").waitFor();
  await page.locator("#figures", { hasText: /Exit code\s*143/ }).waitFor();
});
