// The editor when things go wrong around it: a trigger that leads nowhere, a
// connection that breaks or is slow, and a second tab.
import assert from "node:assert/strict";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";

let house, sample;
before(async () => {
  house = await open({ sample: true });
  const dir = join(house.data, "files", "in");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "a.csv"), "id\n1\n");
  const past = new Date(Date.now() - 3600_000);
  utimesSync(join(dir, "a.csv"), past, past);
  const page = await house.page("/workflows");
  const link = page.getByRole("link", { name: /daily-sales-pipeline/ }).first();
  await link.waitFor();
  sample = await link.getAttribute("href");
  await page.goto(new URL("/runs", page.url()).href);
  await page.locator(".pill", { hasText: "Succeeded" }).first().waitFor({ timeout: 60_000 });
});
after(async () => { await house.close(); });

let count = 0;

// draw makes a workflow with blocks of the palette in a row.
async function draw(...blocks) {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "New workflow" }).first().click();
  await page.locator("#workflow-name").fill(`trouble ${++count}`);
  await page.getByRole("button", { name: "Create and draw" }).click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  await page.locator("dog-canvas.ready").waitFor();
  for (const block of blocks) await add(page, block);
  await saved(page);
  return page;
}

async function add(page, block) {
  const before = await cards(page).count();
  await page.locator(`.palette [data-block=${block}]`).first().press("Enter");
  await page.waitForFunction((n) => document.querySelectorAll("dog-canvas [role=option]").length > n, before);
}

const cards = (page) => page.locator("dog-canvas [role=option]");
const saved = (page) => page.locator("[data-save=saved]").waitFor();
const at = (page, kind) => page.locator(`dog-canvas li[data-kind=${kind}]`).first();
const places = (page) => cards(page).evaluateAll((list) => list.map((card) => `${card.dataset.id} ${card.style.transform}`).sort());

// nudge moves a card by the keyboard.
async function nudge(page, kind, key) {
  await at(page, kind).focus();
  await page.keyboard.press("m");
  await page.keyboard.press(key);
  await page.keyboard.press("Enter");
}

test("a trigger that starts nothing is a problem that leads to it, and keeps the draft from being published", async () => {
  const page = await draw("on_demand");

  const problems = page.getByTestId("problems");
  await problems.getByText("1 problem").waitFor();
  await problems.click();
  const said = page.getByRole("link", { name: /On demand starts nothing yet\. Connect it to a job or crawler\./ });
  await said.waitFor();
  assert.ok(await at(page, "on_demand").evaluate((card) => card.classList.contains("wrong")), "the card is marked");
  await page.keyboard.press("Escape");
  await page.getByTestId("publish").click();
  const dialog = page.getByTestId("publish-dialog");
  await dialog.getByText("This cannot be published yet").waitFor();
  assert.ok(await dialog.locator(".note.bad li").count(), "the reasons stand with what they are reasons of");
  await dialog.getByText(/On demand starts nothing yet/).waitFor();
  assert.ok(await dialog.getByTestId("confirm-publish").isDisabled());
});

test("a page whose socket was cut catches up with what changed meanwhile", async () => {
  const page = await draw("on_demand");
  // The page loses its socket and cannot get another one.
  const sockets = [];
  let cut = true;
  await page.routeWebSocket(/\/live$/, (ws) => {
    if (cut) return void ws.close();
    sockets.push(ws.connectToServer());
  });
  await page.reload();
  await page.locator("dog-canvas.ready").waitFor();
  await page.getByText(/What you see is from \d\d:\d\d:\d\d;/).first().waitFor(); // the clock that all pages go by

  const other = await house.page(new URL(page.url()).pathname);
  await add(other, "crawler");
  await saved(other);
  assert.equal(await cards(page).count(), 1, "nothing came through");
  cut = false;

  await at(page, "crawler").waitFor();
  assert.deepEqual(await places(page), await places(other));
  assert.equal(sockets.length, 1);
  await page.locator(".paused").waitFor({ state: "hidden" });
});

test("a run page whose socket was cut shows the end of the run by a snapshot", async () => {
  const page = await house.page(sample);
  let cut = true;
  await page.routeWebSocket(/\/live$/, (ws) => (cut ? void ws.close() : void ws.connectToServer()));
  await house.quiet();
  await page.getByTestId("run").click();
  await page.waitForURL(/\/runs\//);
  const watcher = await house.page(new URL(page.url()).pathname);
  await watcher.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 60_000 });
  cut = false;

  await page.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 40_000 });
  for (const card of await cards(page).filter({ has: page.locator(".foot") }).all()) await card.getByText("Succeeded").first().waitFor();
});

test("an answer that comes late does not hide the end of a run", async () => {
  const page = await house.page(sample);
  await house.quiet();
  let calls = 0;
  let arrive;
  const late = new Promise((resolve) => { arrive = resolve; });
  await page.route(/\/head$/, async (route) => {
    if (calls++ > 0) return route.continue();
    const response = await route.fetch(); // it says that the run is under way
    await late;
    await route.fulfill({ response }).catch(() => {}); // nobody may wait for it any more
  });
  await page.getByTestId("run").click();
  await page.waitForURL(/\/runs\//);
  const watcher = await house.page(new URL(page.url()).pathname);
  await watcher.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 60_000 });
  await page.getByText("3 done").waitFor(); // the page has heard of it
  arrive();

  await page.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor();
});

test("a double click on Run starts one run, however fast the server answers", async () => {
  const page = await house.page(sample);
  await page.locator("dog-canvas.ready").waitFor();
  let calls = 0;
  page.on("request", (request) => { if (request.method() === "POST" && request.url().endsWith("/run")) calls++; });

  await house.quiet();
  await page.getByTestId("run").click({ clickCount: 4 });
  await page.waitForURL(/\/runs\//);

  assert.equal(calls, 1);
  await page.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 60_000 });
});

test("a double click on Run in the list starts one run, though the list is refreshed between the clicks", async () => {
  const page = await house.page("/workflows");
  const run = page.getByRole("button", { name: "Run daily-sales-pipeline" });
  await run.waitFor();
  let calls = 0;
  let answer;
  const held = new Promise((resolve) => { answer = resolve; });
  await page.route(/\/run$/, async (route) => {
    calls++;
    await held;
    await route.continue();
  });
  // Twice: by a morph that keeps the button, and by one that puts a new one there.
  await run.click();
  for (const renew of [false, true]) {
    const refreshed = page.waitForResponse((r) => r.request().method() === "GET" && new URL(r.url()).pathname === "/workflows");
    await page.evaluate((renew) => {
      if (renew) document.querySelector("#workflows").replaceChildren();
      document.body.dispatchEvent(new Event("dogear:runs-changed"));
    }, renew);
    await refreshed;
    await run.waitFor();
    await page.waitForFunction(() => !document.querySelector("#workflows.htmx-request, .htmx-swapping"));
    await run.click();
  }
  answer();
  await page.waitForURL(/\/runs\//);

  assert.equal(calls, 1);
  await page.locator("#run-head .pill", { hasText: "Succeeded" }).waitFor({ timeout: 60_000 });
});

test("on a slow network edits show at once, saving says so, and a double click on Run starts one run", async () => {
  const page = await house.page(sample);
  await page.locator("dog-canvas.ready").waitFor();
  const calls = [];
  let answer;
  const answered = new Promise((resolve) => { answer = resolve; });
  await page.route(/\/(draft|run)$/, async (route) => {
    const [method, url] = [route.request().method(), route.request().url()];
    if (method !== "GET") calls.push(url);
    if (method !== "GET" && url.endsWith("/draft")) await answered;
    else await new Promise((resolve) => setTimeout(resolve, 1500)); // the network of this test
    await route.continue();
  });

  await page.getByTestId("run").dblclick();
  await page.waitForURL(/\/runs\//, { timeout: 30_000 });
  assert.equal(calls.filter((url) => url.endsWith("/run")).length, 1, "one click of the two was sent");

  await page.goBack();
  await page.locator("dog-canvas.ready").waitFor();
  const before = await places(page);
  await nudge(page, "job", "ArrowDown");
  await page.locator("[data-save=saving]").waitFor();
  assert.notDeepEqual(await places(page), before, "the card moved before the server answered");
  await nudge(page, "job", "ArrowDown");
  answer();
  await saved(page);
  const moved = await places(page);
  await page.unroute(/\/(draft|run)$/);
  await page.reload();
  await page.locator("dog-canvas.ready").waitFor();
  assert.deepEqual(await places(page), moved, "both moves were kept");
});

test("edits made without a network are kept, said, and sent when it is back", async () => {
  const page = await draw("on_demand", "job");
  await page.context().setOffline(true);
  await nudge(page, "job", "ArrowDown");
  await page.getByText(/Offline – 1 change kept/).waitFor();
  const moved = await places(page);
  await page.context().setOffline(false);

  await saved(page);
  await page.reload();
  await page.locator("dog-canvas.ready").waitFor();
  assert.deepEqual(await places(page), moved);
});

test("two tabs edit one draft: both keep what they did, and a loop made by both is refused to the second", async () => {
  const one = await draw("job", "crawler");
  const two = await house.page(new URL(one.url()).pathname);
  await two.locator("dog-canvas.ready").waitFor();
  const connect = async (page, from, to) => {
    const a = await at(page, from).boundingBox();
    const b = await at(page, to).boundingBox();
    await page.mouse.move(a.x + a.width, a.y + a.height / 2);
    await page.mouse.down();
    await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 5 });
    await page.mouse.up();
  };

  await Promise.all([nudge(one, "job", "ArrowUp"), nudge(two, "crawler", "ArrowDown")]);
  await Promise.all([saved(one), saved(two)]);
  await same(one, two);

  await Promise.all([connect(one, "job", "crawler"), connect(two, "crawler", "job")]);
  await Promise.race([one, two].map((page) => page.locator(".refused.shown").waitFor()));
  await Promise.all([saved(one), saved(two)]);
  await Promise.all([one, two].map((page) => page.waitForFunction(() => document.querySelectorAll("dog-canvas path.edge").length === 1)));
  await same(one, two);
});

// same waits until two pages draw the same graph.
async function same(one, two) {
  const drawn = async (page) => JSON.stringify([await places(page), await page.locator("dog-canvas path.edge").evaluateAll((list) => list.map((p) => `${p.dataset.s} ${p.dataset.t}`).sort())]);
  for (let tries = 0; tries < 100; tries++) {
    const [a, b] = [await drawn(one), await drawn(two)];
    if (a === b) return;
    await one.waitForTimeout(50);
  }
  assert.equal(await drawn(one), await drawn(two));
}

test("nothing was reported by the browser", () => {
  const ours = house.problems().filter((text) => !/ERR_INTERNET_DISCONNECTED|WebSocket|Failed to fetch/.test(text)); // those were the tests' own
  assert.deepEqual(ours, []);
});
