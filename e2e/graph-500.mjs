// Measures what a graph of 500 jobs costs in the browser and prints one JSON
// line a figure, as e2e/bench does: node e2e/graph-500.mjs
import { open } from "./house.mjs";

const nodes = 500;
const moves = 60; // of one drag or pan
const limits = { adopt: 50, drag: 12, pan: 12 }; // ms (editor.md 10)

const house = await open();
try {
  const page = await house.page("/workflows");
  await page.getByRole("button", { name: "Import" }).click();
  await page.setInputFiles("#import-file", { name: "big.yaml", mimeType: "application/yaml", buffer: Buffer.from(yaml()) });
  await page.getByRole("button", { name: "Import and publish" }).click();
  await page.waitForURL(/\/workflows\/[0-9A-Z]{26}/, { timeout: 60_000 });
  await page.reload();
  await page.locator("dog-canvas.ready").waitFor();
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });

  // cost is the processor time of the page's main thread for one move.
  const cost = async (act) => {
    const spent = async () => (await cdp.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
    const all = [];
    for (let i = 0; i < 3; i++) {
      const before = await spent();
      await act();
      all.push((await spent() - before) / moves);
    }
    return all.sort((a, b) => a - b)[1];
  };
  const stage = await page.locator("dog-canvas .stage").boundingBox();
  const glide = async (x, y) => {
    await page.mouse.move(x, y);
    await page.mouse.down();
    for (let i = 1; i <= moves; i++) await page.mouse.move(x + Math.sin(i / 6) * 120, y + i * 2);
    await page.keyboard.press("Escape");
    await page.mouse.up();
  };
  const busiest = await page.evaluate(() => {
    const edges = {};
    for (const p of document.querySelectorAll("dog-canvas path.edge")) for (const id of [p.dataset.s, p.dataset.t]) edges[id] = (edges[id] ?? 0) + 1;
    return Object.entries(edges).sort(([, a], [, b]) => b - a)[0][0];
  });
  const inView = async () => {
    await page.locator(`[id="node-${busiest}"]`).focus();
    const box = await page.locator(`[id="node-${busiest}"]`).boundingBox();
    return [box.x + box.width / 3, box.y + box.height / 3];
  };
  const empty = [stage.x + stage.width / 2, stage.y + 12];

  await page.locator("[data-act=fit]").click();
  say("graph_500_drag_whole", await cost(async () => glide(...(await inView()))), limits.drag);
  say("graph_500_pan_whole", await cost(() => glide(...empty)), limits.pan);
  await page.locator("dog-canvas .stage").focus();
  await page.keyboard.press("0");
  await page.locator(`[id="node-${busiest}"]`).evaluate((card) => card.closest("dog-canvas").focusCard(card.dataset.id));
  say("graph_500_drag", await cost(async () => glide(...(await inView()))), limits.drag);
  say("graph_500_pan", await cost(() => glide(...empty)), limits.pan);
  say("graph_500_adopt", await adopt(page), limits.adopt);
} finally {
  await house.close();
}

function say(name, ours, limit) {
  console.log(JSON.stringify({ name, ours: Number(ours.toFixed(2)), limit, unit: "ms", note: name.endsWith("adopt") ? "" : "main thread per pointer move, median of 3" }));
}

// adopt lets a canvas take over what the server has drawn, once more.
async function adopt(page) {
  return page.evaluate(async () => {
    const html = await (await fetch(location.href)).text();
    const all = [];
    for (let i = 0; i < 5; i++) {
      const drawn = document.importNode(new DOMParser().parseFromString(html, "text/html").querySelector("dog-canvas"), true);
      const before = performance.now();
      document.body.append(drawn); // upgrades it, which is the adoption
      all.push(performance.now() - before);
      drawn.remove();
    }
    return all.sort((a, b) => a - b)[2];
  });
}

// yaml is a workflow in which every job but the first waits for earlier ones.
function yaml() {
  let seed = 7;
  const dice = (n) => (seed = (seed * 48271) % 2147483647) % n;
  const jobs = [];
  const triggers = ["  - name: begin\n    type: on_demand\n    start:\n    - job: n0"];
  for (let i = 0; i < nodes; i++) {
    jobs.push(`- name: n${i}\n  kind: sql\n  sources:\n  - name: input\n    path: in/*.csv\n    format: csv\n  steps:\n  - name: output\n    sql: SELECT * FROM input\n  sinks:\n  - from: output\n    path: out/n${i}\n    format: parquet\n    mode: append`);
    for (const from of new Set(i === 0 ? [] : [Math.max(i - 1 - dice(25), 0), Math.max(i - 1 - dice(25), 0)].slice(0, 1 + dice(2)))) {
      triggers.push(`  - name: t${triggers.length}\n    type: conditional\n    when:\n    - job: n${from}\n      state: succeeded\n    start:\n    - job: n${i}`);
    }
  }
  return `dogear: 1\nworkflow:\n  name: big\n  triggers:\n${triggers.join("\n")}\njobs:\n${jobs.join("\n")}\n`;
}
