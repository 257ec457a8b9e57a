// Draws the pictures of the docs (`npm run picture`): docs/images/plan.svg from the plan in the README's example, and
// docs/images/fleet-report.png, the report of a fleet of 300 emulated workspaces in Chromium.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { playPage } from "../test/docs/page.ts";
import { CHROMIUM, Reader } from "../test/report/html/chromium.ts";
import { fleetOf300 } from "./fleet-picture.ts";

const ROOT = join(import.meta.dirname, "..");
/** The colors of the terminal's standard palette that the program uses, on a dark background. */
const COLORS: Readonly<Record<string, string>> = {
  31: "#ff7b72",
  32: "#7ee787",
  33: "#e3b341",
  35: "#d2a8ff",
  36: "#79c0ff",
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character starts each color
const ESCAPE = /\u001b\[(\d+)m/g;

const COMMAND = "workspace plan --out change.plan";
const readme = await playPage(readFileSync(join(ROOT, "README.md"), "utf8"), { FORCE_COLOR: "1" });
const plan = readme.outputs.find((output) => output.includes("Saved to change.plan"));
if (plan === undefined) throw new Error(`the README shows no ${COMMAND}`);
writeFileSync(join(ROOT, "docs/images/plan.svg"), svgOf(`$ ${COMMAND}\n${plan}`));

if (CHROMIUM === undefined) throw new Error("no Chromium at /usr/bin/chromium; set WORKSPACE_TEST_CHROMIUM");
const reader = await Reader.start();
const fleetFolder = mkdtempSync(join(tmpdir(), "picture-fleet-"));
const fleetPage = await fleetOf300(fleetFolder);
const { page } = await reader.open(readFileSync(fleetPage, "utf8"), {
  viewport: { width: 1280, height: 1150 },
});
await page.screenshot({ path: join(ROOT, "docs/images/fleet-report.png") });
await reader.close();
rmSync(fleetFolder, { recursive: true, force: true });

/** Terminal text with its colors as an SVG: one `text` element a line, one `tspan` a color. */
function svgOf(text: string): string {
  const lines = text.trimEnd().split("\n");
  const width = Math.max(...lines.map((line) => line.replace(ESCAPE, "").length)) * 7.85 + 32;
  const height = lines.length * 19 + 28;
  const rows = lines.map((line, at) => `<text x="16" y="${at * 19 + 29}">${spansOf(line)}</text>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${height}" role="img" aria-label="A plan that replaces an instance pool and restarts the cluster in it">
<style>text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre }</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join("\n")}
</svg>
`;
}

function spansOf(line: string): string {
  let [color, bold, dim] = ["", false, false];
  const parts = line.split(ESCAPE);
  return parts
    .map((part, at) => {
      if (at % 2 === 0)
        return part === "" ? "" : `<tspan${styleOf(color, bold, dim)}>${escaped(part)}</tspan>`;
      if (part === "1") bold = true;
      else if (part === "2") dim = true;
      else if (part === "22") [bold, dim] = [false, false];
      else color = COLORS[part] ?? "";
      return "";
    })
    .join("");
}

function styleOf(color: string, bold: boolean, dim: boolean): string {
  const fill = color === "" ? "" : ` fill="${color}"`;
  return `${fill}${bold ? ' font-weight="bold"' : ""}${dim ? ' opacity="0.6"' : ""}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
