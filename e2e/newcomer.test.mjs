// What somebody who is new tries first, by mouse and by the keys that the page
// itself names.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { open } from "./house.mjs";
import { shot } from "./look.mjs";

let house, page;
before(async () => { house = await open(); });
after(async () => {
  await house.close();
  assert.deepEqual(house.problems(), []);
});

let count = 0;
beforeEach(async () => {
  page = await house.page("/workflows");
  await page.getByRole("button", { name: "New workflow" }).first().click();
  await page.locator("#workflow-name").fill(`new ${++count}`);
  await page.getByRole("button", { name: "Create and draw" }).click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  await page.locator("dog-canvas.ready").waitFor();
});

const cards = (kind) => page.locator(`dog-canvas li[data-kind=${kind}]`);
const block = (kind) => page.locator(`.palette [data-block=${kind}]`).first();
const settled = () => page.locator("[data-save=saved]").waitFor();
const menu = () => page.getByRole("menu");

// add clicks a block of the palette and answers with its card.
async function add(kind, shown = kind === "python" ? "job" : kind) {
  const n = await cards(shown).count();
  await block(kind).click();
  const card = cards(shown).nth(n);
  await card.waitFor();
  await settled();
  return page.locator(`#${await card.getAttribute("id")}`);
}

async function wire(from, to) {
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  await page.mouse.move(a.x + a.width, a.y + a.height / 2);
  await page.mouse.down();
  await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2 - 4, { steps: 5 });
  await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 2 });
  await page.mouse.up();
  await settled();
}

// drawn are the lines of the graph, by the kinds of their ends.
const drawn = () => page.evaluate(() => [...document.querySelectorAll("dog-canvas path.edge")]
  .map((p) => [p.dataset.s, p.dataset.t].map((id) => document.getElementById(`node-${id}`).dataset.kind).join(" -> ")).sort());

// apart is whether no two cards lie on each other.
const apart = () => page.evaluate(() => {
  const boxes = [...document.querySelectorAll("dog-canvas li.node")].map((card) => card.getBoundingClientRect());
  return boxes.every((a, i) => boxes.slice(i + 1).every((b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top));
});

for (const kind of ["on_demand", "scheduled", "job", "crawler"]) {
  test(`the first card on an empty canvas opens its panel: ${kind}`, async () => {
    const card = await add(kind);
    const name = await card.locator("b").innerText();
    await page.locator("#panel h2", { hasText: name }).waitFor();
    assert.equal(await card.getAttribute("aria-selected"), "true");
  });
}

test("the condition on a line opens its menu whatever was clicked before", async () => {
  const one = await add("job");
  await add("job"); // after the one that is selected
  const pill = page.locator("dog-canvas button.cond");
  for (const act of [() => pill.click(), () => pill.dblclick(), () => pill.press("Enter"), () => pill.press("Space")]) {
    await one.click();
    await page.locator("#panel h2", { hasText: await one.locator("b").innerText() }).waitFor();
    await act();
    await menu().getByRole("menuitem", { name: "Cut" }).waitFor();
    const [near, at] = [await menu().boundingBox(), await pill.boundingBox()];
    assert.ok(Math.abs(near.x - at.x) < 200 && Math.abs(near.y - at.y) < 200, "it opens where the line is");
    await page.keyboard.press("Escape");
    await menu().waitFor({ state: "detached" });
  }
});

test("Ctrl+K marks the first that is found, Enter opens it and the first Escape closes", async () => {
  const search = page.locator("#palette");
  const field = search.locator("input");
  const soft = (nth) => search.locator("li a").nth(nth).evaluate((a) => getComputedStyle(a).backgroundColor);
  await page.keyboard.press("Control+k");
  await field.pressSequentially(`new ${count}`);
  await page.keyboard.press("Escape");
  await search.waitFor({ state: "hidden" });

  await page.keyboard.press("Control+k");
  await field.fill("new");
  await search.locator("li a", { hasText: "new 1" }).first().waitFor();
  assert.notEqual(await soft(0), await soft(1), "the first is marked");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.notEqual(await soft(1), await soft(0), "then the one with the focus");

  await page.goto(`${house.address}/jobs`);
  await page.keyboard.press("Control+k");
  await field.fill(`new ${count}`);
  await page.keyboard.press("Enter"); // though the server has not answered
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  await page.locator("h1", { hasText: `new ${count}` }).waitFor();
});

test("a block by Enter is connected after the selected card, where it can be", async () => {
  await block("on_demand").press("Enter");
  await cards("on_demand").waitFor();
  await settled();
  await block("conditional").press("Enter"); // no trigger starts a trigger
  await cards("conditional").waitFor();
  await cards("on_demand").click();
  await block("job").press("Enter");
  await cards("job").waitFor();
  await settled();
  assert.deepEqual(await drawn(), ["on_demand -> job"]);
  await block("scheduled").press("Enter"); // begins the workflow
  await cards("scheduled").waitFor();
  await settled();
  assert.deepEqual(await drawn(), ["on_demand -> job"]);
  await cards("job").click();
  await block("crawler").press("Enter");
  await cards("crawler").waitFor();
  await settled();
  assert.deepEqual(await drawn(), ["job -> crawler", "on_demand -> job"]);
  assert.equal(await page.locator("dog-canvas .refused.shown").count(), 0);
  assert.ok(await apart());
});

test("a file that cannot be read is refused as an error, and cannot be imported", async () => {
  await page.goto(`${house.address}/workflows`);
  await page.getByRole("button", { name: "Import" }).first().click();
  const button = page.getByRole("button", { name: "Import and publish" });
  const choose = (text) => page.setInputFiles("#import-file", { name: "w.yaml", mimeType: "application/yaml", buffer: Buffer.from(text) });
  await choose("\u0000 no yaml: [");
  await page.getByTestId("import-preview").getByRole("alert").locator(".note.bad").waitFor();
  assert.ok(await button.isDisabled());
  await choose("dogear: 1\nworkflow: {name: good}\n");
  await page.getByTestId("import-preview").locator("[data-verb=make]").waitFor();
  assert.ok(await button.isEnabled());
  assert.equal(await page.getByTestId("import-preview").locator(".note.bad").count(), 0);
});

test("code is read sign by sign", async () => {
  await add("python");
  await page.locator("#panel .cm-content, #panel pre, #panel textarea, #panel code").first().waitFor();
  const joined = await page.evaluate(() => {
    const all = (root) => [...root.querySelectorAll("*")].flatMap((e) => [e, ...(e.shadowRoot ? all(e.shadowRoot) : [])]);
    return all(document).filter((e) => /^"JetBrains/.test(getComputedStyle(e).fontFamily) && getComputedStyle(e).fontVariantLigatures !== "none").map((e) => e.className || e.tagName);
  });
  assert.deepEqual(joined, []);
});

// place pulls a block of the palette to a point of the canvas.
async function place(kind, x, y) {
  const canvas = await page.locator("dog-canvas").boundingBox();
  const n = await page.locator("dog-canvas li.node").count();
  const from = await block(kind).boundingBox();
  await page.mouse.move(from.x + 20, from.y + 10);
  await page.mouse.down();
  await page.mouse.move(canvas.x + x, canvas.y + y, { steps: 6 });
  await page.mouse.up();
  const card = page.locator("dog-canvas li.node").nth(n);
  await card.waitFor();
  await settled();
  return page.locator(`#${await card.getAttribute("id")}`);
}

test("a condition stays the card that was dropped while it is built, and comes back where nothing stands", async () => {
  const one = await place("job", 130, 160);
  const two = await place("job", 640, 160);
  const gate = await place("conditional", 385, 160);
  await wire(one, gate);
  await wire(gate, two);
  assert.ok(await gate.isVisible(), "it is whole, and selected still");
  assert.deepEqual(await drawn(), ["conditional -> job", "job -> conditional"]);
  await gate.click();
  await one.click();
  await gate.waitFor({ state: "detached" });
  assert.deepEqual(await drawn(), ["job -> job"]);

  // Where it stood something else stands now.
  const three = await place("job", 400, 300);
  await three.click();
  await wire(three, two);
  await menu().getByRole("menuitem", { name: "When all have succeeded" }).click();
  await gate.waitFor();
  await settled();
  assert.ok(await apart(), "it lies on no other card");
  await page.reload();
  await gate.waitFor();
  assert.ok(await apart());
});

test("a dropped condition that is whole is a line after a reload", async () => {
  const one = await place("job", 130, 160);
  const gate = await place("conditional", 385, 160);
  const two = await place("job", 640, 160);
  await wire(one, gate);
  await wire(gate, two);
  assert.ok(await gate.isVisible());
  await page.reload();
  await page.locator("dog-canvas.ready").waitFor();
  assert.deepEqual(await drawn(), ["job -> job"]);
});

test("what is refused is said at its field or in its dialog, and covers no button", async () => {
  const panel = page.locator("#panel");
  const save = panel.locator("#panel-form button[type=submit]").first();
  const theirs = await (await add("job")).locator("b").innerText();
  await add("python");
  const name = panel.locator("[name=name]");
  await panel.locator("[name='script.body']").waitFor({ state: "attached" });
  await name.fill(theirs);
  await save.click();
  await panel.locator("[name=name][aria-invalid=true]").waitFor();
  await panel.getByText(/There is already a job named/).waitFor();
  assert.equal(await page.locator(".toast").count(), 0);
  await name.fill(`free ${count}`);
  await save.click();
  await panel.locator("h2", { hasText: `free ${count}` }).waitFor();

  await page.goto(`${house.address}/workflows`);
  await page.getByRole("button", { name: "New workflow" }).first().click();
  await page.locator("#workflow-name").fill("new 1");
  const make = page.getByRole("button", { name: "Create and draw" });
  await make.click();
  const said = page.locator("dialog:modal .toast.bad");
  await said.getByText(/already a workflow named/).waitFor();
  const [box, button] = [await said.boundingBox(), await make.boundingBox()];
  assert.ok(box.y + box.height <= button.y, "it stands above the buttons");
  await shot(page, "refused-in-dialog");
  await said.getByRole("button", { name: "Close this message" }).click();
  await said.waitFor({ state: "detached" });
  await make.click();
  await said.waitFor();
  await page.locator("#workflow-name").fill("new and free");
  await make.click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
});
