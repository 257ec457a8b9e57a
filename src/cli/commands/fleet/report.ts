// `workspace fleet list|status|report`: shows the fleet file and the last results. Contacts no workspace.

import { dirname, relative, resolve } from "node:path";
import { fileFailure } from "../../../config/files.ts";
import { writeWholeFile } from "../../../config/write-file.ts";
import { failureOf } from "../../../core/diagnostic.ts";
import { diagnosticsOf } from "../../../core/request-failure.ts";
import type { Fleet } from "../../../fleet/model/fleet.ts";
import { columns, fleetText } from "../../../fleet/report/fleet-documents.ts";
import { fleetWorkspaceJson } from "../../../fleet/report/fleet-json.ts";
import { type FleetView, fleetView, TREND_RUNS } from "../../../fleet/report/fleet-view.ts";
import { jsonDocument } from "../../../report/text/printable.ts";
import { nodeClock } from "../../../state/backends/file/node-ports.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { durationOption, flagOption, type OutputRequest, outputsOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { readQueueFacts } from "../../fleet/fleet-database.ts";
import { FLEET_OPTIONS, NAMES_ARGUMENT, openFleet, openResults } from "../../fleet/fleet-options.ts";
import { printDiagnostics, printResult } from "../../output/diagnostics.ts";

export const listCommand = defineCommand({
  name: "list",
  summary: "list the workspaces of a fleet",
  jsonSchema: "fleet-list",
  options: { ...FLEET_OPTIONS, ...FORM_OPTION },
  args: [NAMES_ARGUMENT],
  async run(context, options, names) {
    const { selected } = openFleet(context, options, names);
    const rows = selected.map(({ name, spec, target, host, profile, labels, schedule }) => [
      name,
      host ?? `profile ${profile}`,
      target === undefined ? spec : `${spec} (${target})`,
      schedule?.cron ?? "-",
      Object.entries(labels)
        .map(([label, value]) => `${label}=${value}`)
        .join(","),
    ]);
    printResult(context, options.output, { workspaces: selected.map(fleetWorkspaceJson) }, () =>
      columns([["WORKSPACE", "HOST", "SPEC", "SCHEDULE", "LABELS"], ...rows]),
    );
  },
});

type FleetFormat = "text" | "json" | "markdown" | "html" | "metrics";

/** `results`: from an HTML page to the JSON file of the same run. */
const FORMATS: Readonly<Record<FleetFormat, (view: FleetView, results?: string) => Promise<string>>> = {
  text: async (view) => fleetText(view),
  json: async (view) =>
    jsonDocument((await import("../../../fleet/report/fleet-json.ts")).fleetJson(view), 2),
  markdown: async (view) => (await import("../../../fleet/report/fleet-documents.ts")).fleetMarkdown(view),
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
  const [recent, now, queue] = [
    await results.recent(TREND_RUNS, names),
    await results.now(),
    await readQueueFacts(database),
  ];
  return fleetView({ workspaces: selected }, recent, now, TREND_RUNS, queue);
}

function exitOfView({ states }: FleetView): number {
  if ((states.failed ?? 0) > 0) return EXIT.error;
  if ((states.blocked ?? 0) > 0) return EXIT.refused;
  return (states.drift ?? 0) + (states.changes ?? 0) > 0 ? EXIT.changes : EXIT.ok;
}

export const statusCommand = reportCommand("status", "show the fleet and its queue", "text");
export const fleetReportCommand = reportCommand("report", "write a report of the fleet", "html");
