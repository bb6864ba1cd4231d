// Starts a server of its own for a test file, and a browser that is signed in.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const binary = process.env.DOGEAR_BINARY ?? join(dirname(fileURLToPath(import.meta.url)), "..", "bin", "dogear");

// Chromium talks to nobody but the server under test.
const flags = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

// until asks again and again, until something holds.
export async function until(what, holds) {
  for (const end = Date.now() + 30_000; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 20))) {
    assert.ok(Date.now() < end, `waited too long until ${what}`);
  }
}

// open starts a server and a browser; close ends both and removes the data.
export async function open({ sample = false, args = [] } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "dogear-e2e-"));
  const server = await serve(join(dir, "data"), sample, args);
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: flags });
  const state = await signIn(browser, server.link);
  const pages = [];
  const house = {
    ...server,
    data: join(dir, "data"),
    // page opens an address in a window of its own and fails the test on any
    // error the browser reports.
    async page(path, { width = 1440, height = 900, theme = "light", zone } = {}) {
      const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, timezoneId: zone, storageState: state, permissions: ["clipboard-write"] });
      const page = await context.newPage();
      page.problems = [];
      page.on("pageerror", (e) => page.problems.push(String(e)));
      page.on("console", (m) => { if (m.type() === "error" && !/status of 4\d\d/.test(m.text())) page.problems.push(m.text()); });
      page.setDefaultTimeout(30_000);
      await page.goto(server.address + path);
      pages.push(page);
      return page;
    },
    // quiet waits until no run is under way: Run asks first where one is. The
    // sample makes its own run a moment after the server is there.
    async quiet() {
      if (sample) {
        const first = await house.page("/runs");
        await first.getByTestId("runs").locator("tbody tr").first().waitFor({ timeout: 60_000 });
        await first.close();
      }
      const page = await house.page("/runs?outcome=open");
      await page.getByText("No run fits this filter").waitFor({ timeout: 60_000 });
      await page.close();
    },
    problems: () => pages.flatMap((p) => p.problems),
    async close() {
      await browser.close();
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return house;
}

// serve starts the binary and waits for the link that it prints.
function serve(data, sample, args) {
  const child = spawn(binary, ["serve", "--data", data, "--addr", "127.0.0.1:0", "--drain", "1s", ...(sample ? ["--sample"] : []), ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => { child.kill("SIGTERM"); await ended; };
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (chunk) => {
      text += chunk;
      const found = text.match(/(http:\/\/[^\s]+)\/signin\?token=\S+/);
      if (found) resolve({ address: found[1], link: found[0], stop });
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
  });
}

async function signIn(browser, link) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(link);
  await page.getByRole("button", { name: /sign in/i }).click();
  await page.waitForURL(/workflows/);
  const state = await context.storageState();
  await context.close();
  return state;
}
