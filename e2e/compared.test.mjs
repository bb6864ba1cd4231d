// A table of PostgreSQL that is compared row by row, from the form to the
// bookmark's page, over a connection with a certificate of its own.
// Needs e2e/with-postgres.sh.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";

const server = process.env.DOGEAR_TEST_POSTGRES;
const shots = process.env.DOGEAR_SHOTS; // a folder for pictures of each screen
const tableName = `stock_${process.pid}`;
let house;

const sql = (...statements) => execFileSync("psql", [server, "-qAtc", statements.join("; ")], { encoding: "utf8" }).trim();

async function shot(page, name) {
  if (!shots) return;
  for (const [width, height] of [[1440, 900], [390, 844]]) {
    for (const theme of ["light", "dark"]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: theme });
      await page.screenshot({ path: `${shots}/${name}-${width}-${theme}.png`, fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

before(async () => {
  assert.ok(server, "DOGEAR_TEST_POSTGRES names no server; run this by e2e/with-postgres.sh");
  sql(`CREATE TABLE ${tableName} (id text PRIMARY KEY, amount numeric(10,2), note text)`,
    `INSERT INTO ${tableName} SELECT 'part ' || i, i / 3.0, 'note ' || i FROM generate_series(1, 200) i`,
    `GRANT ALL ON ${tableName} TO keeper`, "GRANT CREATE ON SCHEMA public TO keeper");
  house = await open();
});

after(async () => {
  await house?.close();
  if (server) sql(`DROP TABLE IF EXISTS ${tableName}, copy_${tableName}, dogear_batch`);
});

test("a table is compared row by row, and its page says what is new, changed and gone", async () => {
  const address = new URL(server);
  let page = await house.page("/connections/new");
  await page.getByLabel("Leads to").selectOption("postgres");
  await page.getByLabel("Host", { exact: true }).fill(address.hostname);
  await page.getByLabel("Name", { exact: true }).fill("vault");
  await page.getByLabel("Port").fill(address.port);
  await page.getByLabel("Database").fill(address.pathname.slice(1));
  await page.getByLabel("User").fill("keeper");
  await page.getByLabel("Password").fill("hush-hush");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/connections\/[0-9A-Z]{26}/);
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText("give the connection the certificate of its CA").or(page.getByText("is not made for")).waitFor();
  await page.getByText("Certificate and server name").click();
  await page.getByLabel("CA certificate").fill(readFileSync(process.env.DOGEAR_TEST_POSTGRES_CA, "utf8"));
  await page.getByLabel("Server name").fill("database.test");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText(/It answers: PostgreSQL \d+/).waitFor();
  await shot(page, "connection");

  page = await house.page("/jobs");
  await page.getByRole("button", { name: "New job" }).first().click();
  await page.locator("#job-name").fill("follow stock");
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/jobs\/[0-9A-Z]{26}/);
  const field = (name) => page.locator(`[name="${name}"]`);
  await field("source.0.connection").selectOption({ label: "vault" });
  await field("source.0.read").selectOption("compare");
  await page.getByText("A table of a database").click();
  await field("source.0.table").fill(`public.${tableName}`);
  await field("sink.0.connection").selectOption({ label: "vault" });
  await field("sink.0.table").fill(`public.copy_${tableName}`);
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.getByText("A changed row is read again").waitFor(); // an append is refused
  await field("sink.0.mode").selectOption("merge");
  await field("sink.0.keys").fill("id");
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.getByText("Primary key: id.").waitFor();
  await page.getByText("A table of a database").scrollIntoViewIfNeeded();
  await shot(page, "job");

  const run = async () => {
    await page.getByRole("button", { name: "Run alone" }).click();
    await page.waitForURL(/runs\/[0-9A-Z]{26}/);
    await page.getByText("Succeeded").first().waitFor();
  };
  const job = page.url();
  await run();
  const all = (name) => sql(`SELECT count(*), sum(amount), md5(string_agg(note, ',' ORDER BY id)) FROM ${name}`);
  assert.equal(all(`copy_${tableName}`), all(tableName));

  sql(`INSERT INTO ${tableName} VALUES ('part 0', 1, 'late')`, `UPDATE ${tableName} SET note = 'changed' WHERE id IN ('part 7', 'part 70')`, `DELETE FROM ${tableName} WHERE id = 'part 9'`);
  await page.goto(job);
  await page.getByRole("link", { name: "input" }).click();
  await page.getByText("1 new, 2 changed, 1 gone").first().waitFor();
  await page.getByText("1 row was read and is no longer there: part 9").first().waitFor();
  await shot(page, "bookmark");
  await page.goto(job);
  await run();
  await page.getByRole("tab", { name: "Inputs" }).or(page.getByRole("link", { name: "Inputs" })).click();
  await page.getByText("Read: Changed in place").first().waitFor();
  await page.getByText("Left: Gone from the source").first().waitFor();
  await shot(page, "run");
  assert.equal(sql(`SELECT count(*) FROM copy_${tableName} WHERE note IN ('changed', 'late')`), "3");

  await page.goto(job);
  await page.getByRole("link", { name: "input" }).click();
  await page.getByText("every row that was read is still there").first().waitFor();
  await page.getByRole("searchbox", { name: "Part of the row's name" }).fill("part 9");
  await page.locator("#lookup").getByText("Gone").first().waitFor();
  await shot(page, "bookmark-after");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("dialog").getByText(/3 rows|about 3/).first().waitFor();
  await shot(page, "undo");
  assert.deepEqual(house.problems(), []);
});
