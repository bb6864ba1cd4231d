// What waits in the sources of many jobs is asked for in few requests.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";

const many = 230;
let house;
before(async () => { house = await open(); });
after(async () => { await house.close(); });

test("what waits in the sources of hundreds of jobs is asked for in few requests", async () => {
  const jobs = Array.from({ length: many }, (_, i) => `load ${i}`);
  const yaml = `dogear: 1
workflow:
  name: large
  triggers:
    - {name: by hand, type: on_demand, start: [${jobs.map((job) => `{job: ${job}}`).join(", ")}]}
jobs:
${jobs.map((job) => `  - {name: ${job}, kind: python, bookmark: off, script: {body: pass}}`).join("\n")}
`;
  const made = spawnSync(binary, ["workflow", "import", "--data", house.data, "-"], { input: yaml, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const page = await house.page("/workflows");
  const asked = [];
  page.on("request", (request) => {
    if (request.url().includes("/lag")) asked.push(new URL(request.url()).searchParams.getAll("job").length);
  });

  await page.getByRole("link", { name: "large" }).click();
  await page.waitForFunction((n) => document.querySelectorAll("dog-canvas .nodes > [data-kind=job][data-marks]").length === n, many);

  assert.deepEqual(asked.slice(0, 2), [200, 30]);
  assert.ok(asked.length <= 4, `${asked.length} requests`); // the live connection may ask for all once more
  assert.deepEqual(house.problems(), []);
});
