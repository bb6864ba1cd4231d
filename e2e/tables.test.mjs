// A table of PostgreSQL as a source: connection, job, run and bookmark, as a
// person makes them. Needs e2e/with-postgres.sh.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";

const server = process.env.DOGEAR_TEST_POSTGRES;
const shots = process.env.DOGEAR_SHOTS; // a folder for pictures of each screen
const tableName = `orders_${process.pid}`;
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
  sql(`CREATE TABLE ${tableName} (id bigint PRIMARY KEY, amount numeric(10,2), note text)`,
    `INSERT INTO ${tableName} SELECT i, i / 3.0, 'note ' || i FROM generate_series(1, 1000) i`);
  house = await open();
});

after(async () => {
  await house?.close();
  if (server) sql(`DROP TABLE IF EXISTS ${tableName}, copy_${tableName}, dogear_batch`);
});

test("a table is copied by its key, from the first click to the second run", async () => {
  const address = new URL(server);
  let page = await house.page("/connections/new");
  await page.getByLabel("Leads to").selectOption("postgres");
  await page.getByLabel("Host", { exact: true }).fill(address.hostname);
  await page.getByLabel("Name", { exact: true }).fill("shop");
  await page.getByLabel("Port").fill(address.port);
  await page.getByLabel("Database").fill(address.pathname.slice(1));
  await page.getByLabel("User").fill(address.username);
  await page.getByLabel("TLS").selectOption("off");
  await shot(page, "connection-new");
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/connections\/[0-9A-Z]{26}/);
  await page.getByRole("button", { name: "Test connection" }).click();
  await page.getByText(/It answers: PostgreSQL \d+/).waitFor();
  await shot(page, "connection");

  page = await house.page("/jobs");
  await page.getByRole("button", { name: "New job" }).first().click();
  await page.locator("#job-name").fill("copy orders");
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/jobs\/[0-9A-Z]{26}/);
  const field = (name) => page.locator(`[name="${name}"]`);
  await field("source.0.connection").selectOption({ label: "shop" });
  await page.getByText("A table of a database").click();
  await field("source.0.table").focus();
  await page.locator(`datalist option[value="public.${tableName}"]`).first().waitFor({ state: "attached" });
  await field("source.0.table").fill(`public.${tableName}`);
  await field("source.0.keys").fill("id");
  await field("sink.0.connection").selectOption({ label: "shop" });
  await field("sink.0.table").fill(`public.copy_${tableName}`);
  await field("sink.0.mode").selectOption("merge");
  await field("sink.0.keys").fill("id");
  await page.getByRole("button", { name: "Save and publish" }).click();
  await page.getByText("Primary key: id.").waitFor();
  await shot(page, "job");

  const run = async () => {
    await page.getByRole("button", { name: "Run alone" }).click();
    await page.waitForURL(/runs\/[0-9A-Z]{26}/);
    await page.getByText("Succeeded").first().waitFor();
  };
  const job = page.url();
  await run();
  assert.equal(sql(`SELECT count(*), sum(amount) FROM copy_${tableName}`), sql(`SELECT count(*), sum(amount) FROM ${tableName}`));
  await page.getByRole("tab", { name: "Outputs" }).or(page.getByRole("link", { name: "Outputs" })).click();
  await page.getByText("1,000 rows inserted, 0 updated, 0 deleted, in one transaction").waitFor();
  await shot(page, "outputs");
  await page.getByRole("tab", { name: "Inputs" }).or(page.getByRole("link", { name: "Inputs" })).click();
  await page.getByText("1,000 rows").first().waitFor();
  await shot(page, "run");

  sql(`INSERT INTO ${tableName} VALUES (2000, 1, 'late'), (2001, 2, 'later')`);
  await page.goto(job);
  await page.getByRole("link", { name: "input" }).click();
  await page.getByText("2 rows").first().waitFor();
  await shot(page, "bookmark");
  await page.goto(job);
  await run();
  assert.equal(sql(`SELECT count(*), max(id) FROM copy_${tableName}`), "1002|2001");

  // Back to a key: first what it would do, then the move, then the run.
  const dogear = (...args) => execFileSync(binary, args.toSpliced(2, 0, "--data", house.data), { encoding: "utf8" });
  assert.match(dogear("bookmark", "rewind", "copy orders", "--to-key", "600", "--dry-run"), /402 rows|merged on id/);
  dogear("bookmark", "rewind", "copy orders", "--to-key", "600", "--yes");
  sql(`UPDATE ${tableName} SET note = 'changed' WHERE id IN (600, 700)`);
  await page.goto(job);
  await run();
  assert.equal(sql(`SELECT id FROM copy_${tableName} WHERE note = 'changed'`), "700");
  assert.equal(sql(`SELECT count(*) FROM copy_${tableName}`), "1002");

  // The same on its page: what is no key of this type comes back with what is wrong.
  await page.goto(job);
  await page.getByRole("link", { name: "input" }).click();
  await page.getByText("everything is read").waitFor();
  await page.getByTestId("moves").click();
  await page.getByRole("button", { name: "Rewind…" }).click();
  await page.getByLabel(/^id bigint$/).fill("six hundred");
  await page.getByRole("button", { name: "See what it would do" }).click();
  await page.getByText('"six hundred" is not a whole number, which the column id of the key (BIGINT) needs. The bookmark stands at 2001.').waitFor();
  await shot(page, "rewind-key-wrong");
  await page.getByLabel(/^id bigint$/).fill("900");
  await page.getByRole("button", { name: "See what it would do" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("The next run reads 102 rows; 102 of them were read before.").waitFor();
  await shot(page, "rewind-key");
  await dialog.getByLabel("Reason").fill("prices were wrong");
  await dialog.getByRole("button", { name: "Rewind" }).click();
  await page.getByText("to the key 900: prices were wrong").waitFor();
  await page.getByText("102 rows").first().waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await dialog.getByRole("button", { name: "Undo" }).click();
  await page.getByText("everything is read").waitFor();

  // The table is filled anew from one: page and command line say that nothing is read until keys pass the mark.
  assert.doesNotMatch(dogear("bookmark", "show", "copy orders"), /highest key/);
  sql(`TRUNCATE ${tableName}`, `INSERT INTO ${tableName} VALUES (1, 1, 'anew'), (2, 2, 'anew')`);
  const fell = /The highest key of \S+ is now 2, which is below the mark 2001: until keys pass the mark nothing is read/;
  await page.reload();
  await page.getByText(fell).waitFor();
  assert.match(dogear("bookmark", "show", "copy orders"), fell);
  const { notices, version } = JSON.parse(dogear("bookmark", "show", "--json", "copy orders"));
  assert.match(notices.join("\n"), fell);
  assert.ok(version > 0);
  sql(`ALTER TABLE ${tableName} RENAME TO away_${tableName}`);
  assert.match(dogear("bookmark", "show", "copy orders"), /^Trouble .*\n(.*\n)*Job +copy orders/);
  sql(`ALTER TABLE away_${tableName} RENAME TO ${tableName}`);
  assert.deepEqual(house.problems(), []);
});
