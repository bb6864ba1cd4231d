// What was said of something that did not answer goes once it answers.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { open } from "./house.mjs";

let house;
before(async () => { house = await open(); });
after(async () => { await house.close(); });

async function newJob(name) {
  const page = await house.page("/jobs");
  await page.getByRole("button", { name: "New job" }).first().click();
  await page.locator("#job-name").fill(name);
  await page.getByRole("button", { name: "Create" }).click();
  await page.waitForURL(/jobs\/[0-9A-Z]{26}/);
  return page;
}

test("a server that was silent is not said to be so once a look succeeds", async () => {
  const page = await newJob("silent");
  const silent = page.locator(".toast.bad", { hasText: "The server did not answer" });
  const browse = page.locator("button[hx-get^='/browse']").first();

  await page.route("**/browse?*", (route) => route.abort());
  await browse.click();
  await silent.waitFor();
  await page.unroute("**/browse?*");
  await browse.click();

  await page.locator("dialog #level").waitFor();
  await silent.waitFor({ state: "detached" });
});

test("what was typed leads nowhere is said until somebody goes elsewhere", async () => {
  mkdirSync(join(house.data, "files", "sales"), { recursive: true });
  const page = await newJob("nowhere");
  await page.locator("[name='source.0.path']").fill(join(house.data, "files", "gone") + "/");
  await page.locator("button[hx-get^='/browse']").first().click();
  const level = page.locator("dialog #level");

  await level.locator(".note.warn").waitFor();
  await level.locator(".menu-list button").first().click();

  await level.getByRole("button", { name: "Use this folder" }).waitFor();
  await page.locator("dialog .note.warn").waitFor({ state: "detached" });
});

test("a database that could not be read is looked at again", async () => {
  let page = await house.page("/connections/new?type=sqlite");
  const file = join(house.data, "files", "shop.db");
  await page.getByLabel("Name", { exact: true }).fill("shop");
  await page.getByRole("textbox", { name: "Database file" }).fill(file);
  await page.getByRole("button", { name: "Save" }).click();
  await page.waitForURL(/connections\/[0-9A-Z]{26}/);
  page = await newJob("again");
  const field = (name) => page.locator(`[name="${name}"]`);
  await field("source.0.connection").selectOption({ label: "shop" });
  await page.getByText("A table of a database").click();
  await field("source.0.table").fill("orders");
  await field("source.0.keys").fill("id");
  await page.getByRole("button", { name: "Save the draft" }).click();
  await page.locator(".note.bad", { hasText: "shop.db" }).first().waitFor();

  execFileSync("python3", ["-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE orders (id INTEGER PRIMARY KEY)')", file]);
  await field("source.0.table").blur();
  await field("source.0.table").focus();

  await page.getByText("Primary key: id.").waitFor();
  assert.equal(await page.locator(".note.bad", { hasText: "shop.db" }).count(), 0);
});
