// One folder for the temporary files of a test run, so that a run leaves none behind.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Vitest calls it before it starts workers, which inherit the variable, and what it returns when they have ended. */
export default function setup(): () => void {
  const outer = process.env.TMPDIR;
  const folder = mkdtempSync(join(tmpdir(), "tests-"));
  // As /tmp: the user of a database server has a folder in it, too, and deletes it.
  chmodSync(folder, 0o1777);
  process.env.TMPDIR = folder;
  return () => {
    if (outer === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = outer;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
