// Every page: no serious finding of axe in light or dark, nothing wider than
// the window on a phone, no error in the browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { shot } from "./look.mjs";

const script = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let house;
const places = { workflows: "/workflows", runs: "/runs", bookmarks: "/bookmarks", catalog: "/catalog", query: "/query", jobs: "/jobs", crawlers: "/crawlers", connections: "/connections", health: "/health", pools: "/pools", "new connection": "/connections/new" };

before(async () => {
  house = await open({ sample: true });
  await house.quiet(); // what the lists begin with does not hang on who comes first
  execFileSync(binary, ["workflow", "import", "--data", house.data, "-"], { input: `dogear: 1
workflow:
  name: ${"orders-of-all-regions-".repeat(3)}
  triggers: [{name: nightly, type: scheduled, schedule: 'cron(0 2 * * ? *)', start: [{job: long}]}]
jobs: [{name: long, kind: python, bookmark: off, script: {body: pass}}]
` });
  // The pages of single things are found by following the lists.
  for (const [name, list, link] of [
    ["editor", "/workflows", "a[href^='/workflows/']"], ["run", "/runs", "a[href^='/runs/']"], ["job", "/jobs", "a[href^='/jobs/']"],
    ["crawler", "/crawlers", "a[href^='/crawlers/']"],
  ]) places[name] = await first(list, link);
  places.bookmark = await first("/bookmarks", "a[href^='/bookmarks/']");
  places.table = await first("/catalog", "a[href^='/catalog/']");
});
after(async () => { await house.close(); });

async function first(list, link) {
  const page = await house.page(list);
  const found = page.locator(`main ${link}`).first();
  await found.waitFor();
  return found.getAttribute("href");
}

// settled waits until a page has loaded what it asks for when it opens.
async function settled(page) {
  await page.waitForLoadState("load");
  await page.waitForFunction(() => !document.querySelector(".htmx-request, [hx-trigger~=load]:empty"));
}

test("axe finds nothing serious, light and dark", async () => {
  const findings = [];
  for (const [name, path] of Object.entries(places)) {
    const page = await house.page(path);
    await settled(page);
    await page.evaluate(script);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      for (const v of violations) {
        if (v.impact === "serious" || v.impact === "critical") findings.push(`${name}, ${colorScheme}: ${v.id}: ${v.nodes.slice(0, 2).map((n) => n.html.slice(0, 120)).join(" | ")}`);
      }
    }
    await page.context().close();
  }
  assert.deepEqual(findings, []);
});

// Only what is meant to be moved sideways may reach beyond the edge.
test("on a phone no page is wider than the window, and nothing to press or fill in is beyond its edge", async () => {
  const wide = [];
  for (const [name, path] of Object.entries(places)) {
    const page = await house.page(path, { width: 390, height: 844 });
    await settled(page);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) wide.push(`${name} by ${over} px`);
    const beyond = await page.evaluate(() => [...document.querySelectorAll("main :is(a, button, input, select, textarea), .top :is(a, button)")]
      .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth && !e.closest("dog-canvas, .palette, .data, .sr"))
      .map((e) => e.outerHTML.slice(0, 100)));
    wide.push(...beyond.map((e) => `${name}: ${e}`));
    const aside = await page.evaluate(() => [...document.querySelectorAll("main .scroll")]
      .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && !e.querySelector(".data"))
      .map((e) => `${e.querySelector("[data-testid]")?.dataset.testid} scrolls sideways by ${e.scrollWidth - e.clientWidth}`));
    wide.push(...aside.map((e) => `${name}: ${e}`));
    await page.context().close();
  }
  assert.deepEqual(wide, []);
});

test("a slash is typed into SQL, and elsewhere opens the search", async () => {
  const page = await house.page("/query");
  await page.locator(".cm-content").first().click();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("SELECT 4/2");
  assert.equal(await page.locator("#palette[open]").count(), 0);
  assert.match(await page.locator(".cm-content").first().innerText(), /4\/2/);
  await page.locator("h1").click();
  await page.keyboard.press("/");
  await page.locator("#palette[open]").waitFor();
});

test("Ctrl K finds a job by a folder that it reads, and a run by its id", async () => {
  const page = await house.page("/runs");
  const run = page.getByTestId("runs").locator("tbody tr a[href^='/runs/']").first();
  const id = (await run.getAttribute("href")).slice("/runs/".length);
  const field = page.locator("#palette input");
  await page.keyboard.press("ControlOrMeta+k");
  await field.fill("raw/sales");
  const hit = page.locator("#found a", { hasText: "raw-to-curated" });
  await hit.getByText("raw/sales").waitFor();
  await shot(page, "find");
  await field.fill(id.slice(-6).toLowerCase());
  await page.locator(`#found a[href$='/runs/${id}']`).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/runs/${id}`);
});

test("the total of runs follows them on any page", async () => {
  const page = await house.page("/query");
  const open = page.locator("#nav a", { hasText: "Runs" }).locator(".n");
  assert.equal(await open.count(), 0);
  // One of them is over in a moment; so many wait for each other, for the
  // pipeline's first job runs once at a time.
  for (let i = 0; i < 15; i++) execFileSync(binary, ["workflow", "run", "daily-sales-pipeline", "--data", house.data]);
  await open.waitFor();
  await open.waitFor({ state: "detached", timeout: 60_000 });
  assert.equal(await page.locator("#nav [aria-current=page]").innerText(), "Query");
});

test("times stay in the zone of the person when a list is written anew", async () => {
  const page = await house.page("/workflows", { zone: "Asia/Tokyo" });
  await settled(page);
  const next = page.locator("#workflows time[data-show=moment]").first();
  const there = await next.evaluate((time) => {
    const at = new Date(time.dateTime); // the browser's own words for it
    return [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
  });
  const swapped = page.waitForResponse((r) => r.url().includes("/workflows") && r.request().headers()["hx-request"] === "true");
  await page.evaluate(() => {
    window.morphed = new Promise((done) => new MutationObserver(() => done(true)).observe(document.querySelector("#workflows"), { characterData: true, childList: true, subtree: true }));
    document.body.dispatchEvent(new Event("dogear:runs-changed"));
  });
  await swapped;
  await page.evaluate(() => window.morphed);
  assert.match(await next.textContent(), new RegExp(`${there}$`));
});

test("nothing was reported by the browser", () => {
  assert.deepEqual(house.problems(), []);
});
