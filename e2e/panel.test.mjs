// The panel beside the graph shows what was asked for last, however fast
// somebody clicks and however slowly the server answers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";

let house, run;
before(async () => {
  house = await open({ sample: true });
  const page = await house.page("/runs");
  const link = page.getByRole("link", { name: /daily-sales-pipeline/ }).first();
  await link.waitFor();
  run = await link.getAttribute("href");
  await page.goto(new URL(run, page.url()).href);
  await page.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 60_000 });
});
after(async () => { await house.close(); });

const card = (page, name) => page.locator("dog-canvas [role=option]", { hasText: name });
const title = (page) => page.locator("#panel h2").first();
const tab = (page, name) => page.locator("#panel").getByRole("tab", { name });

// center is where a mouse meets an element.
async function center(locator) {
  const box = await locator.boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

// quiet waits until the panel has nothing more to come: no request is under
// way and none is due.
async function quiet(page) {
  await page.waitForLoadState("networkidle"); // which a page reaches once, whatever it asks for later
  await page.waitForFunction(() => !document.querySelector("#panel").inert && !document.querySelector("#panel.htmx-request, #panel .htmx-request"));
}

test("a tab that is clicked right after its card stays", async () => {
  const page = await house.page(run);
  await card(page, "raw-to-curated").click();
  await quiet(page);
  const at = await center(tab(page, "Outputs"));
  await page.mouse.click(...(await center(card(page, "raw-to-curated"))));
  await page.mouse.click(...at);

  await quiet(page);
  assert.equal(await tab(page, "Outputs").getAttribute("aria-selected"), "true");
});

test("a tab of the card before is not taken for one of the new card", async () => {
  const page = await house.page(run);
  await card(page, "raw-to-curated").click();
  await quiet(page);
  const at = await center(tab(page, "Outputs"));
  await page.mouse.click(...(await center(card(page, "legacy-csv-export"))));
  await page.mouse.click(...at);

  await quiet(page);
  assert.equal(await title(page).textContent(), "legacy-csv-export");
  assert.equal(await tab(page, "Log").getAttribute("aria-selected"), "true");
});

test("an answer that comes late does not replace what was asked for after it", async () => {
  const page = await house.page(run);
  await card(page, "raw-to-curated").click();
  await quiet(page);
  let answer;
  const held = new Promise((resolve) => { answer = resolve; });
  await page.route(/tab=outputs/, async (route) => {
    await held;
    await route.continue().catch(() => {}); // it was given up meanwhile
  });
  const asked = page.waitForRequest(/tab=outputs/);
  await tab(page, "Outputs").click();
  await asked;
  await card(page, "legacy-csv-export").click();
  await page.waitForFunction(() => document.querySelector("#panel h2").textContent === "legacy-csv-export");
  answer();

  await quiet(page);
  assert.equal(await title(page).textContent(), "legacy-csv-export");
});

test("of many cards clicked in a row the last one is shown", async () => {
  const page = await house.page(run);
  await page.route(/\/nodes\//, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300)); // a slow network
    await route.continue().catch(() => {});
  });
  for (const name of ["legacy-csv-export", "curated-crawler", "raw-to-curated", "curated-crawler"]) {
    const asked = page.waitForRequest(/\/nodes\//);
    await card(page, name).click();
    await asked;
  }

  await quiet(page);
  assert.equal(await title(page).textContent(), "curated-crawler");
});

test("the panel of a node that waits follows it to its end", async () => {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "Add the next day's files" }).click();
  await page.getByText(/Added \d{4}-\d\d-\d\d\.csv/).waitFor();
  await page.getByRole("button", { name: "Run daily-sales-pipeline" }).click();
  await page.waitForURL(/\/runs\//);
  await card(page, "legacy-csv-export").click(); // it waits for the first job
  await page.waitForFunction(() => document.querySelector("#panel h2").textContent === "legacy-csv-export");
  await page.locator("#node-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 60_000 });
  await page.locator("#panel .pane").getByText(/End of the log/).waitFor();
});

test("nothing was reported by the browser", () => {
  assert.deepEqual(house.problems(), []);
});
