// `workspace fleet validate|plan|drift|apply`: one command on every selected workspace.

import type { CommandContext } from "../../../config/environment.ts";
import { error, Failure } from "../../../core/diagnostic.ts";
import { type FleetCommand, isAnswer } from "../../../fleet/model/result.ts";
import { resultLine, runSummary } from "../../../fleet/report/fleet-text.ts";
import { type FleetRun, runFleet } from "../../../fleet/run-fleet.ts";
import { parseWaves, type Wave } from "../../../fleet/waves.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { type Command, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption, textOption } from "../../command/option.ts";
import { EXISTING_OPTIONS, FORM_OPTION } from "../../command/shared-options.ts";
import { FLEET_RUN_OPTIONS, NAMES_ARGUMENT, openFleet, openResults } from "./fleet-options.ts";
import { runWorkspace } from "./run-workspace.ts";

const PARALLELISM = 8;

const SUMMARIES: Readonly<Record<FleetCommand, string>> = {
  validate: "validate the specs of a fleet",
  plan: "plan every workspace of a fleet",
  drift: "detect drift in every workspace of a fleet",
  apply: "apply the specs of a fleet, in waves",
};

const EXIT_CODES =
  "Exit codes: 0 done, 1 a workspace failed or timed out, 2 changes or drift, 3 a workspace is blocked.";

interface RunOptions {
  readonly fleet: string | undefined;
  readonly select: readonly string[];
  readonly parallelism: number | undefined;
  readonly maxFailures: number | undefined;
  readonly output: string;
  readonly waves?: readonly Wave[];
}

function checkCommand(command: Exclude<FleetCommand, "apply">): Command {
  return defineCommand({
    name: command,
    summary: SUMMARIES[command],
    options: { ...FLEET_RUN_OPTIONS, ...FORM_OPTION },
    args: [NAMES_ARGUMENT],
    notes: EXIT_CODES,
    run: (context, options, names) => run(context, command, options, names, []),
  });
}

export const checkCommands: readonly Command[] = (["validate", "plan", "drift"] as const).map(checkCommand);

export const applyFleetCommand = defineCommand({
  name: "apply",
  summary: SUMMARIES.apply,
  options: {
    ...FLEET_RUN_OPTIONS,
    waves: textOption(
      "--waves <sizes>",
      "such as `canary: 1, then 10%, then rest`; a failed wave stops the run",
    ),
    autoApprove: flagOption("--auto-approve", "apply without approval; required"),
    adopt: EXISTING_OPTIONS.adopt,
    ...FORM_OPTION,
  },
  args: [NAMES_ARGUMENT],
  notes: EXIT_CODES,
  async run(context, options, names) {
    if (!options.autoApprove)
      throw new Failure(
        error("CLI_CONFIRMATION", "an apply of a fleet cannot ask for approval", {
          hint: "review `workspace fleet plan`, then pass --auto-approve",
        }),
      );
    const extra = options.adopt ? ["--adopt"] : [];
    const { waves, ...shared } = options;
    return run(
      context,
      "apply",
      waves === undefined ? shared : { ...shared, waves: parseWaves(waves) },
      names,
      extra,
    );
  },
});

async function run(
  context: CommandContext,
  command: FleetCommand,
  options: RunOptions,
  names: readonly string[],
  extra: readonly string[],
): Promise<number> {
  const { fleet, selected } = openFleet(context, options, names);
  const store = openResults(fleet);
  const asJson = options.output === "json";
  const { waves } = options;
  const pending: Promise<void>[] = [];
  const found = await context.signals.during((signal) =>
    runFleet(
      selected,
      (workspace, stop) => runWorkspace({ context, fleet, command, extra }, workspace, stop),
      {
        parallelism: options.parallelism ?? PARALLELISM,
        ...(options.maxFailures === undefined ? {} : { maxFailures: options.maxFailures }),
        ...(waves === undefined ? {} : { waves }),
        signal,
      },
      {
        waveStarted: (name, items) =>
          context.stderr.write(`Wave "${name}": ${items.length} of ${selected.length} workspaces.\n`),
        finished(result) {
          context.stdout.write(asJson ? `${printableJson(result)}\n` : resultLine(result));
          pending.push(store.add(result));
        },
      },
    ),
  );
  await Promise.all(pending);
  await store.close();
  (asJson ? context.stderr : context.stdout).write(runSummary(found));
  return exitOfRun(found);
}

function exitOfRun({ results, skipped }: FleetRun): number {
  const statuses = new Set(results.map(({ status }) => status));
  if (results.some((result) => !isAnswer(result) && result.status !== "blocked") || skipped.length > 0)
    return EXIT.error;
  if (statuses.has("blocked")) return EXIT.refused;
  const changed = results.some(({ status, command }) => status === "changes" && command !== "apply");
  return changed ? EXIT.changes : EXIT.ok;
}
