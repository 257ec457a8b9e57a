import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const USERS = Array.from(
  { length: 300 },
  (_, at) => `  u${at}@example.com: { displayName: ${`${at} `.repeat(80)} }`,
);

test("a report that is shortened does not repeat the plan on standard error if standard output has it", async () => {
  const folder = folderWith(`users:\n${USERS.join("\n")}\n`);
  const context = contextWith({ WORKSPACE_HOST: "embedded" }, folder);
  const line = "apply --auto-approve -o text -o markdown=report.md";
  expect(await runProgram(context, line.split(" "))).toBe(0);
  expect(readFileSync(join(folder, "report.md"), "utf8")).toContain("Shortened to fit");
  expect(context.out()).toContain("users.u7@example.com");
  expect(
    context
      .err()
      .split("\n")
      .filter((text) => text.includes("CREATE")),
  ).toEqual([]);
  expect(context.err().match(/Applied in/g)?.length ?? 0).toBe(0);
});
