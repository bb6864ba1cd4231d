// What is looked at of a screen: pictures of it, where they are wanted, and
// what axe finds.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const shots = process.env.DOGEAR_SHOTS; // a folder for pictures of each screen

// shot takes pictures of page on a desk and a phone, light and dark.
export async function shot(page, name) {
  if (!shots) return;
  for (const [width, height] of [[1440, 900], [390, 844]]) {
    for (const theme of ["light", "dark"]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: theme });
      await page.screenshot({ path: `${shots}/${name}-${width}-${theme}.png` });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

// looked checks that axe finds nothing serious in what is open.
export async function looked(page, name) {
  await shot(page, name);
  await page.evaluate(axe);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    const serious = violations.filter((v) => v.impact === "serious" || v.impact === "critical");
    assert.deepEqual(serious.map((v) => `${name}, ${colorScheme}: ${v.id}: ${v.nodes[0].html.slice(0, 160)}`), []);
  }
}
