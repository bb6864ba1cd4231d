// The gestures of the editor, each by mouse, finger or key as people make them,
// and each taken back by one undo.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { open } from "./house.mjs";

let house, page;
before(async () => { house = await open(); });
after(async () => { await house.close(); });

let count = 0;
// Every test draws on a workflow of its own: on demand -> one -> two.
beforeEach(async () => {
  page = await house.page("/workflows");
  await page.getByRole("button", { name: "New workflow" }).first().click();
  await page.locator("#workflow-name").fill(`gestures ${++count}`);
  await page.getByRole("button", { name: "Create and draw" }).click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);
  await place("on_demand", 60, 120);
  await place("job", 260, 110);
  await name("one");
  await place("job", 600, 110);
  await name("two");
  await wire(kind("on_demand"), card("one"));
  await wire(card("one"), card("two"));
  await settled();
});

const kind = (k) => page.locator(`dog-canvas li[data-kind=${k}]`).last();
const card = (text) => page.locator("dog-canvas [role=option]").filter({ has: page.locator("b", { hasText: new RegExp(`^${text}( ${count})?$`) }) });
const settled = () => page.locator("[data-save=saved]").waitFor();
const menu = () => page.getByRole("menu");
const pick = (label) => menu().getByRole("menuitem", { name: label, exact: true }).click();

async function center(locator) {
  const box = await locator.boundingBox();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(from, to) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= 6; i++) await page.mouse.move(from.x + ((to.x - from.x) * i) / 6, from.y + ((to.y - from.y) * i) / 6);
  await page.mouse.up();
}

// place pulls a block of the palette onto the canvas.
async function place(block, x, y) {
  const canvas = await page.locator("dog-canvas").boundingBox();
  const before = await page.locator("dog-canvas [role=option]").count();
  await drag(await center(page.locator(`[data-block=${block}]`).first()), { x: canvas.x + x + 95, y: canvas.y + y + 38 });
  await page.waitForFunction((n) => document.querySelectorAll("dog-canvas [role=option]").length > n, before);
  await settled();
}

// name types over the name of the card that has the focus. Names are the
// server's, so each test has its own.
async function name(text) {
  await page.keyboard.press("F2");
  await page.getByRole("textbox", { name: "Name", exact: true }).and(page.locator(".rename")).fill(`${text} ${count}`);
  await page.keyboard.press("Enter");
  await card(text).waitFor();
}

async function wire(from, to) {
  const box = await from.boundingBox();
  await drag({ x: box.x + box.width, y: box.y + box.height / 2 }, await center(to));
}

// graph is what is drawn, as "from -> to", triggers by their kind.
async function graph() {
  await settled();
  return page.evaluate(() => {
    const name = (id) => {
      const element = document.getElementById(`node-${id}`);
      return element.dataset.kind === "job" ? element.querySelector("b").textContent.split(" ")[0] : element.dataset.kind;
    };
    return [...document.querySelectorAll("dog-canvas path.edge")].map((p) => `${name(p.dataset.s)} -> ${name(p.dataset.t)}`).sort();
  });
}

const drawn = ["on_demand -> one", "one -> two"];
const undo = () => page.keyboard.press("Control+z");

test("the palette is searched, and Enter adds what was found", async () => {
  await page.getByRole("searchbox", { name: /Find a block/ }).fill("crawl");
  assert.equal(await page.locator("[data-block=scheduled]").isVisible(), false);
  await page.keyboard.press("Enter");
  await kind("crawler").waitFor();
});

test("/ finds a card by its name", async () => {
  await page.locator("body").press("/");
  await page.getByRole("textbox", { name: "Name of a card" }).fill("two");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.querySelector("b")?.textContent.startsWith("two"));
});

test("a right click offers what keys do; delete takes the card off and undo brings it back", async () => {
  await card("two").click({ button: "right" });
  for (const word of ["Open", "Run alone", "Rename", "Connect to…", "Copy", "Duplicate", "Delete", "Delete and reconnect"]) {
    await menu().getByRole("menuitem", { name: word, exact: true }).waitFor();
  }
  await pick("Delete");
  await card("two").waitFor({ state: "detached" });
  assert.deepEqual(await graph(), ["on_demand -> one"]);
  await undo();
  assert.deepEqual(await graph(), drawn);
});

test("the menu key opens the menu of the focused card, Escape gives the focus back", async () => {
  await card("one").click();
  await card("one").focus();
  await page.keyboard.press("Shift+F10");
  await menu().waitFor();
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.activeElement?.querySelector("b")?.textContent.startsWith("one"));
});

test("run alone of a job that is not published says what to do", async () => {
  await card("one").click({ button: "right" });
  await pick("Run alone");
  await page.locator(".toast.bad", { hasText: /publish/i }).waitFor();
});

test("deleting and connecting around heals the line", async () => {
  await card("one").click();
  await page.keyboard.press("Control+Delete");
  await card("one").waitFor({ state: "detached" });
  assert.deepEqual(await graph(), ["on_demand -> two"]);
  await undo();
  assert.deepEqual(await graph(), drawn);
});

test("a block dropped on an edge is put between, and so is a card that stands alone", async () => {
  const between = async () => {
    const [a, b] = [await card("one").boundingBox(), await card("two").boundingBox()];
    return { x: (a.x + a.width + b.x) / 2, y: a.y + a.height / 2 };
  };
  await drag(await center(page.locator("[data-block=job]")), await between());
  await page.waitForFunction(() => document.querySelectorAll("dog-canvas path.edge").length === 3);
  await name("three");
  assert.deepEqual(await graph(), ["on_demand -> one", "one -> three", "three -> two"]);
  await undo();
  assert.deepEqual(await graph(), drawn);

  await place("job", 300, 320);
  await name("four");
  await drag(await center(card("four")), await between());
  assert.deepEqual(await graph(), ["four -> two", "on_demand -> one", "one -> four"]);
  await undo();
  assert.deepEqual(await graph(), drawn);
});

test("the menu of an edge inserts a job", async () => {
  await page.locator("dog-canvas .cond").click({ button: "right" });
  await pick("Insert a job or crawler…");
  await page.getByRole("menuitem", { name: "SQL transform" }).click();
  await page.waitForFunction(() => document.querySelectorAll("dog-canvas path.edge").length === 3);
  await name("five");
  assert.deepEqual(await graph(), ["five -> two", "on_demand -> one", "one -> five"]);
});

test("copies carry the edges between them", async () => {
  await card("one").click();
  await card("two").click({ modifiers: ["Shift"] });
  await page.keyboard.press("Control+d");
  await page.waitForFunction(() => document.querySelectorAll("dog-canvas [role=option]").length === 5);
  assert.deepEqual(await graph(), ["on_demand -> one", "one -> two", "one -> two"]);
  await undo();
  assert.deepEqual(await graph(), drawn);
});

test("cards are cut and pasted as themselves", async () => {
  await card("two").click();
  await page.keyboard.press("Control+x");
  await card("two").waitFor({ state: "detached" });
  await page.keyboard.press("Control+v");
  await card("two").waitFor();
  assert.equal(await page.locator("dog-canvas li[data-kind=job]").count(), 2);
});

test("a double click renames in place, Escape keeps the old name", async () => {
  await card("two").locator("b").dblclick();
  await page.locator(".rename").fill("never");
  await page.keyboard.press("Escape");
  await card("two").waitFor();
  await kind("on_demand").locator("b").dblclick();
  await page.locator(".rename").fill("By hand");
  await page.keyboard.press("Enter");
  await kind("on_demand").getByText("By hand").waitFor();
  await undo();
  await kind("on_demand").getByText("On demand").first().waitFor();
});

test("a name given on the canvas stands in the panel, beside what was typed there", async () => {
  await card("two").click();
  const panel = page.locator("#panel");
  await panel.locator("h2", { hasText: `two ${count}` }).waitFor();
  await panel.locator("#retries").fill("7");
  await panel.locator('[name="source.0.path"]').fill("landing/*.csv");
  await panel.locator('[name="sink.0.path"]').fill("lake/two");
  await card("two").locator("b").dblclick();
  await page.locator(".rename").fill(`three ${count}`);
  await page.keyboard.press("Enter");
  await panel.locator("h2", { hasText: `three ${count}` }).waitFor();
  assert.equal(await panel.getByLabel("Name", { exact: true }).inputValue(), `three ${count}`);
  assert.equal(await panel.locator("#retries").inputValue(), "7");
  await panel.getByRole("button", { name: "Save" }).click();
  await panel.getByText("Saved in the draft.").waitFor();
  await card("three").waitFor();
});

test("a name that is taken is refused and says so", async () => {
  await card("two").locator("b").dblclick();
  await page.locator(".rename").fill(`one ${count}`);
  await page.keyboard.press("Enter");
  await page.getByRole("alert").filter({ hasText: "There is already a job named" }).waitFor();
  await card("two").waitFor();
});

// hand opens the workflow of the test on a screen that is touched.
async function hand() {
  const context = await page.context().browser().newContext({ storageState: await page.context().storageState(), hasTouch: true, viewport: { width: 1440, height: 900 } });
  const touched = await context.newPage();
  await touched.goto(page.url());
  await touched.locator("dog-canvas.ready").waitFor();
  return touched;
}

test("a tap on the dot and a tap on a card connect", async () => {
  await place("crawler", 600, 320);
  const touched = await hand();
  const box = await touched.locator("dog-canvas li[data-kind=job]").first().boundingBox();
  await touched.touchscreen.tap(box.x + box.width, box.y + box.height / 2);
  await touched.locator("dog-canvas .node.barred").first().waitFor();
  const to = await touched.locator("dog-canvas li[data-kind=crawler]").boundingBox();
  await touched.touchscreen.tap(to.x + to.width / 2, to.y + to.height / 2);
  await page.waitForFunction(() => document.querySelectorAll("dog-canvas path.edge").length === 3);
  assert.deepEqual(await graph(), ["on_demand -> one", "one -> crawler", "one -> two"]);
  await touched.context().close();
});

test("a finger that rests on a card opens its menu", async () => {
  const touched = await hand();
  const box = await touched.locator("dog-canvas li[data-kind=job]").first().boundingBox();
  const cdp = await touched.context().newCDPSession(touched);
  await cdp.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x: box.x + 60, y: box.y + 30 }] });
  await touched.getByRole("menu").getByRole("menuitem", { name: "Duplicate" }).waitFor();
  await cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
  await touched.getByRole("menu").getByRole("menuitem", { name: "Delete", exact: true }).click();
  await card("one").waitFor({ state: "detached" });
  await touched.context().close();
});

test("a line that is let go beside a card opens no menu", async () => {
  const [a, b] = [await card("one").boundingBox(), await card("two").boundingBox()];
  await page.locator("dog-canvas .cond").click({ button: "right" });
  await pick("Cut");
  await page.waitForFunction(() => document.querySelectorAll("dog-canvas path.edge").length === 1);
  await drag({ x: a.x + a.width, y: a.y + a.height / 2 }, { x: b.x - 6, y: b.y + b.height / 2 });
  assert.deepEqual(await graph(), drawn);
  assert.equal(await menu().count(), 0);
});

test("Escape closes a menu wherever the focus has gone", async () => {
  await card("one").click({ button: "right" });
  await menu().waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Escape");
  await menu().waitFor({ state: "detached" });
});

test("a card that is dragged stays under the pointer while its panel comes, and where it is let go", async () => {
  await card("two").press("Escape"); // nothing is selected, so the drag asks for the panel
  await page.locator("#panel h2", { hasText: "Workflow" }).waitFor();
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  await page.route(/\/cards\//, async (route) => {
    const answer = await route.fetch();
    await released;
    await route.fulfill({ response: answer });
  });
  const was = await card("one").boundingBox();
  const from = await center(card("one"));
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x, from.y + 160, { steps: 5 });
  await page.locator("dog-canvas .node.dragged").waitFor();
  release();
  await page.locator("#panel h2", { hasText: "one" }).waitFor();
  await page.waitForFunction(() => !document.querySelector("#panel").inert);
  await page.mouse.up();

  await page.locator("[data-act=undo][aria-disabled=false]").waitFor();
  await settled();
  assert.ok((await card("one").boundingBox()).y > was.y + 100, "it stays where it was let go");
  await undo();
  await page.waitForFunction(([x, y]) => [...document.querySelectorAll("dog-canvas .node")].some((e) => { const b = e.getBoundingClientRect(); return Math.abs(b.x - x) < 1 && Math.abs(b.y - y) < 1; }), [was.x, was.y]);
});

test("the panel shows the workflow again when nothing is selected", async () => {
  const heading = (text) => page.locator("#panel h2", { hasText: text }).waitFor();
  await card("two").click();
  await heading("two");
  await card("two").press("Escape");
  await heading("Workflow");
  await card("two").click();
  await heading("two");
  const canvas = await page.locator("dog-canvas").boundingBox();
  await page.mouse.click(canvas.x + 500, canvas.y + 560);
  await heading("Workflow");
  await page.locator("#panel #description").fill("kept");
});

test("nothing was reported by the browser", () => {
  assert.deepEqual(house.problems(), []);
});
