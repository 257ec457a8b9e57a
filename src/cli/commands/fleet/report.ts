// `workspace fleet list|status|report|logs`: shows the fleet file, the last results, and what a run printed. Contacts no workspace.

import { dirname, relative, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileFailure } from "../../../config/files.ts";
import { writeWholeFile } from "../../../config/write-file.ts";
import { failureOf } from "../../../core/diagnostic.ts";
import { diagnosticsOf } from "../../../core/request-failure.ts";
import type { WorkspaceLeases } from "../../../fleet/database/workspace-lease.ts";
import type { Fleet } from "../../../fleet/model/fleet.ts";
import { KEPT_LOGS, type WorkspaceResult } from "../../../fleet/model/result.ts";
import { columns, fleetMarkdown, fleetText, resultLine } from "../../../fleet/report/fleet-documents.ts";
import { fleetJson, fleetWorkspaceJson, resultJson } from "../../../fleet/report/fleet-json.ts";
import { type FleetView, fleetView, TREND_RUNS } from "../../../fleet/report/fleet-view.ts";
import { jsonDocument } from "../../../report/text/printable.ts";
import { nodeClock } from "../../../state/backends/file/node-ports.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import {
  durationOption,
  flagOption,
  integerOption,
  type OutputRequest,
  outputsOption,
} from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { readQueueFacts } from "../../fleet/fleet-database.ts";
import { FLEET_OPTIONS, NAMES_ARGUMENT, openFleet, openResults } from "../../fleet/fleet-options.ts";
import { withOpenVariables } from "../../fleet/run-workspace.ts";
import { printDiagnostics, printResult } from "../../output/diagnostics.ts";

export const listCommand = defineCommand({
  name: "list",
  summary: "list the workspaces of a fleet",
  jsonSchema: "fleet-list",
  options: { ...FLEET_OPTIONS, ...FORM_OPTION },
  args: [NAMES_ARGUMENT],
  async run(context, options, names) {
    const { fleet, selected } = openFleet(context, options, names);
    const rows = selected.map(({ name, spec, target, host, profile, labels, schedule }) => [
      name,
      host ?? `profile ${profile}`,
      target === undefined ? spec : `${spec} (${target})`,
      schedule?.cron ?? "-",
      Object.entries(labels)
        .map(([label, value]) => `${label}=${value}`)
        .join(","),
    ]);
    printResult(
      context,
      options.output,
      { workspaces: withOpenVariables(fleet, selected).map(fleetWorkspaceJson) },
      () => columns([["WORKSPACE", "HOST", "SPEC", "SCHEDULE", "LABELS"], ...rows]),
    );
  },
});

type FleetFormat = "text" | "json" | "markdown" | "html" | "metrics";

/** `results`: from an HTML page to the JSON file of the same run. */
const FORMATS: Readonly<Record<FleetFormat, (view: FleetView, results?: string) => Promise<string>>> = {
  text: async (view) => fleetText(view),
  json: async (view) => jsonDocument(fleetJson(view), 2),
  markdown: async (view) => fleetMarkdown(view),
  html: async (view, results) =>
    (await import("../../../fleet/report/fleet-html.ts")).fleetHtml(view, results),
  metrics: async (view) => (await import("../../../fleet/report/fleet-metrics.ts")).fleetMetrics(view),
};

const OUTPUT = outputsOption(Object.keys(FORMATS) as FleetFormat[]);

/** `status` and `report` differ in their default format only. */
function reportCommand(name: "status" | "report", summary: string, format: "text" | "html") {
  return defineCommand({
    name,
    summary,
    jsonSchema: "fleet-status",
    options: {
      ...FLEET_OPTIONS,
      output: { ...OUTPUT, description: `${OUTPUT.description} (default: ${format})` },
      every: durationOption("--every <duration>", "write the files again after this time, until a signal"),
      detailedExitcode: flagOption(
        "--detailed-exitcode",
        "exit with 1 if a workspace failed, 3 if one is blocked, 2 if there are changes or drift",
      ),
    },
    args: [NAMES_ARGUMENT],
    notes:
      "A workspace counts as failed if its last run failed, if a job of it failed at every attempt, or if a run ended without a result, however green its other results are. An HTML page loads itself again when the JSON file of the same command is newer. Exit code 0 unless --detailed-exitcode is set.",
    async run(context, options, names) {
      const { fleet, selected } = openFleet(context, options, names);
      const outputs = options.output.length === 0 ? [{ format }] : options.output;
      const { every } = options;
      if (every !== undefined && outputs.some(({ file }) => file === undefined))
        throw failureOf("CLI_USAGE", "--every needs a file for each format", {
          hint: "write `-o html=fleet.html -o json=fleet.json --every 1m`",
        });
      const database = await openResults(context, fleet, "read");
      const write = async (): Promise<FleetView> => {
        const view = await readView(database, selected);
        await writeOutputs(context, outputs, view);
        return view;
      };
      try {
        const view = await write();
        if (every !== undefined)
          await context.signals.during(async (signal) => {
            while (!signal.aborted) {
              await nodeClock.sleep(every, signal);
              // A database that restarts does not end the command: the page says how old its results are.
              if (!signal.aborted)
                await write().catch((problem) => printDiagnostics(context, diagnosticsOf(problem)));
            }
          });
        return options.detailedExitcode ? exitOfView(view) : EXIT.ok;
      } finally {
        await database.results.close();
      }
    },
  });
}

/** The JSON file comes last: a page that reads a newer one finds itself replaced. */
async function writeOutputs(
  context: ConsoleContext,
  outputs: readonly OutputRequest<FleetFormat>[],
  view: FleetView,
): Promise<void> {
  const json = outputs.find(({ format, file }) => format === "json" && file !== undefined)?.file;
  const ordered = outputs.toSorted((a, b) => Number(a.format === "json") - Number(b.format === "json"));
  for (const { format, file } of ordered) {
    const results = file === undefined || json === undefined ? undefined : linkTo(json, file);
    const text = await FORMATS[format](view, results);
    if (file === undefined) context.stdout.write(text);
    else
      try {
        writeWholeFile(resolve(context.cwd, file), text, { over: true });
      } catch (problem) {
        throw fileFailure(`the report cannot be written to ${file}`, problem);
      }
  }
}

/** As a page in the folder of `from` names the file. */
function linkTo(file: string, from: string): string {
  const path = relative(dirname(resolve("/", from)), resolve("/", file));
  return encodeURI(path.replaceAll("\\", "/"));
}

async function readView(
  database: Awaited<ReturnType<typeof openResults>>,
  selected: Fleet["workspaces"],
): Promise<FleetView> {
  const { results } = database;
  const names = selected.map(({ name }) => name);
  const recent = await results.recent(TREND_RUNS, names);
  const now = await results.now();
  const queue = await readQueueFacts(database);
  return fleetView({ workspaces: selected }, recent, now, TREND_RUNS, queue);
}

function exitOfView({ states }: FleetView): number {
  if ((states.failed ?? 0) > 0) return EXIT.error;
  if ((states.blocked ?? 0) > 0) return EXIT.refused;
  return (states.drift ?? 0) + (states.changes ?? 0) > 0 ? EXIT.changes : EXIT.ok;
}

export const statusCommand = reportCommand("status", "show the fleet and its queue", "text");
export const fleetReportCommand = reportCommand("report", "write a report of the fleet", "html");

export const logsCommand = defineCommand({
  name: "logs",
  summary: "show the log of a run of a workspace",
  jsonSchema: "fleet-result",
  options: {
    fleet: FLEET_OPTIONS.fleet,
    run: integerOption(
      "--run <number>",
      "number of the run: 1 for the last (default), 2 for the one before",
      1,
      KEPT_LOGS,
    ),
    follow: flagOption("--follow", "show the log of the running job as it grows"),
    ...FORM_OPTION,
  },
  args: [{ name: "<workspace>", description: "name of a workspace" }],
  notes: `Of each workspace, the logs of the last ${KEPT_LOGS} runs are kept, each up to 36 KB. Values of credentials are masked. Exit code 1 if the run does not exist.`,
  async run(context, options, [name = ""]) {
    const { fleet } = openFleet(context, { ...options, select: [] }, [name]);
    const { results, leases } = await openResults(context, fleet, "read");
    const number = options.run ?? 1;
    try {
      if (options.follow && leases !== undefined) await follow(context, leases, name);
      const runs = await results.logs(name, number);
      const run = runs[number - 1];
      if (run === undefined)
        throw failureOf(
          "CLI_USAGE",
          `the workspace ${name} has ${runs.length === 0 ? "no run" : `only ${runs.length} runs`} with a log`,
          { hint: "to see the last results, run `workspace fleet status`" },
        );
      printResult(context, options.output, resultJson(run), () => logText(run, options.follow));
    } finally {
      await results.close();
    }
  },
});

function logText(run: WorkspaceResult, isFollowed: boolean): string {
  const { command, startedAt, worker = "?", version = "?", attempt = 1, log = "" } = run;
  const head = `${command} at ${new Date(startedAt).toISOString()} on ${worker} (workspace ${version}), attempt ${attempt}\n`;
  return isFollowed ? resultLine(run) : `${head}${log}${resultLine(run)}`;
}

const LOOK_MS = 1_000;

/** Prints what is new until the run ends; nothing if none runs. */
async function follow(context: ConsoleContext, leases: WorkspaceLeases, workspace: string): Promise<void> {
  await context.signals.during(async (signal) => {
    let printed = "";
    while (!signal.aborted) {
      const run = (await leases.active(workspace)).find((active) => active.workspace === workspace);
      if (run === undefined || run.isLost) return;
      const { log = "" } = run;
      // A log that became too long lost lines in its middle.
      context.stdout.write(log.startsWith(printed) ? log.slice(printed.length) : log);
      printed = log;
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  });
}
