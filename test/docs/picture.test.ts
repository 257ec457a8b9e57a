// The picture of the README is the output of the plan in its example.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { playPage, stable } from "./page.ts";

test("docs/images/plan.svg shows the output of the plan in the README", { timeout: 60_000 }, async () => {
  const { outputs } = await playPage(readFileSync("README.md", "utf8"));
  const lines = readFileSync("docs/images/plan.svg", "utf8").split("\n");
  const rows = lines.filter((line) => line.startsWith("<text ")).map(textOf);
  expect(rows.shift()).toBe("$ workspace plan --out change.plan");
  expect(outputs.map((output) => stable(output).trimEnd())).toContain(stable(rows.join("\n")));
});

const textOf = (row: string): string =>
  row
    .replace(/<[^>]+>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
