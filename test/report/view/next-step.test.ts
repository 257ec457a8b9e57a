// The command that a report names as the next step, pasted into a shell.

import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { nextOfDrift } from "../../../src/report/view/next-step.ts";

const NAMES = ["prod`$(echo executed >&2)`eu", "`'$(echo executed >&2)'", "back\\slash` \\x60", "it's `it`"];

function commandFor(target: string): string {
  const view = { drift: [{ open: "new" }] } as never;
  const info = { command: "drift", host: "h", at: "", version: "0", target } as never;
  const [, command = ""] = (nextOfDrift(view, info) ?? "").split("`");
  return command;
}

test.each(NAMES)("passes the whole target, also with backticks: %s", (target) => {
  const script = `workspace() { printf '%s\\n' "$@"; }; ${commandFor(target)}`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect([stdout, stderr]).toEqual([`apply\n--target\n${target}\n`, ""]);
});

test.each(NAMES)("executes no part of a target in another shell: %s", (target) => {
  const { stderr } = spawnSync("sh", ["-c", `workspace() { :; }; ${commandFor(target)}`], {
    encoding: "utf8",
  });
  expect(stderr).toBe("");
});
