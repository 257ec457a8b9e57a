// One measurement each: apply from nothing, the plan that follows, the series, and how long the program takes to start.

import { join } from "node:path";
import { inFolder, mustRun, peakOf, run } from "./process.ts";
import { leastReads, resourcesOf, type Sizes } from "./sizes.ts";
import { SECRET_VARIABLE, writeSpec } from "./spec.ts";
import { median } from "./table.ts";
import { CLI, startWorkspace, TOKEN, type Workspace } from "./workspace.ts";
import { worldOf } from "./world.ts";

const BARE = join(import.meta.dirname, "bare.ts");
const ENVIRONMENT = { WORKSPACE_TOKEN: TOKEN, [SECRET_VARIABLE]: "a secret of the benchmark", CI: "1" };

export interface ApplyFigures {
  readonly resources: number;
  readonly lines: number;
  readonly ms: number;
  readonly reads: number;
  readonly writes: number;
}

export interface MainFigures {
  readonly apply: ApplyFigures;
  readonly bareCreate: { readonly ms: number; readonly writes: number };
  readonly plan: {
    readonly ms: number;
    readonly reads: number;
    readonly writes: number;
    readonly least: number;
  };
  /** Reading and checking the spec alone. */
  readonly validateMs: number;
  readonly bareRead: { readonly ms: number; readonly reads: number };
  readonly peak: { readonly apply: number; readonly plan: number };
}

/**
 * Applies the spec to an empty workspace, then plans it again; a bare client does the same to another one. Of several runs the
 * fastest counts, because everything that disturbs a run makes it slower.
 */
export async function measureMain(sizes: Sizes, repeats: number): Promise<MainFigures> {
  const apply = await measureSize(sizes, repeats);
  const bareCreate = await measureBareCreate(sizes, repeats);
  return withWorkspace((workspace) =>
    inFolder(async (folder) => {
      await measureApply(workspace, sizes, folder);
      const planning = arguments_("plan", workspace, folder);
      const plans: number[] = [];
      const validations: number[] = [];
      const reads: number[] = [];
      let counted = { reads: 0, writes: 0 };
      let bareReads = 0;
      for (let n = 0; n < repeats; n++) {
        await workspace.requests();
        plans.push((await mustRun([...planning, "--detailed-exitcode"], ENVIRONMENT)).ms);
        counted = await workspace.requests();
        validations.push((await mustRun([CLI, "validate", "--file", specIn(folder)], ENVIRONMENT)).ms);
        reads.push((await mustRun([BARE, "read", workspace.url, JSON.stringify(sizes)], ENVIRONMENT)).ms);
        bareReads = (await workspace.requests()).reads;
      }
      return {
        apply,
        bareCreate,
        plan: { ms: Math.min(...plans), ...counted, least: leastReads(sizes) },
        validateMs: Math.min(...validations),
        bareRead: { ms: Math.min(...reads), reads: bareReads },
        peak: { apply: await peakOfApply(sizes), plan: await peakOf(planning, ENVIRONMENT) },
      };
    }),
  );
}

/** Time of a first apply at one size, the fastest of several. */
export function measureSize(sizes: Sizes, repeats: number): Promise<ApplyFigures> {
  return fastest(repeats, () =>
    withWorkspace((workspace) => inFolder((folder) => measureApply(workspace, sizes, folder))),
  );
}

export async function measureStart(
  repeats: number,
): Promise<{ readonly version: number; readonly node: number }> {
  const version: number[] = [];
  const node: number[] = [];
  await run([CLI, "--version"]);
  for (let n = 0; n < repeats; n++) {
    version.push((await mustRun([CLI, "--version"])).ms);
    node.push((await mustRun(["-e", "0"])).ms);
  }
  return { version: median(version), node: median(node) };
}

async function measureApply(workspace: Workspace, sizes: Sizes, folder: string): Promise<ApplyFigures> {
  const lines = writeSpec(folder, worldOf(sizes));
  await workspace.requests();
  const { ms } = await mustRun([...arguments_("apply", workspace, folder), "--auto-approve"], ENVIRONMENT);
  return { resources: resourcesOf(sizes), lines, ms, ...(await workspace.requests()) };
}

function measureBareCreate(sizes: Sizes, repeats: number): Promise<{ ms: number; writes: number }> {
  return fastest(repeats, () =>
    withWorkspace(async (workspace) => {
      const { ms } = await mustRun([BARE, "create", workspace.url, JSON.stringify(sizes)], ENVIRONMENT);
      return { ms, writes: (await workspace.requests()).writes };
    }),
  );
}

async function fastest<T extends { readonly ms: number }>(
  repeats: number,
  measure: () => Promise<T>,
): Promise<T> {
  let best = await measure();
  for (let n = 1; n < repeats; n++) {
    const next = await measure();
    if (next.ms < best.ms) best = next;
  }
  return best;
}

function peakOfApply(sizes: Sizes): Promise<number> {
  return withWorkspace((workspace) =>
    inFolder((folder) => {
      writeSpec(folder, worldOf(sizes));
      return peakOf([...arguments_("apply", workspace, folder), "--auto-approve"], ENVIRONMENT);
    }),
  );
}

function arguments_(command: string, workspace: Workspace, folder: string): string[] {
  return [CLI, command, "--file", specIn(folder), "--host", workspace.url];
}

function specIn(folder: string): string {
  return join(folder, "workspace.yaml");
}

async function withWorkspace<T>(act: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = await startWorkspace();
  try {
    return await act(workspace);
  } finally {
    await workspace.stop();
  }
}
