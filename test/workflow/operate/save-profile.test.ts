// Profiles that several processes write at the same time.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parseIni } from "../../../src/config/profile.ts";
import { saveProfile } from "../../../src/workflow/operate/save-profile.ts";

const PROCESSES = 4;
const SAVES = 8;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "profiles-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const program = (path: string, owner: number): string => `
  const { saveProfile } = await import(${JSON.stringify(resolve("src/workflow/operate/save-profile.ts"))});
  process.stdout.write("ready");
  await new Promise((begin) => process.stdin.once("data", begin));
  for (let at = 0; at < ${SAVES}; at++)
    await saveProfile({ path: ${JSON.stringify(path)} }, { name: "p${owner}-" + at, values: { host: "https://h" } });
  process.exit();
`;

test("every profile is in the file when several processes save theirs at the same time", async () => {
  const path = join(folder, "config");
  const processes = Array.from({ length: PROCESSES }, (_, owner) =>
    spawn(process.execPath, ["--input-type=module", "--eval", program(path, owner)], {
      stdio: ["pipe", "pipe", "inherit"],
    }),
  );
  await Promise.all(processes.map(({ stdout }) => once(stdout, "data")));
  const ended = Promise.all(processes.map((one) => once(one, "exit")));
  for (const { stdin } of processes) stdin.write("go");
  expect((await ended).map(([code]) => code)).toEqual(processes.map(() => 0));
  expect(parseIni(readFileSync(path, "utf8")).size).toBe(PROCESSES * SAVES);
  expect(readdirSync(folder)).toEqual(["config"]);
});

test("a profile file that stays locked is reported with the file to delete, and is not changed", async () => {
  const path = join(folder, "config");
  writeFileSync(path, "[a]\nhost = https://a\n");
  writeFileSync(`${path}.lock`, "");
  vi.useFakeTimers();
  const saving = saveProfile({ path }, { name: "b", values: { host: "https://b" } });
  const refused = expect(saving).rejects.toMatchObject({
    diagnostics: [
      {
        code: "CLI_FILE",
        message: `the profile file ${path} cannot be written`,
        hint: "if no other `workspace login` runs, delete that file",
        cause: expect.stringContaining(`${path}.lock`),
      },
    ],
  });
  await vi.runAllTimersAsync();
  await refused;
  expect(readFileSync(path, "utf8")).toBe("[a]\nhost = https://a\n");
  expect(readdirSync(folder).sort()).toEqual(["config", "config.lock"]);
});
