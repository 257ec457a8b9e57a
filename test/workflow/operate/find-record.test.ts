// A state of a newer version, which has kinds that this one does not know.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

test("a record of an unknown kind ends a run with STATE_FORMAT, and can be listed and removed", async () => {
  const folder = folderWith("groups: { g: {} }\n");
  const run = async (...words: string[]) => {
    const context = contextWith({ WORKSPACE_HOST: "embedded" }, folder);
    return { code: await runProgram(context, words), text: context.out() + context.err() };
  };
  expect((await run("apply", "--auto-approve")).code).toBe(0);
  const { text: pulled } = await run("state", "pull");
  writeFileSync(join(folder, "newer.json"), pulled.replaceAll("groups.g", "models.g"));
  expect((await run("state", "push", "newer.json")).code).toBe(0);
  for (const words of ["plan", "plan --offline", "drift", "destroy --auto-approve", "state show models.g"]) {
    const { code, text } = await run(...words.split(" "));
    expect([words, code, text]).toEqual([
      words,
      1,
      expect.stringContaining(
        'STATE_FORMAT: the state records models.g, and this version has no kind "models"',
      ),
    ]);
  }
  expect((await run("state", "mv", "models.g", "models.h")).text).toContain("STATE_FORMAT");
  expect((await run("state", "list")).text).toContain("models.g");
  expect((await run("state", "rm", "models.g")).code).toBe(0);
  expect((await run("plan", "--adopt")).code).toBe(0);
});
