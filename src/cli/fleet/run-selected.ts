// Runs one command on the selected workspaces in this process, prints each result, and records it.

import type { CommandContext } from "../../config/environment.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { dueWorkspaces } from "../../fleet/due.ts";
import type { FleetWorkspace } from "../../fleet/model/fleet.ts";
import { type FleetCommand, isAnswer, type WorkspaceResult } from "../../fleet/model/result.ts";
import { resultLine, runSummary } from "../../fleet/report/fleet-text.ts";
import { type Execute, type FleetRun, runFleet } from "../../fleet/run-fleet.ts";
import type { Wave } from "../../fleet/waves.ts";
import { printableJson } from "../../report/text/printable.ts";
import { EXIT } from "../command/exit-codes.ts";
import { openFleet, openResults } from "../commands/fleet/fleet-options.ts";
import { workerName } from "./fleet-database.ts";
import { runWorkspace } from "./run-workspace.ts";

const PARALLELISM = 8;
/** Enough to contain the last drift run among runs of other commands. */
const RECENT_RESULTS = 40;

export interface SelectedRunOptions {
  readonly fleet: string | undefined;
  readonly select: readonly string[];
  readonly parallelism: number | undefined;
  readonly maxFailures: number | undefined;
  readonly output: string;
  readonly waves?: readonly Wave[];
  /** Only workspaces whose schedule is due. */
  readonly due?: boolean;
}

/** `extra`: more arguments of the command. Returns the exit code. */
export async function runSelected(
  context: CommandContext,
  command: FleetCommand,
  options: SelectedRunOptions,
  names: readonly string[],
  extra: readonly string[],
): Promise<number> {
  const { fleet, selected } = openFleet(context, options, names);
  const { results: store, leases } = await openResults(context, fleet);
  const asJson = options.output === "json";
  const { waves, due, parallelism = PARALLELISM, maxFailures } = options;
  const pending: Promise<void>[] = [];
  const worker = workerName();
  const runOne: Execute = (workspace, stop) =>
    runWorkspace({ context, fleet, command, extra, worker }, workspace, stop);
  const guarded: Execute = async (workspace, stop) => {
    if (leases === undefined || command === "validate") return runOne(workspace, stop);
    const { runUnderLease } = await import("../../fleet/queue/lease-run.ts");
    const execute = (lost: AbortSignal) =>
      runOne(workspace, stop === undefined ? lost : AbortSignal.any([stop, lost]));
    return runUnderLease(leases, worker, workspace, execute, (reason) => refused(workspace, command, reason));
  };
  try {
    const chosen =
      due === true
        ? dueWorkspaces(selected, await store.recent(RECENT_RESULTS, namesOf(selected)), Date.now())
        : selected;
    const found = await context.signals.during((signal) =>
      runFleet(
        chosen,
        guarded,
        {
          parallelism,
          ...(maxFailures === undefined ? {} : { maxFailures }),
          ...(waves === undefined ? {} : { waves }),
          signal,
        },
        {
          waveStarted: (name, items) =>
            context.stderr.write(`Wave "${name}": ${items.length} of ${chosen.length} workspaces.\n`),
          finished(result) {
            context.stdout.write(asJson ? `${printableJson(result)}\n` : resultLine(result));
            pending.push(store.add(result));
          },
        },
      ),
    );
    await Promise.all(pending);
    (asJson ? context.stderr : context.stdout).write(runSummary(found));
    return exitOfRun(found);
  } finally {
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

function exitOfRun({ results, skipped }: FleetRun): number {
  const statuses = new Set(results.map(({ status }) => status));
  if (results.some((result) => !isAnswer(result) && result.status !== "blocked") || skipped.length > 0)
    return EXIT.error;
  if (statuses.has("blocked")) return EXIT.refused;
  const changed = results.some(({ status, command }) => status === "changes" && command !== "apply");
  return changed ? EXIT.changes : EXIT.ok;
}
