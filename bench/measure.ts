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

/** Applies the spec to an empty workspace, then plans it again; a bare client does the same to another one. */
export async function measureMain(sizes: Sizes, repeats: number): Promise<MainFigures> {
  const bareCreate = await measureBareCreate(sizes);
  return withWorkspace((workspace) =>
    inFolder(async (folder) => {
      const apply = await measureApply(workspace, sizes, folder);
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
        plan: { ms: median(plans), ...counted, least: leastReads(sizes) },
        validateMs: median(validations),
        bareRead: { ms: median(reads), reads: bareReads },
        peak: { apply: await peakOfApply(sizes), plan: await peakOf(planning, ENVIRONMENT) },
      };
    }),
  );
}

/** Time of a first apply at one size; the fastest of several, because everything that disturbs a run makes it slower. */
export async function measureSize(sizes: Sizes, repeats: number): Promise<ApplyFigures> {
  let best: ApplyFigures | undefined;
  for (let n = 0; n < repeats; n++) {
    const figures = await withWorkspace((workspace) =>
      inFolder((folder) => measureApply(workspace, sizes, folder)),
    );
    if (best === undefined || figures.ms < best.ms) best = figures;
  }
  if (best === undefined) throw new Error("nothing was measured");
  return best;
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

function measureBareCreate(sizes: Sizes): Promise<{ ms: number; writes: number }> {
  return withWorkspace(async (workspace) => {
    const { ms } = await mustRun([BARE, "create", workspace.url, JSON.stringify(sizes)], ENVIRONMENT);
    return { ms, writes: (await workspace.requests()).writes };
  });
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
