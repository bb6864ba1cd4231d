// A text that no run could take: its line is marked in the editor of the job's page, a
// screen reader is told, and the message leads there.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";
import { looked } from "./look.mjs";

let house;
before(async () => { house = await open(); });
after(async () => { await house.close(); assert.deepEqual(house.problems(), []); });

const job = async (name, body) => {
  const done = spawnSync(binary, ["workflow", "import", "--data", house.data, "-"], {
    input: `dogear: 1\nworkflow: {name: of ${name}, triggers: [{name: by hand, type: on_demand, start: [{job: ${name}}]}]}\njobs:\n  - name: ${name}\n${body}`, encoding: "utf8",
  });
  assert.equal(done.status, 0, done.stderr);
  const page = await house.page(`/jobs?name=${name}`);
  await page.getByRole("link", { name, exact: true }).click();
  await page.waitForURL(/\/jobs\/[0-9A-Z]{26}/);
  return page;
};
// within looks into the shadow root of the editor.
const within = (page, find) => page.locator("[data-editor]").first().locator(find);

test("a wrong line of SQL is marked, said, and led to; the mark goes when the line is mended", async () => {
  const page = await job("broken-sql", `    kind: sql
    bookmark: off
    sources: [{name: "in", path: ${house.data}/files/*.csv, format: csv, read: all}]
    steps: [{name: out, sql: "SELECT *\\n  -- all\\nFORM input\\nWHERE true"}]
    sinks: [{from: out, path: ${house.data}/files/out, format: parquet}]
`);
  await within(page, ".cm-wrong").waitFor();
  assert.equal(await within(page, ".cm-wrong").innerText(), "FORM input");
  assert.equal(await within(page, ".cm-wrongWord").innerText(), "input");
  const content = within(page, ".cm-content");
  assert.equal(await content.getAttribute("aria-invalid"), "true");
  const said = await content.evaluate((e) => e.getRootNode().getElementById(e.getAttribute("aria-describedby")).textContent);
  assert.match(said, /line 3, column \d+: syntax error/);
  await looked(page, "wrong-sql");

  const near = page.getByTestId("failing").getByRole("button", { name: "Go to line 3" });
  for (const lead of [near, page.getByRole("button", { name: "Go to line 3" }).first()]) {
    await lead.focus();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.dataset.editor === "step.0.sql");
  }
  await page.keyboard.type("x"); // typed where the fault is
  assert.match(await page.locator("textarea[name='step.0.sql']").inputValue(), /FORM xinput/);
  await within(page, ".cm-wrong").waitFor({ state: "detached" });
  assert.equal(await content.getAttribute("aria-invalid"), null);

  await page.getByRole("button", { name: "Save the draft" }).click();
  await within(page, ".cm-wrong").waitFor();
});

test("a wrong line of a script is marked, and stays marked while another is edited", async () => {
  const page = await job("broken-script", `    kind: python
    bookmark: off
    script: {body: "import sys\\n\\nif sys.argv\\n    print(1)\\n"}
`);
  await within(page, ".cm-wrong").waitFor();
  assert.equal(await within(page, ".cm-wrong").innerText(), "if sys.argv");
  await looked(page, "wrong-script");
  await within(page, ".cm-line").first().click();
  await page.keyboard.type("# first\n");
  assert.equal(await within(page, ".cm-wrong").innerText(), "if sys.argv");
  await page.getByTestId("failing").getByRole("button", { name: "Go to line 3" }).click();
  await page.keyboard.type(":"); // where the colon is missing, a line further down by now
  assert.match(await page.locator("textarea[name='script.body']").inputValue(), /^import sys# first\n\n+if sys\.argv:\n/);
  await within(page, ".cm-wrong").waitFor({ state: "detached" });
});

test("a misspelt column is said in the editor and before a publish, and no longer once it is corrected", async () => {
  writeFileSync(`${house.data}/files/shop.csv`, "id,name\n1,a\n");
  await job("spelt", `    kind: sql
    bookmark: off
    sources: [{name: shop, path: ${house.data}/files/shop.csv, format: csv, read: all}]
    steps: [{name: out, sql: "SELECT id,\\n  nmae FROM shop"}]
    sinks: [{from: out, path: ${house.data}/files/out, format: parquet}]
`);
  const page = await house.page("/workflows?name=of+spelt");
  await page.getByRole("link", { name: "of spelt", exact: true }).click();
  await page.locator("dog-canvas [role=option]", { hasText: "spelt" }).last().click();
  const says = page.locator("#panel").getByTestId("failing");
  await says.getByText("there is no column nmae. Did you mean name?").waitFor();
  await looked(page, "panel-misspelt");

  const sql = page.locator("#panel textarea[name='step.0.sql']");
  await sql.fill("SELECT id, name FROM shop"); // and not saved
  await says.waitFor({ state: "detached" });
  await sql.fill("SELECT id, naem FROM shop");
  await says.getByText("there is no column naem. Did you mean name?").waitFor();
  await page.getByTestId("publish").or(page.getByTestId("save-panel")).last().click();
  await page.getByTestId("publish").click();
  const dialog = page.getByTestId("publish-dialog");
  await dialog.getByText("spelt: The step out at line 1, column 12: there is no column naem. Did you mean name?").waitFor();
  await looked(page, "publish-misspelt");
});

test("the mark in an editor follows what is typed elsewhere in it, and the cursor stays", async () => {
  writeFileSync(`${house.data}/files/two.csv`, "id,name\n1,a\n");
  const page = await job("two-lines", `    kind: sql
    bookmark: off
    sources: [{name: two, path: ${house.data}/files/two.csv, format: csv, read: all}]
    steps: [{name: out, sql: "SELECT id\\n  FROM (SELECT id FROM two)\\n  WHERE nmae = 'a'"}]
    sinks: [{from: out, path: ${house.data}/files/out, format: parquet}]
`);
  await within(page, ".cm-wrong").waitFor();
  assert.equal(await within(page, ".cm-wrongWord").innerText(), "nmae");
  await within(page, ".cm-line").nth(1).click();
  await page.keyboard.press("End");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.type(" "); // the fault stays, and its mark with it
  assert.equal(await within(page, ".cm-wrongWord").innerText(), "nmae");
  await page.keyboard.press("Backspace");
  for (let n = 0; n < "id FROM two".length; n++) await page.keyboard.press("ArrowLeft");
  await page.keyboard.type("name AS nmae, "); // mended on another line than the mark
  await within(page, ".cm-wrong").waitFor({ state: "detached" });
  await page.locator("#job-fails").getByText("would fail").waitFor({ state: "detached" });
  await page.keyboard.type("x");
  assert.match(await page.locator("textarea[name='step.0.sql']").inputValue(), /AS nmae, xid FROM two/);
});
