// What is pressed early: before the scripts of a page are there, while a part of
// it is drawn again, and right after another page led to it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";

let house;
before(async () => { house = await open(); });
after(async () => { await house.close(); });

const cli = (words, input) => spawnSync(binary, [...words.slice(0, 2), "--data", house.data, ...words.slice(2)], { input, encoding: "utf8" });

// run makes a workflow of one script, starts it and returns the address of its run.
function run(name, body, ...wait) {
  const made = cli(["workflow", "import", "-"], `dogear: 1
workflow:
  name: ${name}
  triggers:
    - {name: by hand, type: on_demand, start: [{job: ${name} one}]}
jobs:
  - {name: ${name} one, kind: python, bookmark: off, script: {body: "${body}"}}
`);
  assert.equal(made.status, 0, made.stderr);
  return `/runs/${JSON.parse(cli(["workflow", "run", ...wait, "--json", name]).stdout).id}`;
}

// late opens an address whose scripts come only when the test lets them; act
// says what becomes of each.
async function late(path, act = (route) => route.continue()) {
  const page = await house.page("/workflows");
  let come = () => {};
  const held = new Promise((resolve) => { come = resolve; });
  await page.route(/\/static\/(app|canvas)\.js/, async (route) => {
    await held;
    await act(route);
  });
  await page.goto(house.address + path, { waitUntil: "commit" });
  return { page, come };
}

test("Resume of a failed run opens its dialog however early it is pressed", async () => {
  const failed = run("broken", "raise SystemExit(3)", "--wait");
  const { page, come } = await late(failed);

  await page.getByRole("button", { name: "Resume…" }).click({ noWaitAfter: true });
  assert.equal(await page.locator("#run-resume[aria-busy]").count(), 1, "the press is seen to be kept");
  assert.equal(await page.getByTestId("resume").count(), 0, "no script has come");
  come();

  await page.getByTestId("resume").waitFor();
  assert.equal(await page.locator("#run-resume[aria-busy]").count(), 0);

  // And as soon as they are there, when nothing led here.
  await page.unrouteAll();
  await page.goto(house.address + failed, { waitUntil: "domcontentloaded" });
  await page.getByRole("button", { name: "Resume…" }).click();
  await page.getByTestId("resume").waitFor();
});

test("a card of a graph that is pressed before its script is there opens its panel", async () => {
  const { page, come } = await late(run("two", "pass", "--wait"));
  await page.locator("dog-canvas .node", { hasText: "by hand" }).click({ noWaitAfter: true });
  come();
  await page.locator("#panel h2", { hasText: "by hand" }).waitFor();
  await page.locator("dog-canvas .node[aria-selected=true]", { hasText: "by hand" }).waitFor();
});

test("the search of every page waits for its script", async () => {
  const { page, come } = await late("/jobs");
  await page.getByRole("button", { name: /^Search/ }).click({ noWaitAfter: true });
  come();
  await page.locator("#palette[open]").waitFor();
});

test("what is typed into a filter before the scripts are there is filtered for", async () => {
  const { page, come } = await late("/jobs");
  await page.locator("input[type=search]").first().fill("broken");
  come();
  await page.locator("#jobs tbody tr").first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll("#jobs tbody tr").length === 1);
});

test("what is typed into a filter is not undone by a list that was asked for before", async () => {
  const page = await house.page("/jobs");
  const rows = page.locator("#jobs tbody tr");
  await page.waitForLoadState("networkidle"); // what a page asks for when it opens is there
  let answer = () => {};
  const held = new Promise((resolve) => { answer = resolve; });
  const whole = (url) => new URL(url).pathname === "/jobs" && !new URL(url).searchParams.get("name");
  await page.route((url) => whole(url), async (route) => {
    await held;
    await route.continue().catch(() => {}); // nobody may wait for it any more
  });
  const asked = page.waitForRequest((request) => whole(request.url()));
  const over = Promise.race(["requestfinished", "requestfailed"].map((end) => page.waitForEvent(end, (request) => whole(request.url()))));
  await page.evaluate(() => void document.body.dispatchEvent(new Event("dogear:jobs-changed")));
  await asked;

  await page.getByLabel("Filter by name").fill("broken");
  await page.waitForFunction(() => document.querySelectorAll("#jobs tbody tr").length === 1);
  answer();
  await over;
  await page.waitForFunction(() => !document.querySelector(".htmx-request, .htmx-swapping"));
  assert.equal(await rows.count(), 1);

  // And the list that is asked for now is the filtered one.
  const again = page.waitForResponse((response) => new URL(response.url()).searchParams.get("name") === "broken");
  await page.evaluate(() => void document.body.dispatchEvent(new Event("dogear:jobs-changed")));
  await again;
});

test("where the scripts cannot be loaded a press does what the browser can do by itself", async () => {
  const at = run("endless", "import time; time.sleep(600)");
  const { page, come } = await late(at, (route) => route.abort());
  await page.getByRole("button", { name: "Stop" }).click({ noWaitAfter: true });
  come();

  const watcher = await house.page(at);
  await watcher.locator("#run-head .pill", { hasText: "Stopped" }).waitFor({ timeout: 30_000 });
  page.problems.length = 0; // those of the scripts that did not come
});

test("a button stays itself, and a menu open, while its part of the page is drawn again", async () => {
  const at = run("slow", "import time; time.sleep(600)");
  const page = await house.page(`${at}`);
  await page.locator("dog-canvas.ready").waitFor();
  await page.locator("dog-canvas .node", { hasText: "slow one" }).click();
  await page.getByTestId("node-menu").click();
  const stop = await page.getByRole("button", { name: "Stop", exact: true }).elementHandle();
  const again = () => Promise.all(["/head", "/nodes"].map((part) => page.waitForResponse((r) => r.request().method() === "GET" && r.url().includes(at) && r.url().includes(part)))
    .concat(page.evaluate(() => document.body.dispatchEvent(new Event("dogear:run-changed")))));
  await again();
  await page.waitForFunction(() => !document.querySelector(".htmx-request, .htmx-swapping"));

  assert.ok(await stop.evaluate((button) => button.isConnected), "the button that may be half pressed is still there");
  assert.ok(await page.locator("details[open] [data-testid=node-menu]").isVisible(), "the menu is open");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByTestId("confirm-stop").click();
  await page.locator("#run-head .pill", { hasText: "Stopped" }).waitFor({ timeout: 30_000 });
});

test("a press meant for the button that led to a run does not stop it", async () => {
  run("fine", "pass", "--wait");
  const page = await house.page("/workflows");
  await page.addInitScript(() => {
    new MutationObserver((records) => {
      if (records.some((r) => r.target.matches(".top .actions[inert]"))) window.held = true;
    }).observe(document, { subtree: true, attributes: true, attributeFilter: ["inert"] });
  });
  await page.getByRole("button", { name: "Run fine" }).click();
  await page.waitForURL(/\/runs\//);

  await page.waitForFunction(() => window.held);
  await page.locator(".top .actions:not([inert])").waitFor();
  await page.goto(page.url());
  await page.locator("dog-canvas.ready").waitFor();
  assert.equal(await page.evaluate(() => window.held), undefined, "a page that was opened by itself is not held");
});

test("nothing was reported by the browser", () => {
  assert.deepEqual(house.problems(), []);
});
