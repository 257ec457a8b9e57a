// One folder for the temporary files of a test run, so that a run leaves none behind, and one build of the program.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { offerProgram } from "./built-program.ts";

/** Vitest calls it before it starts workers, which inherit the variable, and what it returns when they have ended. */
export default async function setup(project: TestProject): Promise<() => void> {
  const outer = process.env.TMPDIR;
  const folder = mkdtempSync(join(tmpdir(), "tests-"));
  // As /tmp: the user of a database server has a folder in it, too, and deletes it.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  const { stop, forget } = await offerProgram(folder);
  project.onTestsRerun(forget);
  return () => {
    stop();
    if (outer === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = outer;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
