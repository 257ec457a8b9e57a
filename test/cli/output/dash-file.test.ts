// `-` for a file to write: standard output where that is the default, and refused otherwise.

import { copyFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "dash-token";
const TERRAFORM = join(import.meta.dirname, "../../workflow/convert/by-terraform.tfstate.json");

let server: RunningServer;
let folder: string;
beforeEach(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  folder = folderWith("groups: { g: {} }\n");
});
afterEach(() => server.close());

async function run(line: string) {
  const context = contextWith({ WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN }, folder);
  const code = await runProgram(context, line.split(" "));
  return { code, out: context.out(), err: context.err() };
}

test.each([
  ["plan --metrics -", "--metrics"],
  ["plan --out -", "--out"],
  ["drift --metrics=-", "--metrics"],
  ["init --file -", "--file"],
])("%s is refused, and writes no file", async (line, option) => {
  const { code, err } = await run(line);
  expect([code, err]).toEqual([
    1,
    expect.stringContaining(
      `error CLI_USAGE: ${option} cannot be "-": name a file; standard output is not supported\n`,
    ),
  ]);
  expect(readdirSync(folder)).toEqual(["workspace.yaml"]);
});

test.each(["state pull", "export", "convert terraform.json"])(
  "%s --out - writes what it writes without --out",
  async (line) => {
    expect((await run("apply --auto-approve")).code).toBe(0);
    copyFileSync(TERRAFORM, join(folder, "terraform.json"));
    writeFileSync(join(folder, ".gitignore"), ".workspace/\n");
    const before = readdirSync(folder);
    const usual = await run(line);
    expect(usual.out).not.toBe("");
    expect(await run(`${line} --out -`)).toEqual(usual);
    expect(readdirSync(folder)).toEqual(before);
  },
);
