// `workspace fleet …`: `validate`, `plan`, `drift`, `apply`, and `run` run one command on every selected workspace, print each result, and record it.

import type { CommandContext } from "../../../config/environment.ts";
import { PROGRAM } from "../../../config/version.ts";
import type { Diagnostic } from "../../../core/diagnostic.ts";
import { diagnosticsOf } from "../../../core/request-failure.ts";
import { count } from "../../../core/sentences.ts";
import { runUnderLease, type WorkspaceLeases } from "../../../fleet/database/workspace-lease.ts";
import type { FleetWorkspace } from "../../../fleet/model/fleet.ts";
import { type FleetCommand, isSettled, type WorkspaceResult } from "../../../fleet/model/result.ts";
import { resultLine, runSummary } from "../../../fleet/report/fleet-documents.ts";
import { resultJson } from "../../../fleet/report/fleet-json.ts";
import { type Execute, type FleetRun, runFleet } from "../../../fleet/run-fleet.ts";
import { dueWorkspaces } from "../../../fleet/selection.ts";
import { parseWaves, type Wave } from "../../../fleet/waves.ts";
import { type Command, type CommandGroup, defineCommand, type Untitled } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption, textOption, type ValuesOf } from "../../command/option.ts";
import { EXISTING_OPTIONS, FORM_OPTION } from "../../command/shared-options.ts";
import { ChildPool } from "../../fleet/child-pool.ts";
import { workerName } from "../../fleet/fleet-database.ts";
import {
  assertApproved,
  FLEET_RUN_OPTIONS,
  MEMORY_MB,
  NAMES_ARGUMENT,
  openFleet,
  openResults,
} from "../../fleet/fleet-options.ts";
import { runWorkspace, type WorkspaceRun } from "../../fleet/run-workspace.ts";
import { printDiagnostics, printLine } from "../../output/diagnostics.ts";
import {
  cancelCommand,
  deadLettersCommand,
  enqueueCommand,
  pauseCommand,
  resumeCommand,
  scheduleCommand,
} from "./queue.ts";
import { fleetReportCommand, listCommand, logsCommand, statusCommand } from "./report.ts";
import { workerCommand } from "./worker.ts";

const SUMMARIES: Readonly<Record<FleetCommand, string>> = {
  validate: "validate the specs of a fleet",
  plan: "plan every workspace of a fleet",
  drift: "detect drift in every workspace of a fleet",
  apply: "apply the specs of a fleet, in waves",
};

const EXIT_CODES =
  "Exit codes: 0 done, 1 a workspace failed or timed out, 2 changes or drift, 3 a workspace is blocked.";

function checkCommand(command: Exclude<FleetCommand, "apply">): Command {
  return defineCommand({
    name: command,
    summary: SUMMARIES[command],
    jsonSchema: "fleet-result",
    options: { ...FLEET_RUN_OPTIONS, ...FORM_OPTION },
    args: [NAMES_ARGUMENT],
    notes: EXIT_CODES,
    run: (context, options, names) => runSelected(context, command, options, names),
  });
}

const applyFleetCommand = defineCommand({
  name: "apply",
  summary: SUMMARIES.apply,
  jsonSchema: "fleet-result",
  options: {
    ...FLEET_RUN_OPTIONS,
    waves: textOption(
      "--waves <sizes>",
      "such as `canary: 1, env=test, then 25%, then rest`; a failed wave stops the run",
    ),
    autoApprove: flagOption("--auto-approve", "apply without approval; required"),
    adopt: EXISTING_OPTIONS.adopt,
    ...FORM_OPTION,
  },
  args: [NAMES_ARGUMENT],
  notes: EXIT_CODES,
  async run(context, options, names) {
    assertApproved(options, "an apply of a fleet");
    const { waves, ...shared } = options;
    const ordered = waves === undefined ? shared : { ...shared, waves: parseWaves(waves) };
    return runSelected(context, "apply", ordered, names);
  },
});

const runDueCommand = defineCommand({
  name: "run",
  summary: "check the workspaces whose schedule is due",
  jsonSchema: "fleet-result",
  options: { ...FLEET_RUN_OPTIONS, ...FORM_OPTION },
  args: [NAMES_ARGUMENT],
  notes: `The command checks each workspace whose schedule matched a time since its last drift run, and ends. Start it every few minutes with a timer; on several machines, use \`workspace fleet worker\`. ${EXIT_CODES}`,
  run: (context, options, names) => runSelected(context, "drift", { ...options, due: true }, names),
});

export const fleetCommand: Untitled<CommandGroup> = {
  commands: [
    listCommand,
    ...(["validate", "plan", "drift"] as const).map(checkCommand),
    applyFleetCommand,
    runDueCommand,
    statusCommand,
    fleetReportCommand,
    logsCommand,
    enqueueCommand,
    cancelCommand,
    pauseCommand,
    resumeCommand,
    workerCommand,
    scheduleCommand,
    deadLettersCommand,
  ],
};

const PARALLELISM = 8;

interface SelectedRunOptions extends ValuesOf<typeof FLEET_RUN_OPTIONS> {
  readonly output: "text" | "json";
  readonly adopt?: boolean;
  readonly waves?: readonly Wave[];
  readonly due?: boolean;
}

async function runSelected(
  context: CommandContext,
  command: FleetCommand,
  options: SelectedRunOptions,
  names: readonly string[],
): Promise<number> {
  const { fleet, selected } = openFleet(context, options, names);
  const { results: store, leases } = await openResults(context, fleet, "write");
  const { output, waves, due, parallelism = PARALLELISM, maxFailures } = options;
  const recorded: Promise<readonly Diagnostic[]>[] = [];
  /** Runs that did not begin have no result to record. */
  const notBegun = new Set<WorkspaceResult>();
  const worker = workerName();
  const children = new ChildPool(context.env);
  const { adopt = false, memory: memoryMb = MEMORY_MB } = options;
  const run = { context, fleet, command, children, adopt, memoryMb, worker };
  try {
    const chosen =
      due === true
        ? dueWorkspaces(
            selected,
            await store.recent(
              1,
              selected.map(({ name }) => name),
            ),
            await store.now(),
          )
        : selected;
    const ended = await context.signals.during((signal) =>
      runFleet(
        chosen,
        underLeases(run, leases, worker, notBegun),
        { parallelism, maxFailures, waves, limits: fleet.limits, signal },
        {
          waveStarted: (name, items) =>
            context.stderr.write(
              `Wave "${name}": ${items.length} of ${count(chosen.length, "workspace")}.\n`,
            ),
          finished(result) {
            printLine(context, output, resultJson({ ...result, log: undefined }), resultLine(result));
            // A result that cannot be recorded ends no run of another workspace.
            if (!notBegun.has(result)) recorded.push(store.add(result).then(() => [], diagnosticsOf));
          },
        },
      ),
    );
    const unrecorded = (await Promise.all(recorded)).filter((problems) => problems.length > 0);
    (output === "json" ? context.stderr : context.stdout).write(runSummary(ended));
    if (unrecorded.length > 0) return reportUnrecorded(context, unrecorded);
    return exitOfRun(ended);
  } finally {
    children.close();
    await store.close();
  }
}

/** Runs each workspace under its lease if results are in a database. `notBegun` gets the result of a run that could not begin. */
function underLeases(
  run: WorkspaceRun,
  leases: WorkspaceLeases | undefined,
  worker: string,
  notBegun: Set<WorkspaceResult>,
): Execute {
  const { command } = run;
  if (leases === undefined || command === "validate")
    return (workspace, stop) => runWorkspace(run, workspace, stop);
  const holder = { worker, version: PROGRAM, command };
  return (workspace, stop) => {
    const execute = (lost: AbortSignal, logged: (log: string) => void) =>
      runWorkspace({ ...run, logged }, workspace, stop === undefined ? lost : AbortSignal.any([stop, lost]));
    return runUnderLease(leases, holder, workspace, execute, (reason) => {
      const result = refused(workspace, command, reason);
      notBegun.add(result);
      return result;
    });
  };
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
