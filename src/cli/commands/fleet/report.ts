// `workspace fleet list|status|report`: shows the fleet file and the last results. Contacts no workspace.

import type { Fleet } from "../../../fleet/model/fleet.ts";
import { columns, fleetText } from "../../../fleet/report/fleet-documents.ts";
import { fleetWorkspaceJson } from "../../../fleet/report/fleet-json.ts";
import { type FleetView, fleetView, TREND_RUNS } from "../../../fleet/report/fleet-view.ts";
import { jsonDocument } from "../../../report/text/printable.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { flagOption, optionalChoiceOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { readQueueFacts } from "../../fleet/fleet-database.ts";
import { FLEET_OPTIONS, NAMES_ARGUMENT, openFleet, openResults } from "../../fleet/fleet-options.ts";
import { printResult } from "../../output/diagnostics.ts";

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
    return EXIT.ok;
  },
});

const FORMATS: Readonly<Record<string, (view: FleetView) => Promise<string>>> = {
  text: async (view) => fleetText(view),
  json: async (view) =>
    jsonDocument((await import("../../../fleet/report/fleet-json.ts")).fleetJson(view), 2),
  markdown: async (view) => (await import("../../../fleet/report/fleet-documents.ts")).fleetMarkdown(view),
  html: async (view) => (await import("../../../fleet/report/fleet-html.ts")).fleetHtml(view),
  metrics: async (view) => (await import("../../../fleet/report/fleet-metrics.ts")).fleetMetrics(view),
};

const OUTPUT = optionalChoiceOption("-o, --output <format>", "output format", [
  "text",
  "json",
  "markdown",
  "html",
  "metrics",
]);

/** `status` and `report` differ in their default format only. */
function reportCommand(name: "status" | "report", summary: string, format: "text" | "html") {
  return defineCommand({
    name,
    summary,
    jsonSchema: "fleet-status",
    options: {
      ...FLEET_OPTIONS,
      output: { ...OUTPUT, description: `${OUTPUT.description} (default: ${format})` },
      detailedExitcode: flagOption(
        "--detailed-exitcode",
        "exit with 1 if a workspace failed, 3 if one is blocked, 2 if there are changes or drift",
      ),
    },
    args: [NAMES_ARGUMENT],
    notes:
      "A workspace counts as failed if its last run failed, if a job of it failed at every attempt, or if a run ended without a result, however green its other results are. Exit code 0 unless --detailed-exitcode is set.",
    async run(context, options, names) {
      const { fleet, selected } = openFleet(context, options, names);
      const database = await openResults(context, fleet, "read");
      const { results } = database;
      const view = await readView(database, selected).finally(() => results.close());
      context.stdout.write((await FORMATS[options.output ?? format]?.(view)) ?? "");
      return options.detailedExitcode ? exitOfView(view) : EXIT.ok;
    },
  });
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
