// A palette of many jobs lists the first of them, and finds the others.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { shot } from "./look.mjs";

const many = 130;
let house, page;
before(async () => {
  house = await open();
  const jobs = Array.from({ length: many }, (_, i) => `load ${String(i).padStart(3, "0")}`);
  const yaml = (name, start) => `dogear: 1
workflow:
  name: ${name}
  triggers: [{name: by hand, type: on_demand, start: [${start.map((job) => `{job: ${job}}`).join(", ")}]}]
jobs:
${start.map((job) => `  - {name: ${job}, kind: python, bookmark: off, script: {body: pass}}`).join("\n")}
`;
  for (const [name, start] of [["all", jobs], ["one", jobs.slice(0, 1)]]) {
    execFileSync(binary, ["workflow", "import", "--data", house.data, "-"], { input: yaml(name, start) });
  }
  page = await house.page("/workflows");
  await page.getByRole("link", { name: "one", exact: true }).first().click();
  await page.locator("dog-canvas.ready").waitFor();
});
after(async () => {
  await house.close();
  assert.deepEqual(house.problems(), []);
});

const card = (name) => page.locator("dog-canvas [role=option]", { hasText: name });
const items = () => page.locator("#palette-items .block");

test("the palette lists some of the jobs, says how many more there are, and finds each", async () => {
  assert.equal(await items().count(), 60);
  await page.locator("#palette-items").getByText(`and ${many - 60} more`).waitFor();
  await shot(page, "palette");

  const field = page.getByRole("searchbox", { name: /Find a block/ });
  await field.fill("load 128");
  await field.press("Enter"); // though the server has not answered
  await card("load 128").waitFor();
  assert.equal(await card("load 001").count(), 0, "nothing that was listed before was taken");
  await field.fill("");
  await page.locator("#palette-items [data-more]").waitFor();
});

test("quick add finds a job that the palette does not list", async () => {
  await card("load 000").click();
  await page.keyboard.press("a");
  const field = page.getByRole("textbox", { name: "Find a block" });
  await field.fill("load 119");
  await field.press("Enter");
  await card("load 119").waitFor();
});

test("a card of such a job is cut and pasted", async () => {
  await card("load 119").click();
  await page.keyboard.press("Control+x");
  await card("load 119").waitFor({ state: "detached" });
  await page.keyboard.press("Control+v");
  await card("load 119").waitFor();
});
