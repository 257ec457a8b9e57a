// Runs the real program on hostile files in a separate process, and lists everything that is wrong with its reaction.

import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { COMPILE_CACHE } from "../../built-program.ts";
import { BIN, folderWith } from "../program.ts";
import { type HostileFiles, POOL } from "./hostile-files.ts";

const PATIENCE_MS = 30_000;

export interface Met {
  readonly wrong: readonly string[];
  readonly ms: number;
}

/** Writes the files and plans them in a separate process. */
export function meet(one: HostileFiles): Met {
  const folder = folderWith("");
  try {
    lay(one, folder);
    const before = readdirSync(folder, { recursive: true }).length;
    const begun = performance.now();
    const { signal, status, stdout, stderr } = plan(folder, one.args);
    const ms = performance.now() - begun;
    const made = readdirSync(folder, { recursive: true }).length - before;
    const told = stderr.slice(0, 500);
    const wrong = [
      ...(signal === null ? [] : [`it hangs, or died of ${signal}`]),
      ...(one.code.test(stderr) ? [] : [`it is not told as ${one.code}: ${told}`]),
      ...(status === 1 ? [] : [`it ended with ${status}`]),
      ...(stdout === "" ? [] : [`data was printed: ${stdout.slice(0, 200)}`]),
      ...(BUG.test(stderr) ? [`a bug, a request, or what is not ours to read: ${told}`] : []),
      ...(stderr.length < MOST_TOLD ? [] : [`${stderr.length} characters were told`]),
      ...(made === 0 ? [] : [`${made} files were written`]),
    ];
    return { wrong, ms };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const BUG = /CLI_INTERNAL|API_|^\s+at \S+ \(|root:x:|RangeError|heap/m;
const MOST_TOLD = 400_000;

function lay(one: HostileFiles, folder: string): void {
  if (one.files["workspace.yaml"] === undefined) writeFileSync(join(folder, "workspace.yaml"), POOL);
  for (const [path, content] of Object.entries(one.files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  one.make?.(folder);
}

function plan(folder: string, words: readonly string[] = []) {
  return spawnSync(process.execPath, [BIN, "plan", ...words], {
    cwd: folder,
    encoding: "utf8",
    timeout: PATIENCE_MS,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: folder,
      ...COMPILE_CACHE,
      WORKSPACE_HOST: "http://127.0.0.1:1",
      WORKSPACE_TOKEN: "t",
    },
  });
}
