// One measurement each: apply from nothing, the plan that follows, the series, and how long the program takes to start.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ending, inFolder, mustRun } from "./process.ts";
import { leastReads, resourcesOf, type Sizes } from "./sizes.ts";
import { SECRET_VARIABLE, writeSpec } from "./spec.ts";
import { CLI, startWorkspace, TOKEN, type Workspace } from "./workspace.ts";
import { worldOf } from "./world.ts";

const BARE = join(import.meta.dirname, "bare.ts");
const ENVIRONMENT = { WORKSPACE_TOKEN: TOKEN, [SECRET_VARIABLE]: "a secret of the benchmark", CI: "1" };

/** One run of one program. */
export interface Figure {
  readonly ms: number;
  readonly cpuMs: number;
  readonly peak: number;
  readonly reads: number;
  readonly writes: number;
}

export interface ApplyFigures extends Figure {
  readonly resources: number;
  readonly lines: number;
}

export interface MainFigures {
  readonly apply: ApplyFigures;
  readonly bareCreate: Figure;
  /** A bare client with the requests of a safe apply. */
  readonly bareSame: Figure;
  readonly plan: Figure & { readonly least: number };
  /** Reading and checking the spec alone. */
  readonly validate: Figure;
  readonly bareRead: Figure;
}

/**
 * Applies the spec to an empty workspace, then plans it again; a bare client does the same to another one. Each program runs
 * in turn with what it is measured against; of several runs the fastest counts, because everything that disturbs a run makes
 * it slower.
 */
export async function measureMain(sizes: Sizes, repeats: number): Promise<MainFigures> {
  const apply: ApplyFigures[] = [];
  const bareCreate: Figure[] = [];
  const bareSame: Figure[] = [];
  for (let n = 0; n < repeats; n++) {
    apply.push(await applied(sizes));
    bareCreate.push(await withWorkspace((workspace) => bare("create", workspace, sizes)));
    bareSame.push(await withWorkspace((workspace) => bare("same", workspace, sizes)));
  }
  return {
    apply: fastest(apply),
    bareCreate: fastest(bareCreate),
    bareSame: fastest(bareSame),
    ...(await measurePlan(sizes, repeats)),
  };
}

function measurePlan(
  sizes: Sizes,
  repeats: number,
): Promise<Pick<MainFigures, "plan" | "validate" | "bareRead">> {
  return withWorkspace((workspace) =>
    inFolder(async (folder) => {
      await measureApply(workspace, sizes, folder);
      const planning = [...arguments_("plan", workspace, folder), "--detailed-exitcode"];
      const plans: Figure[] = [];
      const validations: Figure[] = [];
      const reads: Figure[] = [];
      for (let n = 0; n < 2 * repeats; n++) {
        plans.push(await counted(workspace, planning));
        reads.push(await bare("read", workspace, sizes));
        validations.push(await counted(workspace, [CLI, "validate", "--file", specIn(folder)]));
      }
      return {
        plan: { ...fastest(plans), least: leastReads(sizes) },
        validate: fastest(validations),
        bareRead: fastest(reads),
      };
    }),
  );
}

/** First applies at several sizes, the fastest of several each; the sizes take turns. */
export async function measureSeries(series: readonly Sizes[], repeats: number): Promise<ApplyFigures[]> {
  const runs: ApplyFigures[][] = series.map(() => []);
  for (let n = 0; n < repeats; n++)
    for (const [at, sizes] of series.entries()) runs[at]?.push(await applied(sizes));
  return runs.map(fastest);
}

function applied(sizes: Sizes, program = CLI): Promise<ApplyFigures> {
  return withWorkspace((workspace) => inFolder((folder) => measureApply(workspace, sizes, folder, program)));
}

export interface SmallFigures {
  readonly bareRead: Figure;
  readonly bareCreate: Figure;
  readonly bareSame: Figure;
  readonly least: number;
  /** One of each program. */
  readonly programs: readonly { readonly plan: Figure; readonly apply: ApplyFigures }[];
}

/** The same workspace with several programs, each in turn with the bare client. */
export async function measureSmall(
  sizes: Sizes,
  programs: readonly string[],
  repeats: number,
): Promise<SmallFigures> {
  const applies: ApplyFigures[][] = programs.map(() => []);
  const [creates, sames]: [Figure[], Figure[]] = [[], []];
  for (let n = 0; n < repeats; n++) {
    for (const [at, program] of programs.entries()) applies[at]?.push(await applied(sizes, program));
    creates.push(await withWorkspace((workspace) => bare("create", workspace, sizes)));
    sames.push(await withWorkspace((workspace) => bare("same", workspace, sizes)));
  }
  const sites = await Promise.all(programs.map(() => startWorkspace()));
  try {
    return await inFolder(async (root) => {
      const plans: Figure[][] = programs.map(() => []);
      const reads: Figure[] = [];
      const site = (at: number): readonly [Workspace | undefined, string] => [sites[at], join(root, `${at}`)];
      for (const [at, program] of programs.entries()) {
        const [workspace, folder] = site(at);
        mkdirSync(folder);
        if (workspace !== undefined) await measureApply(workspace, sizes, folder, program);
      }
      for (let n = 0; n < 3 * repeats; n++)
        for (const [at, program] of programs.entries()) {
          const [workspace, folder] = site(at);
          if (workspace === undefined) continue;
          const planning = [...arguments_("plan", workspace, folder, program), "--detailed-exitcode"];
          plans[at]?.push(await counted(workspace, planning));
          if (at === 0) reads.push(await bare("read", workspace, sizes));
        }
      return {
        bareRead: fastest(reads),
        bareCreate: fastest(creates),
        bareSame: fastest(sames),
        least: leastReads(sizes),
        programs: programs.map((_, at) => ({
          plan: fastest(plans[at] ?? []),
          apply: fastest(applies[at] ?? []),
        })),
      };
    });
  } finally {
    for (const workspace of sites) await workspace.stop();
  }
}

/** The fastest of `repeats` runs of each command line, in turn. */
export async function measureStarts(
  commands: readonly (readonly string[])[],
  repeats: number,
): Promise<readonly number[]> {
  const times: number[][] = commands.map(() => []);
  for (let n = -1; n < repeats; n++)
    for (const [at, command] of commands.entries()) {
      const { code, ms, stderr } = await ending(command);
      if (code !== 0) throw new Error(`node ${command.join(" ")} ended with ${code}\n${stderr}`);
      // The first run compiles.
      if (n >= 0) times[at]?.push(ms);
    }
  return times.map((one) => Math.min(...one));
}

async function measureApply(
  workspace: Workspace,
  sizes: Sizes,
  folder: string,
  program = CLI,
): Promise<ApplyFigures> {
  const lines = writeSpec(folder, worldOf(sizes));
  const applying = [...arguments_("apply", workspace, folder, program), "--auto-approve"];
  const figure = await counted(workspace, applying);
  return { resources: resourcesOf(sizes), lines, ...figure };
}

export function bare(mode: "create" | "same" | "read", workspace: Workspace, sizes: Sizes): Promise<Figure> {
  return counted(workspace, [BARE, mode, workspace.url, JSON.stringify(sizes)]);
}

async function counted(workspace: Workspace, args: readonly string[]): Promise<Figure> {
  await workspace.requests();
  const { ms, cpuMs, peak } = await mustRun(args, ENVIRONMENT);
  return { ms, cpuMs, peak, ...(await workspace.requests()) };
}

export function fastest<T extends Figure>(runs: readonly T[]): T {
  const best = runs.reduce((one, other) => (other.ms < one.ms ? other : one));
  // Time on processors is disturbed at other moments than the whole time.
  return { ...best, cpuMs: Math.min(...runs.map(({ cpuMs }) => cpuMs)) };
}

function arguments_(command: string, workspace: Workspace, folder: string, program = CLI): string[] {
  return [program, command, "--file", specIn(folder), "--host", workspace.url];
}

function specIn(folder: string): string {
  return join(folder, "workspace.yaml");
}

export async function withWorkspace<T>(act: (workspace: Workspace) => Promise<T>): Promise<T> {
  const workspace = await startWorkspace();
  try {
    return await act(workspace);
  } finally {
    await workspace.stop();
  }
}
