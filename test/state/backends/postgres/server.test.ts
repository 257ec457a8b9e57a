// The server of the tests ends with the process that started it, even if that is killed.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isPostgresHere } from "./server.ts";

const STARTER = `import { startPostgres } from "./server.ts";
console.log(startPostgres()?.folder);
setInterval(() => {}, 1000);`;

function answers(folder: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(join(folder, ".s.PGSQL.5432"));
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

test.skipIf(!isPostgresHere()).for(["SIGKILL", "SIGTERM", "SIGINT"] as const)(
  "a process that ends by %s leaves no server and no folder behind",
  async (signal) => {
    const child = spawn(process.execPath, ["--input-type=module", "--eval", STARTER], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const folder = await new Promise<string>((resolve) => {
      child.stdout.once("data", (data: Buffer) => resolve(data.toString().trim()));
    });
    expect(await answers(folder)).toBe(true);
    child.kill(signal);
    await expect.poll(() => existsSync(folder), { timeout: 20_000 }).toBe(false);
    expect(await answers(folder)).toBe(false);
  },
);
