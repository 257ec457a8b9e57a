// Completion in bash: each command has its own values, and what the folder tells is offered.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { contextWith } from "./context.ts";

const context = contextWith();
await runProgram(context, ["completion", "bash"]);
writeFileSync(
  join(context.cwd, "workspace.yaml"),
  "targets:\n  prod: { variables: { a: 1 } }\n  stage:\n    pools: {}\npools: {}\n",
);

/** What is offered for the last of these words. */
function offered(...words: readonly string[]): string {
  const script = `${context.out()}
workspace() { echo pools.a; echo clusters.b; }
COMP_WORDS=(workspace ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _workspace
echo "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { cwd: context.cwd, encoding: "utf8" }).trim();
}

test.each([
  [["plan", "--output", ""], "text json markdown html junit"],
  [["plan", "-o", "m"], "markdown"],
  [["apply", "-o", ""], "text json markdown junit"],
  [["graph", "--output", "s"], "svg"],
  [["plan", "-t", ""], "prod stage"],
  [["plan", "--only", ""], "pools.a clusters.b"],
  [["state", "show", "pools"], "pools.a"],
  [["explain", "p"], "pools"],
  [["plan", "--untr"], "--untrusted"],
  [["state", "mig"], "migrate"],
  [["val"], "validate"],
])("%j", (words, offer) => {
  expect(offered(...words)).toBe(offer);
});
