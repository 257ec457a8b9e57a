// Pipes without a writer and folders without write permission: reported at once, never waited for, never an internal
// error.

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { emptyState } from "../../../src/state/format/fold.ts";
import { stateToJson } from "../../../src/state/format/snapshot.ts";
import { COMPILE_CACHE } from "../../built-program.ts";
import { BIN, folderWith, start } from "../program.ts";

const NOBODY = 65_534;
let cwd = "";
beforeEach(() => {
  cwd = folderWith("groups: { a: {} }\n");
});

describe("a pipe", () => {
  test.each([
    ["apply pipe", "pipe"],
    ["state push pipe", "pipe"],
    ["plan", ".workspace/default/state.json"],
    ["state list", ".workspace/default/journal.jsonl"],
    ["state unlock", ".workspace/default/lock.1"],
    ["plan --profile x", ".workspacecfg"],
    ["validate", "workspace.yaml"],
    ["validate --var-file pipe", "pipe"],
    ["api groups/create --input pipe", "pipe"],
  ])("%s is refused and not waited for", async (words, pipe) => {
    mkdirSync(join(cwd, ".workspace/default"), { recursive: true });
    spawnSync("rm", ["-f", join(cwd, pipe)]);
    spawnSync("mkfifo", [join(cwd, pipe)]);
    const run = start(words.split(" "), { cwd, env: { WORKSPACE_HOST: "embedded" } });
    const { code, stderr } = await run.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(/regular file/);
  });

  test("metrics are written to a pipe without reading it first", async () => {
    spawnSync("mkfifo", [join(cwd, "metrics")]);
    const reader = spawn("cat", [join(cwd, "metrics")]);
    let text = "";
    reader.stdout.on("data", (data: Buffer) => {
      text += data.toString();
    });
    const read = new Promise((resolve) => reader.on("close", resolve));
    const run = start(["plan", "--metrics", "metrics"], { cwd, env: { WORKSPACE_HOST: "embedded" } });
    expect((await run.ended).code).toBe(0);
    await read;
    expect(text).toContain("workspace_run_outcome");
  });

  test("/dev/null as the profile file is an empty one", async () => {
    const env = { WORKSPACE_HOST: "embedded", WORKSPACE_CONFIG_FILE: "/dev/null" };
    expect((await start(["plan"], { cwd, env }).ended).code).toBe(0);
  });

  test("the output of a shell's <(command) is read", () => {
    const script = `"$0" "$1" apply --auto-approve --host embedded &>/dev/null && "$0" "$1" state push <("$0" "$1" state pull)`;
    const { status, stderr } = spawnSync("/bin/bash", ["-c", script, process.execPath, BIN], {
      cwd,
      env: { PATH: process.env.PATH ?? "", HOME: cwd, ...COMPILE_CACHE },
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([0, ""]);
  });

  test("the output of a shell's <(command) as a variable file is refused as a pipe", () => {
    const script = `"$0" "$1" validate --var-file <(echo 'size: 1')`;
    const { status, stderr } = spawnSync("/bin/bash", ["-c", script, process.execPath, BIN], {
      cwd,
      env: { PATH: process.env.PATH ?? "", HOME: cwd, ...COMPILE_CACHE },
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/variable file .* is not a regular file/)]);
  });
});

describe.skipIf(process.getuid?.() !== 0)("a folder that another user owns", () => {
  test.each(["plan --host embedded", "apply --auto-approve --host embedded", "state push state.json"])(
    "%s says that it cannot be written, with a hint",
    (words) => {
      const state = { ...emptyState("a".repeat(32)), serial: 1, host: "embedded" };
      writeFileSync(join(cwd, "state.json"), stateToJson({ state, key: "" }));
      chmodSync(cwd, 0o755);
      const { status, stderr } = spawnSync(process.execPath, [BIN, ...words.split(" ")], {
        cwd,
        env: { PATH: process.env.PATH ?? "", HOME: "/nonexistent", NODE_COMPILE_CACHE: "/nonexistent" },
        uid: NOBODY,
        encoding: "utf8",
      });
      expect(stderr).toMatch(
        /^error STATE_IO: .*\n {2}cause: EACCES.*\n {2}hint: check that .* can (be )?writ/,
      );
      expect(status).toBe(1);
    },
  );
});
