// Runs one command on workspaces of a fleet, wave by wave, with bounded parallelism and a limit on failures.

import { type FleetWorkspace, limitGroups, type RunLimit } from "./model/fleet.ts";
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
  readonly limits?: readonly RunLimit[];
  /** Stops the run: running workspaces are aborted, no other one starts. */
  readonly signal?: AbortSignal;
}

interface FleetRunObserver {
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
  const { waves, maxFailures = Number.POSITIVE_INFINITY, parallelism, limits = [], signal } = options;
  const results: WorkspaceResult[] = [];
  const begun = new Set<string>();
  let failures = 0;
  const mayStart = (): boolean => signal?.aborted !== true && failures < maxFailures;
  const parts = waves === undefined ? [{ name: "", items: workspaces }] : splitIntoWaves(workspaces, waves);
  let stopped: FleetRun["stopped"];
  for (const { name, items } of parts) {
    if (waves !== undefined) observer.waveStarted?.(name, items);
    const before = failures;
    const waiting = new LimitedList(items, limits);
    const work = async (): Promise<void> => {
      for (let next = await waiting.take(); next !== undefined; next = await waiting.take()) {
        if (!mayStart()) return waiting.end();
        begun.add(next.name);
        observer.started?.(next);
        const result = await execute(next, signal);
        waiting.done(next);
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

/** Workspaces in their order, each once its group has room. */
class LimitedList {
  readonly #waiting: FleetWorkspace[];
  readonly #limits: readonly RunLimit[];
  readonly #running = new Map<string, number>();
  #wake = Promise.withResolvers<void>();

  constructor(items: readonly FleetWorkspace[], limits: readonly RunLimit[]) {
    this.#waiting = [...items];
    this.#limits = limits;
  }

  /** Undefined when nothing is left. */
  async take(): Promise<FleetWorkspace | undefined> {
    while (this.#waiting.length > 0) {
      const at = this.#waiting.findIndex((workspace) => this.#hasRoom(workspace));
      const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
      if (next === undefined) await this.#wake.promise;
      else {
        this.#count(next, 1);
        return next;
      }
    }
    return undefined;
  }

  done(workspace: FleetWorkspace): void {
    this.#count(workspace, -1);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  end(): void {
    this.#waiting.length = 0;
    this.#wake.resolve();
  }

  #hasRoom(workspace: FleetWorkspace): boolean {
    return limitGroups(workspace, this.#limits).every(({ id, runs }) => (this.#running.get(id) ?? 0) < runs);
  }

  #count(workspace: FleetWorkspace, by: number): void {
    for (const { id } of limitGroups(workspace, this.#limits))
      this.#running.set(id, (this.#running.get(id) ?? 0) + by);
  }
}
