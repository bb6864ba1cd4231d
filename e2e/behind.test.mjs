// The parts of a bookmark's page that follow it: an answer that is late neither hides
// nor takes the place of one that was asked for after it, and nothing stops following.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open, until } from "./house.mjs";

let house, bookmark;
before(async () => {
  house = await open({ sample: true });
  await house.quiet();
  const page = await house.page("/bookmarks");
  await page.getByRole("link", { name: "raw-to-curated" }).click();
  await page.waitForURL(/\/bookmarks\/[0-9A-Z]{26}/);
  bookmark = new URL(page.url()).pathname;
});
after(async () => { await house.close(); assert.deepEqual(house.problems(), []); });

for (const [part, first] of [["source", "<dl"], ["branches", "<h2"], ["coverage", "<h2"]]) {
  test(`the ${part} of a bookmark shows the newest answer`, async () => {
    const page = await house.page(bookmark);
    await page.getByTestId("days").waitFor();
    await page.getByTestId("coverage").waitFor();
    await page.waitForFunction(() => !document.querySelector(".htmx-request, .htmx-swapping"));

    // Each answer is numbered in the order in which it was asked for, and waits to be
    // let go.
    const asked = [];
    await page.route(`**${bookmark}/${part}`, async (route) => {
      const n = asked.length + 1;
      const answer = await route.fetch();
      const body = (await answer.text()).replace(first, `${first} data-n="${n}"`);
      await new Promise((go) => asked.push(go));
      await route.fulfill({ response: answer, body }).catch(() => {}); // it may have been broken off
    });
    const changed = () => page.evaluate(() => void document.body.dispatchEvent(new Event("dogear:bookmarks-changed")));
    const times = (n) => until(`it asks ${n} times`, () => asked.length >= n);
    const shows = (n) => page.locator(`#${part} [data-n="${n}"]`).waitFor();

    await changed();
    await times(1);
    await changed(); // while the first is on its way
    await times(2);
    asked[1]();
    await shows(2);
    asked[0]();
    await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
    assert.equal(await page.locator(`#${part} [data-n]`).first().getAttribute("data-n"), "2", "the older answer came after it");

    await changed();
    await times(3);
    asked[2]();
    await shows(3);
  });
}

test("what changes while the page first looks at its source is not missed", async () => {
  const page = await house.page("/bookmarks");
  const held = [];
  let open = false, asked = 0;
  await page.route(`**${bookmark}/source`, async (route) => {
    const n = ++asked; // one that was asked for earlier may be answered later
    const answer = await route.fetch();
    const body = (await answer.text()).replace("<dl", `<dl data-n="${n}"`);
    await new Promise((go) => { held.push(go); if (open) go(); });
    await route.fulfill({ response: answer, body }).catch(() => {}); // it may have been broken off
  });
  await page.goto(house.address + bookmark, { waitUntil: "commit" });
  await until("it looks", () => held.length >= 1);
  await page.evaluate(() => void document.body.dispatchEvent(new Event("dogear:bookmarks-changed")));
  await until("it looks again", () => held.length >= 2);
  open = true;
  for (const go of held) go();
  await page.getByTestId("days").waitFor();
  await until("what is shown was asked for last", async () => {
    const shown = await page.evaluate(() => !document.querySelector(".htmx-request, .htmx-swapping") && document.querySelector("#source [data-n]")?.dataset.n);
    return shown === String(asked);
  });
  assert.ok(asked < 5, `asked ${asked} times`);
});
