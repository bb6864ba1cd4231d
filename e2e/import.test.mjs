// A file is looked at before it is imported.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => {
  house = await open({ sample: true });
  await house.quiet(); // the crawler that the file names is there
});
after(async () => { await house.close(); });

const file = (text) => ({ name: "team.yaml", mimeType: "application/yaml", buffer: Buffer.from(text) });
const team = (body) => `dogear: 1
workflow:
  name: team
  triggers:
    - {name: by hand, type: on_demand, start: [{job: report}, {crawler: curated-crawler}]}
jobs:
  - {name: report, kind: python, bookmark: off, script: {body: "${body}"}}
`;

test("choosing a file shows what would be made, changed and left alone, and Import does that", async () => {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "Import" }).first().click();
  const preview = page.getByTestId("import-preview");

  await page.setInputFiles("#import-file", file("dogear: 1\nworkflow: {name: team, colour: red}\n"));
  await preview.getByText(/the key colour is not known/).waitFor();
  await page.setInputFiles("#import-file", file(team("pass")));
  await preview.locator("[data-verb=make]").getByText("report").waitFor();
  assert.equal(await preview.locator(".note.bad").count(), 0, "the fault of the other file is gone");
  await looked(page, "import");
  assert.equal(await page.locator("#workflows").getByText("team", { exact: true }).count(), 0, "nothing is made yet");
  await page.getByRole("button", { name: "Import and publish" }).click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/);

  await page.goto(`${house.address}/workflows`);
  await page.getByRole("button", { name: "Import" }).first().click();
  await page.setInputFiles("#import-file", file(team("exit")));
  await preview.locator("[data-verb=change]").getByText("report").waitFor();
  await preview.locator("[data-verb=keep]").getByText("team").waitFor();
  await page.setInputFiles("#import-file", file(team("pass")));
  await preview.getByText(/would change nothing/).waitFor();
  assert.deepEqual(house.problems(), []);
});
