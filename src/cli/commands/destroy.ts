// `workspace destroy`: deletes all managed resources.

import { applySpec } from "../command/apply-spec.ts";
import { defineCommand } from "../command/command.ts";
import { textsOption } from "../command/option.ts";
import { ASK_OPTIONS, OUTCOME_OUTPUT, PLANNING_OPTIONS, STATE_OPTIONS } from "../command/shared-options.ts";
import { applyEnding } from "../output/failure-documents.ts";
import { withReports } from "../output/reports.ts";

export const destroyCommand = defineCommand({
  name: "destroy",
  summary: "delete all managed resources",
  options: {
    ...PLANNING_OPTIONS,
    ...STATE_OPTIONS,
    only: textsOption("--only <address-glob>", "limit to these addresses and their dependents; repeatable"),
    ...OUTCOME_OUTPUT,
    ...ASK_OPTIONS,
  },
  ending: applyEnding,
  notes: "To preview the deletions, run `workspace plan --destroy`.",
  run: (context, options) =>
    withReports(context, options, applyEnding, (reports, seen) =>
      applySpec(reports, { ...options, seen }, { destroy: true, only: options.only }, "Delete all of this?"),
    ),
});
