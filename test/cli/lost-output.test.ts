// Output that cannot be written: told, with exit 1, and never taken for whole.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMPILE_CACHE } from "../built-program.ts";
import { BIN, folderWith } from "./program.ts";

const SPEC = `pools:\n${Array.from({ length: 30 }, (_, at) => `  p${at}: { node_type_id: Standard_DS3_v2 }\n`).join("")}`;

/** Runs a line of the shell, in which `workspace` is the program. */
function shell(cwd: string, line: string) {
  const script = `workspace() { "${process.execPath}" "${BIN}" "$@"; }\n${line}`;
  const env = { PATH: process.env.PATH ?? "", HOME: cwd, ...COMPILE_CACHE, WORKSPACE_HOST: "embedded" };
  const { status, stdout, stderr } = spawnSync("/bin/bash", ["-c", script], { cwd, env, encoding: "utf8" });
  return { status, stdout, stderr };
}

const LOST = /error CLI_FILE: standard output could not be written completely\n {2}cause: /;

describe.skipIf(!existsSync("/dev/full"))("on a full disk", () => {
  test.each([
    "--version",
    "--help",
    "schema",
    "explain pools",
    "validate",
    "plan",
    "plan --output json --detailed-exitcode",
    "apply --auto-approve > applied.txt 2>&1 && workspace state pull",
    "apply --auto-approve",
  ])("%s ends with exit 1 and says that its output is lost", (words) => {
    const { status, stderr } = shell(folderWith(SPEC), `workspace ${words} > /dev/full`);
    expect(stderr).toMatch(LOST);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(status).toBe(1);
  });

  test("an apply whose output is lost does its work", () => {
    const cwd = folderWith(SPEC);
    shell(cwd, "workspace apply --auto-approve > /dev/full");
    expect(shell(cwd, "workspace plan --detailed-exitcode").status).toBe(0);
  });
});

test("a disk that is full after a part of the output is reported", () => {
  const cwd = folderWith("groups: { a: {} }\n");
  const { status, stderr } = shell(cwd, "(ulimit -f 8; workspace schema > out.json)");
  expect([status, LOST.test(stderr)]).toEqual([1, true]);
  expect(readFileSync(join(cwd, "out.json")).length).toBe(8 * 1024);
});

test("a reader that closes the pipe early causes no error", () => {
  const { stdout, stderr } = shell(
    folderWith("groups: { a: {} }\n"),
    `workspace schema | head -c 1; echo " exit \${PIPESTATUS[0]}"`,
  );
  expect([stdout, stderr]).toEqual(["{ exit 0\n", ""]);
});
