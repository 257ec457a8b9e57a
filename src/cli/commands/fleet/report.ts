// `workspace fleet list|status|report`: shows the fleet file and the last results. Contacts no workspace.

import { columns, fleetText } from "../../../fleet/report/fleet-documents.ts";
import { type FleetView, fleetView } from "../../../fleet/report/fleet-view.ts";
import { printableJson } from "../../../report/text/printable.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { optionalChoiceOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { printResult } from "../../output/diagnostics.ts";
import { FLEET_OPTIONS, NAMES_ARGUMENT, openFleet, openResults } from "./fleet-options.ts";

const TREND_RESULTS = 30;

export const listCommand = defineCommand({
  name: "list",
  summary: "list the workspaces of a fleet",
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
    printResult(context, options.output, selected, () =>
      columns([["WORKSPACE", "HOST", "SPEC", "SCHEDULE", "LABELS"], ...rows]),
    );
    return EXIT.ok;
  },
});

const FORMATS: Readonly<Record<string, (view: FleetView) => Promise<string>>> = {
  text: async (view) => fleetText(view),
  json: async (view) =>
    `${printableJson((await import("../../../fleet/report/fleet-documents.ts")).fleetJson(view), 2)}\n`,
  markdown: async (view) => (await import("../../../fleet/report/fleet-documents.ts")).fleetMarkdown(view),
  html: async (view) => (await import("../../../fleet/report/fleet-html.ts")).fleetHtml(view),
  metrics: async (view) => (await import("../../../fleet/report/fleet-documents.ts")).fleetMetrics(view),
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
    options: {
      ...FLEET_OPTIONS,
      output: { ...OUTPUT, description: `${OUTPUT.description} (default: ${format})` },
    },
    args: [NAMES_ARGUMENT],
    async run(context, options, given) {
      const { fleet, selected } = openFleet(context, options, given);
      const { results } = await openResults(context, fleet, "read");
      const names = selected.map(({ name }) => name);
      const recent = await results.recent(TREND_RESULTS, names).finally(() => results.close());
      const view = fleetView({ workspaces: selected }, recent, Date.now(), TREND_RESULTS);
      context.stdout.write((await FORMATS[options.output ?? format]?.(view)) ?? "");
      return EXIT.ok;
    },
  });
}

export const statusCommand = reportCommand("status", "show the last result of each workspace", "text");
export const fleetReportCommand = reportCommand("report", "write a report of the fleet", "html");
