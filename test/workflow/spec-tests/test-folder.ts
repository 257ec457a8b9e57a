// A folder with a spec and its tests, and the command that runs them.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runProgram } from "../../../src/cli/program.ts";
import type { ProcessEnvironment } from "../../../src/config/environment.ts";
import { contextWith } from "../../cli/context.ts";

/** One resource of each sort: with a reference, a member, a secret, and a content. */
export const SPEC = `variables: { size: { type: number, default: 20 } }
groups: { data-eng: {} }
scopes:
  etl: { acls: { data-eng: READ }, secrets: { db-password: { env: DB_PASSWORD } } }
pools:
  shared: { node_type_id: Standard_DS3_v2, max_capacity: "\${var.size}" }
clusters:
  adhoc: { spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${pools.shared.instance_pool_id}" }
`;

export function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "spec-tests-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function workspaceTest(
  folder: string,
  args: readonly string[] = [],
  env: ProcessEnvironment = {},
): Promise<Ran> {
  const context = contextWith(env, folder);
  const code = await runProgram(context, ["test", ...args]);
  return { code, out: context.out(), err: context.err() };
}

/** The tests of one file, run. */
export function runTestFile(tests: string, files: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return workspaceTest(folderWith({ "workspace.yaml": SPEC, "a.test.yaml": tests, ...files }));
}
