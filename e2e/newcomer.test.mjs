// What somebody who is new tries first, by mouse and by the keys that the page
// itself names.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { open } from "./house.mjs";

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
async function add(kind, shown = kind) {
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
  const two = await add("job");
  await wire(one, two);
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
