// Files that accompany a new spec: the schema for editors, and a .gitignore line for the state.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { readRegularFile } from "../../core/regular-file.ts";
import { writeWholeFile } from "./write-file.ts";

/** Comments, without their sign. */
export const SCHEMA_LINES: readonly string[] = [
  "For completion in editors, write the schema: workspace schema > workspace.schema.json",
  "yaml-language-server: $schema=./workspace.schema.json",
];

/**
 * The state contains no secret, but it belongs to this machine; shared states are stored elsewhere. False if the line
 * exists.
 */
export function ignoreState(folder: string): boolean {
  const path = join(folder, ".gitignore");
  const before = existsSync(path) ? readRegularFile(path).toString("utf8") : "";
  if (before.split(/\r?\n/).some((line) => line.trim() === ".workspace/" || line.trim() === ".workspace"))
    return false;
  const glue = before === "" || before.endsWith("\n") ? "" : "\n";
  writeWholeFile(path, `${before}${glue}.workspace/\n`, { over: true });
  return true;
}
