// Runs one command on many workspaces: bounded parallelism, waves, and a limit on failures.

import type { FleetWorkspace } from "./model/fleet.ts";
import { isAnswer, type WorkspaceResult } from "./model/result.ts";
import { splitIntoWaves, type Wave } from "./waves.ts";

/** Runs the command on one workspace. Never throws: a problem is a result with status `failed`. */
export type Execute = (
  workspace: FleetWorkspace,
  signal: AbortSignal | undefined,
) => Promise<WorkspaceResult>;

export interface FleetRunOptions {
  readonly parallelism: number;
  /** The run starts nothing more after this many workspaces failed; undefined: no limit. */
  readonly maxFailures?: number;
  readonly waves?: readonly Wave[];
  /** Stops the run: running workspaces are aborted, no other one starts. */
  readonly signal?: AbortSignal;
}

export interface FleetRunObserver {
  waveStarted?(name: string, workspaces: readonly FleetWorkspace[]): void;
  started?(workspace: FleetWorkspace): void;
  finished(result: WorkspaceResult): void;
}

export interface FleetRun {
  readonly results: readonly WorkspaceResult[];
  readonly skipped: readonly string[];
  readonly stopped?: { readonly reason: "wave" | "failures" | "interrupted"; readonly wave?: string };
}

/** A wave stops the run if one of its workspaces fails. Results of `execute` are passed on as they arrive. */
export async function runFleet(
  workspaces: readonly FleetWorkspace[],
  execute: Execute,
  options: FleetRunOptions,
  observer: FleetRunObserver,
): Promise<FleetRun> {
  const { waves, maxFailures = Number.POSITIVE_INFINITY, parallelism, signal } = options;
  const results: WorkspaceResult[] = [];
  const begun = new Set<string>();
  let failures = 0;
  const mayStart = (): boolean => signal?.aborted !== true && failures < maxFailures;
  const parts = waves === undefined ? [{ name: "", items: workspaces }] : splitIntoWaves(workspaces, waves);
  let stopped: FleetRun["stopped"];
  for (const { name, items } of parts) {
    if (waves !== undefined) observer.waveStarted?.(name, items);
    const before = failures;
    const waiting = [...items];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        if (!mayStart()) return;
        begun.add(next.name);
        observer.started?.(next);
        const result = await execute(next, signal);
        results.push(result);
        if (!isAnswer(result)) failures++;
        observer.finished(result);
      }
    };
    await Promise.all(Array.from({ length: Math.min(parallelism, items.length) }, work));
    if (signal?.aborted === true) stopped = { reason: "interrupted" };
    else if (failures >= maxFailures) stopped = { reason: "failures" };
    else if (waves !== undefined && failures > before) stopped = { reason: "wave", wave: name };
    if (stopped !== undefined) break;
  }
  const skipped = workspaces.flatMap(({ name }) => (begun.has(name) ? [] : [name]));
  return { results, skipped, ...(stopped === undefined || skipped.length === 0 ? {} : { stopped }) };
}
