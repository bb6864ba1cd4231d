// The page of a run with hundreds of nodes: it is short, the browser draws in it
// what the server draws of a small one, and its list comes page by page.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { shot } from "./look.mjs";

const many = 230;
let house;
let large;
let brief;
let wide;
before(async () => {
  house = await open();
  large = run("large", many);
  brief = run("brief", 2);
  wide = begin("wide", 14);
});
after(async () => { await house.close(); });

// run makes a workflow whose second job fails, so that the others are skipped
// without a process for each, and runs it to its end.
function run(name, others) {
  const jobs = Array.from({ length: others }, (_, i) => `${name} load ${String(i).padStart(3, "0")}`);
  const script = (job, body) => `  - {name: ${name} ${job}, kind: python, bookmark: off, script: {body: "${body}"}}`;
  const yaml = `dogear: 1
workflow:
  name: ${name}
  triggers:
    - {name: by hand, type: on_demand, start: [{job: ${name} one}]}
    - {name: nightly, type: scheduled, schedule: 'cron(0 2 * * ? *)', disabled: true, start: [{job: ${name} one}]}
    - {name: then, type: conditional, when: [{job: ${name} one, state: succeeded}], start: [{job: ${name} breaks}]}
    - {name: both, type: conditional, when: [{job: ${name} one, state: succeeded}, {job: ${name} breaks, state: any}], start: [{job: ${name} last}]}
    - {name: rest, type: conditional, when: [{job: ${name} breaks, state: succeeded}], start: [${jobs.map((job) => `{job: ${job}}`).join(", ")}]}
jobs:
${script("one", "pass")}
${script("breaks", "raise SystemExit(3)")}
${script("last", "pass")}
${jobs.map((job) => `  - {name: ${job}, kind: python, bookmark: off, script: {body: pass}}`).join("\n")}
`;
  return ended(name, yaml, "--trigger", "nightly");
}

// begin makes a workflow whose jobs all begin at once, and runs it to its end.
function begin(name, many) {
  const jobs = Array.from({ length: many }, (_, i) => `${name} ${i}`);
  return ended(name, `dogear: 1
workflow:
  name: ${name}
  triggers:
    - {name: by hand, type: on_demand, start: [${jobs.map((job) => `{job: ${job}}`).join(", ")}]}
jobs:
${jobs.map((job) => `  - {name: ${job}, kind: python, bookmark: off, script: {body: pass}}`).join("\n")}
`);
}

// ended imports a workflow, runs it to its end and returns the address of the run.
function ended(name, yaml, ...how) {
  const made = spawnSync(binary, ["workflow", "import", "--data", house.data, "-"], { input: yaml, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const ran = spawnSync(binary, ["workflow", "run", "--data", house.data, "--wait", "--json", ...how, name], { encoding: "utf8" });
  return `/runs/${JSON.parse(ran.stdout).id}`;
}

const looks = async (path) => {
  const page = await house.page(path);
  await page.locator("dog-canvas.ready").waitFor();
  return page;
};

// drawn is the markup of each kind of card, line and pill, without what differs
// from one graph to another: names, ids, places and times, and what waits in the
// sources, which comes later.
const drawn = (page, name) => page.evaluate((name) => {
  // What is far from what is seen is made when it comes near.
  const { view, camera } = document.querySelector("dog-canvas");
  for (const box of view.boxes.values()) camera.reveal(box);
  const plain = (element) => {
    const attributes = [...element.attributes].map(({ name, value }) => `${name}=${value}`).filter((text) => !/^(tabindex|aria-selected|data-marks)=/.test(text));
    return `<${element.localName} ${attributes.sort().join(" ")}>${[...element.childNodes].map((n) => (n.nodeType === 1 ? plain(n) : n.nodeType === 3 ? n.data : "")).join("")}`;
  };
  const same = (text) => text.replaceAll(name, "NAME").replace(/[0-9A-Z]{26}/g, "ID").replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replace(/\d\d:\d\d(:\d\d)?( UTC)?/g, "TIME")
    .replace(/ (d|style|data-x|data-y)=[^>]*?(?= [a-z-]+=|>)/g, "").replace(/\d+(\.\d+)? m?s/g, "TOOK").replace(/, \d+ before, \d+ after/g, "");
  const card = (words) => [...document.querySelectorAll("dog-canvas .node")].find((c) => c.textContent.includes(words));
  const of = (words) => same(plain(card(words)));
  const edge = (from, to) => {
    const [s, t] = [card(from).dataset.id, card(to).dataset.id];
    const path = [...document.querySelectorAll("path.edge")].find((p) => p.dataset.s === s && p.dataset.t === t);
    const pill = document.querySelector(`[data-pill="${CSS.escape(path.dataset.id)}"]`);
    return same(plain(path.previousElementSibling) + plain(path) + (pill ? plain(pill) : ""));
  };
  return {
    one: of(`${name} one`), breaks: of(`${name} breaks`), skipped: of(`${name} load 001`), start: of("by hand"), paused: of("nightly"), gate: of("both"), last: of(`${name} last`),
    fired: edge("by hand", `${name} one`), pill: edge(`${name} one`, `${name} breaks`), gated: edge(`${name} breaks`, "both"), fan: edge(`${name} breaks`, `${name} load 001`),
  };
}, name);

test("a run of hundreds of nodes is a short page, and drawn as a small one is", async () => {
  const page = await looks(large);
  const html = await (await page.request.get(house.address + large)).text();
  assert.ok(!html.includes('id="node-job'), "the cards are not in the page as markup");
  assert.ok(html.length < 400 * (many + 6) + 150_000, `the page has ${html.length} bytes`);
  assert.equal(await page.locator("dog-canvas .node").count(), many + 6);

  const [packed, sent] = [await drawn(page, "large"), await drawn(await looks(brief), "brief")];

  assert.deepEqual(packed, sent);
  assert.match(sent.breaks, /Failed/);
  assert.match(sent.paused, /started by hand.*Started by hand/);
  assert.deepEqual(house.problems(), []);
});

// cards of the page, and those of them that have no inside yet.
const cards = (page) => page.evaluate(() => ({
  all: document.querySelectorAll("dog-canvas .node").length,
  blank: document.querySelectorAll("dog-canvas .node.blank").length,
  lines: document.querySelectorAll("dog-canvas path.edge").length,
  seen: [...document.querySelectorAll("dog-canvas .node")].filter((card) => {
    const [at, stage] = [card.getBoundingClientRect(), document.querySelector("dog-canvas .stage").getBoundingClientRect()];
    return at.right > stage.left && at.left < stage.right && at.bottom > stage.top && at.top < stage.bottom;
  }).map((card) => !card.classList.contains("blank")),
}));

// contrast is how much the colour of a card stands out from the ground, as WCAG
// counts it.
const contrast = (page, card) => page.evaluate((card) => {
  const dots = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const light = (element, property) => {
    dots.fillStyle = getComputedStyle(document.querySelector(element))[property];
    dots.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...dots.getImageData(0, 0, 1, 1).data].map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [a, b] = [light(`dog-canvas ${card}`, "backgroundColor"), light("dog-canvas", "backgroundColor")];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}, card);

test("a card out of sight is a box with its name, and says what it was told when it comes into sight", async () => {
  const page = await looks(large);
  const before = await cards(page);
  assert.equal(before.all, many + 6);
  assert.ok(before.blank > many / 2, `${before.blank} of ${before.all} cards are blank`);
  assert.ok(before.seen.length > 0 && before.seen.every(Boolean), "every card that is seen has its inside, and there are some");

  const last = page.locator("dog-canvas .node.blank").last();
  const name = await last.locator("[data-slot=name]").textContent();
  const option = page.getByRole("option", { name: new RegExp(`^${name} ?, Job, Skipped`) });
  assert.equal(await option.count(), 1, "a screen reader finds it");
  const id = await last.getAttribute("data-id");
  // The page opens on the card that failed, where all lines begin; at the end of the
  // last of them the others are out of sight.
  const there = await looks(`${large}?node=${id}`);
  await there.locator(`[id="node-${id}"]:not(.blank)`).waitFor();
  const { lines } = await cards(there);
  assert.ok(lines > 0 && lines < many, `${lines} lines are there`);
  await page.evaluate((card) => {
    const topic = `run:${location.pathname.split("/").pop()}`;
    const data = { kind: "node", card, start: 9, attempt: 2, state: "running", at: new Date().toISOString() };
    document.body.dispatchEvent(new CustomEvent("dogear:message", { detail: { topic, data } }));
    document.body.dispatchEvent(new CustomEvent("dogear:message", { detail: { topic, data: { card, progress: { percent: 40, rows: 7 } } } }));
  }, id);
  await page.locator(`[id="node-${id}"][data-status=running]`).waitFor({ state: "attached" });
  await page.evaluate((id) => document.getElementById(`node-${id}`).focus(), id);

  const card = page.locator(`[id="node-${id}"]:not(.blank)`);
  await card.getByText("Running · attempt 2").waitFor({ state: "attached" });
  await card.getByText("7 rows").waitFor({ state: "attached" });
  assert.match(await card.locator(".mark use").getAttribute("href"), /#loader/);
  const [bar, whole] = await card.evaluate((c) => [c.querySelector(".bar").offsetWidth, c.offsetWidth]);
  assert.ok(Math.abs(bar / whole - 0.4) < 0.02, `the bar has ${bar} of ${whole}`);

  // Pressed once, everything is there to see.
  await page.locator(".tools [data-act=fit]").click();
  assert.ok((await cards(page)).lines > many);
  await shot(page, "large-run-whole");
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const state of ["failed", "succeeded"]) {
      const ratio = await contrast(page, `.node[data-status=${state}]`);
      assert.ok(ratio > 3, `what ${state} stands out by ${ratio.toFixed(1)} from the ${colorScheme} ground`);
    }
  }
  assert.deepEqual(house.problems(), []);
});

test("its cards open their panel, by pointer and by address, and its list comes page by page", async () => {
  const page = await looks(large);
  await page.locator("dog-canvas .node", { hasText: "large one" }).click();
  await page.locator("#panel h2", { hasText: "large one" }).waitFor();
  await shot(page, "large-run");
  const rows = page.locator("#graph-list tr[data-row]");
  assert.equal(await rows.count(), 200);

  await page.locator(".tools [data-act=list]").click();
  await page.locator("#graph-list").getByText("Loading more").scrollIntoViewIfNeeded();
  await page.waitForFunction((n) => document.querySelectorAll("#graph-list tr[data-row]").length === n, many + 6);
  await page.locator("#graph-list").getByText("and 222 more on success").waitFor();
  await shot(page, "large-run-list");
  assert.equal(await page.locator("#graph-list").getByText("Loading more").count(), 0);
  assert.deepEqual(house.problems(), []);
});

// scrolled is what scrolls up and down on a page, and how high the document is.
const scrolled = (page) => page.evaluate(() => ({
  document: document.documentElement.scrollHeight - innerHeight,
  parts: [...document.querySelectorAll("#main, #main *")].filter((e) => e.scrollHeight > e.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(e).overflowY)).map((e) => e.id || e.className),
}));

test("the page of a run does not scroll into blank space", async () => {
  for (const [path, size, parts] of [
    [wide, { width: 1440, height: 900 }, ["gantt"]],
    [wide, { width: 390, height: 844 }, ["main"]],
    [brief, { width: 390, height: 844 }, ["main"]],
  ]) {
    const page = await house.page(path, size);
    await page.locator("dog-canvas.ready").waitFor();
    await page.locator(".gantt li").first().waitFor();

    assert.deepEqual(await scrolled(page), { document: 0, parts }, `${path} at ${size.width}`);
  }
});

// spent is how long the scripts of a page take, in ms, to show a whole run: that
// every node began and ended, one event after the other, and then a snapshot of
// all of them; at once or in the next frame, but without its layout and painting.
// It is the best of three, as others use the machine as well.
const spent = (page) => page.evaluate(async () => {
  const topic = `run:${location.pathname.split("/").pop()}`;
  const tell = (message) => document.body.dispatchEvent(new CustomEvent("dogear:message", { detail: { topic, ...message } }));
  const frame = () => new Promise((resolve) => { requestAnimationFrame(() => resolve(performance.now())); });
  const cards = [...document.querySelectorAll("dog-canvas .node")].map((card) => card.dataset.id).filter((id) => id.startsWith("job-"));
  const [started, ended] = ["2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z"];
  const times = [];
  for (let start = 10; start < 13; start++) {
    await frame();
    const before = frame();
    const began = performance.now();
    for (const card of cards) {
      tell({ data: { kind: "node", card, start, attempt: 1, state: "running", at: started } });
      tell({ data: { kind: "node", card, start, attempt: 1, state: "succeeded", at: ended } });
    }
    tell({ snapshot: { nodes: cards.map((card) => ({ card, start, attempt: 2, state: "failed", started, ended })) } });
    const told = performance.now() - began;
    const after = frame();
    times.push(told - (await before) + (await after));
  }
  const failed = document.querySelectorAll('dog-canvas .node.bad[data-status="failed"]').length;
  return { best: Math.min(...times), shown: failed === cards.length, rows: document.querySelectorAll("#graph-list .pill.bad").length };
});

test("what an event costs the page of a run does not grow with the graph", async () => {
  const few = await spent(await looks(run("hundreds", 200)));
  const many = await spent(await looks(run("thousand", 800)));

  for (const { shown, rows } of [few, many]) {
    assert.ok(shown, "every card shows its last state");
    assert.ok(rows > 190, `the list shows the state in ${rows} rows`);
  }
  const times = many.best / few.best; // four times the events; an event that goes over the graph makes it sixteen
  assert.ok(times < 6, `200 nodes took ${few.best.toFixed()} ms, 800 took ${many.best.toFixed()} ms: ${times.toFixed(1)} times as long`);
  assert.deepEqual(house.problems(), []);
});
