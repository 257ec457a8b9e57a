// The contents of a folder after init and after an export.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../../cli/context.ts";

test("init and export leave the state out of version control, and tell editors where the schema is", async () => {
  const context = contextWith({ WORKSPACE_HOST: "embedded" });
  expect(await runProgram(context, ["init"])).toBe(0);
  expect(await runProgram(context, ["apply", "--auto-approve"])).toBe(0);
  expect(await runProgram(context, ["export", "--out", "copy"])).toBe(0);
  for (const folder of [context.cwd, join(context.cwd, "copy")]) {
    expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe(".workspace/\n");
    expect(readFileSync(join(folder, "workspace.yaml"), "utf8")).toContain(
      "# yaml-language-server: $schema=./workspace.schema.json\n",
    );
  }
});

test("init names the file that it wrote in what comes next", async () => {
  const context = contextWith();
  await runProgram(context, ["init", "--file", "x.yaml"]);
  expect(context.out()).toContain(
    "Next: workspace validate --file x.yaml; workspace plan --file x.yaml --host embedded",
  );
});

test.each([["init"], ["export", "--out", "."]])(
  "%s fails before it writes a file when .gitignore is a link to a file without the state",
  async (...argv) => {
    const context = contextWith({ WORKSPACE_HOST: "embedded" });
    mkdirSync(join(context.cwd, "shared"));
    const shared = join(context.cwd, "shared", "ignored");
    writeFileSync(shared, "dist/\n");
    symlinkSync(shared, join(context.cwd, ".gitignore"));
    expect(await runProgram(context, argv)).toBe(1);
    expect(context.err()).toContain(".gitignore is a symbolic link");
    expect(existsSync(join(context.cwd, "workspace.yaml"))).toBe(false);
    writeFileSync(shared, ".workspace/\n");
    expect(await runProgram(context, argv)).toBe(0);
    expect(readFileSync(shared, "utf8")).toBe(".workspace/\n");
  },
);
