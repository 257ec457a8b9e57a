// Completion without a terminal: each command has its own values, and what the folder tells is offered.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";
import { isInstalled } from "./completion-terminal.ts";

const context = contextWith();
await runProgram(context, ["completion", "bash"]);
writeFileSync(
  join(context.cwd, "workspace.yaml"),
  "targets:\n  prod: { variables: { a: 1 } }\n  stage:\n    pools: {}\npools: {}\n",
);

/** The completions of the last of these words. */
function offered(...words: readonly string[]): string {
  const script = `${context.out()}
workspace() { echo pools.a; echo clusters.b; }
COMP_WORDS=(workspace ${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length}; _workspace
echo "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { cwd: context.cwd, encoding: "utf8" }).trim();
}

test.each([
  [
    ["plan", "--output", ""],
    "text json markdown html junit markdown-summary github sarif codequality gitlab",
  ],
  [["plan", "-o", "m"], "markdown markdown-summary"],
  [["apply", "-o", ""], "text json markdown html junit markdown-summary github sarif codequality gitlab"],
  [["graph", "--output", "s"], "svg"],
  [["plan", "-t", ""], "prod stage"],
  [["plan", "--only", ""], "pools.a clusters.b"],
  [["state", "show", "pools"], "pools.a"],
  [["explain", "p"], "pools"],
  [["plan", "--untr"], "--untrusted"],
  [["state", "mig"], "migrate"],
  [["drift", "ackn"], "acknowledge"],
  [["drift", "--fail-on", ""], "security cost availability other"],
  [["drift", "--since", "last", "--fail-on", "a"], "availability"],
  [["drift", "--fail-on", "cost", "--si"], "--since"],
  [["drift", "acknowledge", "--un"], "--until"],
  [["drift", "acknowledge", "cl"], "clusters.b"],
  [["drift", "acknowledge", "--target", ""], "prod stage"],
  [["val"], "validate"],
])("%j", (words, offer) => {
  expect(offered(...words)).toBe(offer);
});

test("bash offers no word of data inside double quotes, where it would be expanded", () => {
  const script = `${context.out()}
workspace() { echo 'jobs.$(touch X)'; echo jobs.plain; }
COMP_WORDS=(workspace state show '"jobs.'); COMP_CWORD=3; _workspace
printf '%s\\n' "\${COMPREPLY[@]}"`;
  expect(execFileSync("bash", ["-c", script], { encoding: "utf8" })).toBe("jobs.plain\n");
});

const fish = contextWith();
await runProgram(fish, ["completion", "fish"]);

test.runIf(isInstalled("fish")).each([
  ["plan -o j", ["json", "junit"]],
  ["plan --target ", ["prod", "stage"]],
  ["plan --only cl", ["clusters.$(touch X)"]],
  ["state show pools", ["pools.a"]],
  ["explain po", ["pools"]],
  ["drift ackn", ["acknowledge"]],
  ["drift --fail-on av", ["availability"]],
  ["drift acknowledge --reas", ["--reason"]],
  ["drift acknowledge cl", ["clusters.$(touch X)"]],
  ["val", ["validate"]],
])("fish offers for %j", (typed, offer) => {
  const script = `${fish.out()}
function workspace; echo pools.a; echo 'clusters.$(touch X)'; end
complete -C ${JSON.stringify(`workspace ${typed}`)}`;
  const printed = execFileSync("fish", ["--no-config", "-c", script], { cwd: context.cwd, encoding: "utf8" });
  expect(
    printed
      .trim()
      .split("\n")
      .map((line) => line.split("\t")[0]),
  ).toEqual(offer);
});
