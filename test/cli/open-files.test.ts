// An apply in a process that may open few files.

import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../../src/emulator/server.ts";
import { BIN, folderWith } from "./program.ts";

const TOKEN = "files-token";
const POOLS = Array.from({ length: 120 }, (_, at) => `  p${at}: { node_type_id: Standard_DS3_v2 }\n`).join(
  "",
);

test("an apply with more parallel requests than the process may have open files applies everything", async () => {
  const server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  onTestFinished(() => server.close());
  const cwd = folderWith(`pools:\n${POOLS}`);
  const options = ["apply", "--auto-approve", "--parallelism", "60"];
  const child = spawn("sh", ["-c", 'ulimit -n 40; exec "$0" "$@"', process.execPath, BIN, ...options], {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: cwd, WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      output += data.toString();
    });
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect(output).toContain("120 created, 0 updated, 0 replaced, 0 deleted.");
  expect(code).toBe(0);
});
