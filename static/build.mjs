// Builds what the browser runs: static/src -> static/dist. Files keep their
// plain names; the server adds a hash of the content to their addresses.
import { build, context } from "esbuild";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { icons } from "./icons.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const src = join(here, "src");
const dist = join(here, "dist");
const packages = createRequire(import.meta.url);

rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, "fonts"), { recursive: true });
sprite();
copyFileSync(join(src, "favicon.svg"), join(dist, "favicon.svg"));
fonts();

const options = {
  outdir: dist,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome120", "firefox121", "safari17.5"],
  external: ["/static/*"],
  logLevel: "info",
};
const scripts = {
  ...options,
  entryPoints: {
    app: join(src, "app.ts"),
    "editor-sql": join(src, "editor-sql.ts"),
    "editor-python": join(src, "editor-python.ts"),
    ...(existsSync(join(src, "canvas/index.ts")) && { canvas: join(src, "canvas/index.ts") }),
  },
};
const early = { ...options, format: "iife", entryPoints: { early: join(src, "early.ts") } };
const style = { ...options, entryPoints: { app: join(src, "css/app.css") } };

if (process.argv.includes("--watch")) {
  for (const o of [scripts, early, style]) await (await context(o)).watch();
} else {
  await Promise.all([build(scripts), build(early), build(style)]);
}

// sprite joins the icons we use into one file, so that a page asks for one.
function sprite() {
  const root = dirname(packages.resolve("lucide-static/package.json"));
  const symbols = icons.map((name) => {
    const svg = readFileSync(join(root, "icons", `${name}.svg`), "utf8");
    const body = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>"));
    return `<symbol id="${name}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-linecap="round" stroke-linejoin="round">${body.replace(/\s*\n\s*/g, "")}</symbol>`;
  });
  writeFileSync(join(dist, "sprite.svg"), `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("\n")}</svg>\n`);
}

// fonts copies the variable fonts, Latin letters only, and their licences.
function fonts() {
  for (const [name, file] of [["inter", "inter-latin-wght-normal"], ["jetbrains-mono", "jetbrains-mono-latin-wght-normal"]]) {
    const root = dirname(packages.resolve(`@fontsource-variable/${name}/package.json`));
    copyFileSync(join(root, "files", `${file}.woff2`), join(dist, "fonts", `${name}.woff2`));
    copyFileSync(join(root, "LICENSE"), join(dist, "fonts", `${name}.LICENSE.txt`));
  }
}
