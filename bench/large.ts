// A large workspace: scopes of 1,000 secrets each. First apply, plan without changes, and opening the state, at several sizes.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bare, type Figure, fastest as fastestOf, withWorkspace } from "./measure.ts";
import { inFolder, mustRun, type Ran, ROOT } from "./process.ts";
import { EMPTY } from "./sizes.ts";
import { SECRET_VARIABLE } from "./spec.ts";
import { startWorkspace, TOKEN } from "./workspace.ts";

/** Scopes, each with 1,000 secrets. */
export const LARGE_SIZES: readonly number[] = [1, 10, 100];
const SECRETS = 1_000;
const ENVIRONMENT = { WORKSPACE_TOKEN: TOKEN, [SECRET_VARIABLE]: "a secret of the benchmark", CI: "1" };

export interface LargeFigures {
  readonly resources: number;
  readonly apply: Ran;
  readonly plan: Ran;
  readonly validate: Ran;
  /** `state list`: reads and checks the state. */
  readonly state: Ran;
  /** Opening the state alone: reading, verifying, and parsing all records. */
  readonly openedMs: number;
}

export interface BareFigures {
  readonly resources: number;
  readonly read: Figure;
  /** With the requests of a safe apply. */
  readonly create: Figure;
}

/** The bare client on the same workspace. */
export function measureBare(scopes: number, repeats: number): Promise<BareFigures> {
  const sizes = { ...EMPTY, scopes, secrets: scopes * SECRETS };
  return withWorkspace(async (workspace) => {
    const create = await bare("same", workspace, sizes);
    const reads: Figure[] = [];
    for (let n = 0; n < repeats; n++) reads.push(await bare("read", workspace, sizes));
    return { resources: scopes * (SECRETS + 1), create, read: fastestOf(reads) };
  });
}

/** The fastest of `repeats` plans counts; an apply of so much runs once. */
export function measureLarge(scopes: number, repeats: number, program: string): Promise<LargeFigures> {
  return inFolder(async (folder) => {
    const file = join(folder, "workspace.yaml");
    writeFileSync(file, specOf(scopes));
    const workspace = await startWorkspace();
    try {
      const on = (command: string, ...more: string[]) =>
        mustRun([program, command, "--file", file, "--host", workspace.url, ...more], ENVIRONMENT);
      const apply = await on("apply", "--auto-approve");
      const plan = await fastest(repeats, () => on("plan", "--detailed-exitcode"));
      const validate = await fastest(repeats, () =>
        mustRun([program, "validate", "--file", file], ENVIRONMENT),
      );
      const state = await fastest(repeats, () =>
        mustRun([program, "state", "list", "--file", file], ENVIRONMENT),
      );
      const opened = await fastestOpening(repeats, join(folder, ".workspace/default"));
      return { resources: scopes * (SECRETS + 1), apply, plan, validate, state, openedMs: opened };
    } finally {
      await workspace.stop();
    }
  });
}

async function fastestOpening(repeats: number, folder: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let n = 0; n < repeats; n++) {
    const { stdout } = await mustRun([join(ROOT, "bench/open-state.ts"), folder]);
    best = Math.min(best, (JSON.parse(stdout) as { openedMs: number }).openedMs);
  }
  return best;
}

async function fastest(repeats: number, run: () => Promise<Ran>): Promise<Ran> {
  let best = await run();
  for (let n = 1; n < repeats; n++) {
    const ran = await run();
    if (ran.cpuMs < best.cpuMs) best = ran;
  }
  return best;
}

function specOf(scopes: number): string {
  const lines = ["scopes:"];
  for (let scope = 0; scope < scopes; scope++) {
    lines.push(`  scope-${String(scope).padStart(4, "0")}:`, "    secrets:");
    for (let n = 0; n < SECRETS; n++)
      lines.push(`      secret-${String(n).padStart(4, "0")}: { env: ${SECRET_VARIABLE} }`);
  }
  return `${lines.join("\n")}\n`;
}
