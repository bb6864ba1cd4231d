// A graph that is too long to be read whole opens at its beginning, and its map says
// that there is more.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";

let house;
before(async () => { house = await open(); });
after(async () => {
  await house.close();
  assert.deepEqual(house.problems(), []);
});

const jobs = ["load", "clean", "report"];
const file = `dogear: 1
workflow:
  name: four columns
  triggers:
    - {name: by hand, type: on_demand, start: [{job: load}]}
${jobs.slice(1).map((job, i) => `    - {name: then ${job}, type: conditional, when: [{job: ${jobs[i]}, state: succeeded}], start: [{job: ${job}}]}`).join("\n")}
jobs:
${jobs.map((job) => `  - {name: ${job}, kind: python, bookmark: off, script: {body: pass}}`).join("\n")}
`;

test("a workflow of four columns opens where it begins, with a map of the rest", async () => {
  execFileSync(binary, ["workflow", "import", "--data", house.data, "-"], { input: file });
  const list = await house.page("/workflows");
  const page = await house.page(new URL(await list.getByRole("link", { name: "four columns" }).first().getAttribute("href"), list.url()).pathname);
  const map = page.locator("dog-canvas .minimap");
  const stage = await page.locator("dog-canvas.ready .stage").boundingBox();
  const seen = async (name) => {
    const box = await page.locator("dog-canvas .node", { hasText: name }).boundingBox();
    return box.x >= stage.x && box.x + box.width <= stage.x + stage.width;
  };

  await map.waitFor();
  assert.ok(await seen("by hand") && await seen("load"), "its beginning is whole");
  assert.ok(!(await seen("report")), "and its end is not in sight");
  const [left, right] = await map.evaluate((box) => {
    const drawn = [...box.querySelectorAll("rect, .seen")].map((one) => one.getBoundingClientRect());
    const picture = box.querySelector("svg").getBoundingClientRect();
    return [Math.min(...drawn.map((d) => d.left)) - picture.left, picture.right - Math.max(...drawn.map((d) => d.right))];
  });
  assert.ok(Math.abs(left - right) < 3, `the map is in the middle of its box: ${left} px are free at its left and ${right} at its right`);
  await page.getByRole("button", { name: /^Show everything/ }).click();

  await map.waitFor({ state: "hidden" });
  assert.ok(await seen("by hand") && await seen("report"), "all of it is in sight");
});
