// A run goes on from one that failed: what the dialog says beforehand is what the
// new run does.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import { binary, open } from "./house.mjs";

let house;
before(async () => { house = await open({}); });
after(async () => {
  await house.close();
  assert.deepEqual(house.problems(), []);
});

const gates = [["e", "any", "a b"], ["d", "all", "c"], ["h", "any", "d e"], ["g", "all", "e"], ["k", "all", "e g"], ["n", "all", "b"]];
const jobs = [..."abcdeghkn"];
const file = `dogear: 1
workflow:
  name: nightly
  triggers:
    - {name: by hand, type: on_demand, start: [{job: a}, {job: b}, {job: c}]}
${gates.map(([job, logic, when]) => `    - {name: before ${job}, type: conditional, logic: ${logic}, when: [${when.split(" ").map((w) => `{job: ${w}, state: succeeded}`).join(", ")}], start: [{job: ${job}}]}`).join("\n")}
jobs:
${jobs.map((job) => `  - {name: ${job}, kind: python, bookmark: off, script: {body: "${job === "b" ? "raise SystemExit(3)" : "pass"}"}}`).join("\n")}
`;
const dogear = (args, input) => execFileSync(binary, [...args, "--data", house.data], { input, stdio: ["pipe", "pipe", "ignore"] }).toString();
const what = (dialog, job) => dialog.getByLabel(`What becomes of ${job}`, { exact: true });

for (const [width, height, theme] of [[1440, 900, "light"], [390, 844, "dark"]]) {
  test(`the dialog says what is done again and what is kept, at ${width}`, async () => {
    dogear(["workflow", "import", "-"], file);
    assert.throws(() => dogear(["workflow", "run", "nightly", "--wait"]), "b fails");
    const page = await house.page("/runs", { width, height, theme });
    await page.getByTestId("runs").locator("tbody a").first().click();
    await page.locator("#run-resume").click();
    const dialog = page.getByTestId("resume");
    const goOn = dialog.getByRole("button", { name: "Resume" });

    await dialog.getByText("Had no turn, and may have one now: n.").waitFor();
    for (const job of "acdeghk") assert.equal(await what(dialog, job).locator("option:checked").innerText(), "Keep as it ended");
    const [box, window] = [await goOn.boundingBox(), await dialog.boundingBox()];
    assert.ok(box.y + box.height <= window.y + window.height, "the button is within the dialog without scrolling");
    await what(dialog, "c").selectOption("again");
    await dialog.getByText("done again when its trigger fires, else skipped").waitFor();
    assert.equal(await what(dialog, "d").locator("option:checked").innerText(), "Follow the triggers");
    assert.equal(await what(dialog, "h").locator("option:checked").innerText(), "Keep as it ended", "its gate has fired for e");
    await what(dialog, "c").selectOption("keep");
    await dialog.getByText("done again when its trigger fires").waitFor({ state: "detached" });
    await goOn.click();
    await page.getByText("Resumes run").first().waitFor();

    const id = new URL(page.url()).pathname.split("/").pop();
    const said = dogear(["run", "show", id]);
    for (const job of "acdeghk") assert.match(said, new RegExp(`Node +${job} +Succeeded, kept`), `${job} is kept`);
    assert.doesNotMatch(said, /Node +b +\S+, kept/);
  });
}
