// `workspace watch`: validates and plans again when the files of the spec change. Applies nothing.

import { relative } from "node:path";
import { failureOf } from "../../../core/diagnostic.ts";
import { registry } from "../../../providers/index.ts";
import { type RoundView, roundText } from "../../../report/inspect/round-text.ts";
import { planView } from "../../../report/view/plan-view.ts";
import { type CheckRound, checkOnChange } from "../../../workflow/authoring/watch.ts";
import { assertReviewable } from "../../../workflow/plan/plan-review.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { flagOption } from "../../command/option.ts";
import {
  EXISTING_OPTIONS,
  ONLY_OPTION,
  PLANNING_OPTIONS,
  STATE_OPTIONS,
  UNTRUSTED_OPTIONS,
} from "../../command/shared-options.ts";
import { colorsOf } from "../../output/diagnostics.ts";

export const watchCommand = defineCommand({
  options: {
    ...PLANNING_OPTIONS,
    state: STATE_OPTIONS.state,
    ...ONLY_OPTION,
    ...EXISTING_OPTIONS,
    validateOnly: flagOption("--validate-only", "check the spec and send no request"),
    ...UNTRUSTED_OPTIONS,
  },
  notes: "The command ends with Ctrl-C and exits with 130. It changes neither the workspace nor the state.",
  async run(context, options) {
    if (options.validateOnly && options.only.length > 0)
      throw failureOf("CLI_USAGE", "--validate-only and --only cannot be used together");
    assertReviewable(options);
    let before: RoundView | undefined;
    const show = async (result: CheckRound, changed: readonly string[]): Promise<void> => {
      const round = viewOf(context, result, changed);
      context.stdout.write(roundText(round, before, colorsOf(context, context.stdout)));
      await context.stdout.flush();
      // An invalid spec has no plan; the next valid one is compared with the plan before.
      before = { ...round, plan: round.plan ?? before?.plan };
    };
    return context.signals.during(async (signal) => {
      await checkOnChange(context, options, signal, show);
    }, "");
  },
});

function viewOf(
  { cwd }: ConsoleContext,
  { plan, places, diagnostics, resources }: CheckRound,
  changed: readonly string[],
): RoundView {
  return {
    time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
    changed: changed.map((path) => relative(cwd, path)),
    findings: diagnostics,
    plan: plan === undefined ? undefined : planView(plan, registry, { places }),
    resources,
  };
}
