// Runs one command on the selected workspaces in this process, prints each result, and records it.

import type { CommandContext } from "../../config/environment.ts";
import { PROGRAM } from "../../config/version.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import { count } from "../../core/sentences.ts";
import type { FleetWorkspace } from "../../fleet/model/fleet.ts";
import { type FleetCommand, isSettled, type WorkspaceResult } from "../../fleet/model/result.ts";
import { resultLine, runSummary } from "../../fleet/report/fleet-documents.ts";
import { resultJson } from "../../fleet/report/fleet-json.ts";
import { dueWorkspaces, type Execute, type FleetRun, runFleet, type Wave } from "../../fleet/run-fleet.ts";
import { jsonDocument } from "../../report/text/printable.ts";
import { EXIT } from "../command/exit-codes.ts";
import { printDiagnostics } from "../output/diagnostics.ts";
import { ChildPool } from "./child-pool.ts";
import { workerName } from "./fleet-database.ts";
import { openFleet, openResults } from "./fleet-options.ts";
import { runWorkspace } from "./run-workspace.ts";

const PARALLELISM = 8;
/** For the values of a run; a plan of 20,000 resources needs about half of it. */
export const MEMORY_MB = 1024;

export interface SelectedRunOptions {
  readonly fleet: string | undefined;
  readonly select: readonly string[];
  readonly parallelism: number | undefined;
  readonly maxFailures: number | undefined;
  readonly memory: number | undefined;
  readonly output: string;
  readonly adopt?: boolean;
  readonly waves?: readonly Wave[];
  readonly due?: boolean;
}

export async function runSelected(
  context: CommandContext,
  command: FleetCommand,
  options: SelectedRunOptions,
  names: readonly string[],
): Promise<number> {
  const { fleet, selected } = openFleet(context, options, names);
  const { results: store, leases } = await openResults(context, fleet, "write");
  const asJson = options.output === "json";
  const { waves, due, parallelism = PARALLELISM, maxFailures } = options;
  const recorded: Promise<readonly Diagnostic[]>[] = [];
  /** Runs that did not begin have no result to record. */
  const notBegun = new Set<WorkspaceResult>();
  const worker = workerName();
  const children = new ChildPool(context.env);
  const { adopt = false, memory: memoryMb = MEMORY_MB } = options;
  const run = { context, fleet, command, children, adopt, memoryMb, worker };
  const execute: Execute = (workspace, stop) => runWorkspace(run, workspace, stop);
  const guarded: Execute = async (workspace, stop) => {
    if (leases === undefined || command === "validate") return execute(workspace, stop);
    const { runUnderLease } = await import("../../fleet/database/workspace-lease.ts");
    const underLease = (lost: AbortSignal, logged: (log: string) => void) =>
      runWorkspace({ ...run, logged }, workspace, stop === undefined ? lost : AbortSignal.any([stop, lost]));
    const holder = { worker, version: PROGRAM, command };
    return runUnderLease(leases, holder, workspace, underLease, (reason) => {
      const result = refused(workspace, command, reason);
      notBegun.add(result);
      return result;
    });
  };
  try {
    const chosen =
      due === true
        ? dueWorkspaces(selected, await store.recent(1, namesOf(selected)), await store.now())
        : selected;
    const ended = await context.signals.during((signal) =>
      runFleet(
        chosen,
        guarded,
        { parallelism, maxFailures, waves, limits: fleet.limits, signal },
        {
          waveStarted: (name, items) =>
            context.stderr.write(
              `Wave "${name}": ${items.length} of ${count(chosen.length, "workspace")}.\n`,
            ),
          finished(result) {
            const { log: _log, ...shown } = result;
            context.stdout.write(asJson ? jsonDocument(resultJson(shown)) : resultLine(result));
            // A result that cannot be recorded ends no run of another workspace.
            if (!notBegun.has(result)) recorded.push(store.add(result).then(() => [], diagnosticsOf));
          },
        },
      ),
    );
    const unrecorded = (await Promise.all(recorded)).filter((problems) => problems.length > 0);
    (asJson ? context.stderr : context.stdout).write(runSummary(ended));
    if (unrecorded.length > 0) return reportUnrecorded(context, unrecorded);
    return exitOfRun(ended);
  } finally {
    children.close();
    await store.close();
  }
}

function namesOf(workspaces: readonly FleetWorkspace[]): readonly string[] {
  return workspaces.map(({ name }) => name);
}

function refused({ name }: FleetWorkspace, command: FleetCommand, reason: Diagnostic): WorkspaceResult {
  const nothing = { durationMs: 0, counts: {}, drift: {}, diagnostics: [reason] };
  return { workspace: name, command, status: "failed", startedAt: Date.now(), ...nothing };
}

function reportUnrecorded(context: CommandContext, unrecorded: readonly (readonly Diagnostic[])[]): number {
  const [first] = unrecorded.flat();
  context.stderr.write(`${count(unrecorded.length, "result")} could not be recorded.\n`);
  printDiagnostics(context, first === undefined ? [] : [first]);
  return EXIT.error;
}

function exitOfRun({ results, skipped }: FleetRun): number {
  if (!results.every(isSettled)) return EXIT.error;
  if (results.some(({ status }) => status === "blocked")) return EXIT.refused;
  if (skipped.length > 0) return EXIT.error;
  const changed = results.some(({ status, command }) => status === "changes" && command !== "apply");
  return changed ? EXIT.changes : EXIT.ok;
}
