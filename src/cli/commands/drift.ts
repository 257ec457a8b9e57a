// `workspace drift`: what changed in the workspace since the last apply, apart from what the spec has changed since. Reads only.

import { Failure, hasErrors } from "../../core/diagnostic.ts";
import type { Plan } from "../../planner/plan.ts";
import { registry } from "../../providers/index.ts";
import { printableJson } from "../../report/printable.ts";
import { VERSION } from "../about.ts";
import { colorsOf } from "../colors.ts";
import { defineCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { driftEnding } from "../ending.ts";
import { EXIT } from "../exit.ts";
import { HOST_OPTIONS, ONLY_OPTION, REPORT_OPTION, SPEC_OPTIONS, STATE_OPTIONS } from "../options.ts";
import { lookAround, withRun } from "../run.ts";
import type { ReportForm } from "../show-plan.ts";
import { tell } from "../trouble.ts";

export const drift = defineCommand({
  name: "drift",
  summary: "show what changed outside since the last apply; writes nothing",
  options: { ...SPEC_OPTIONS, ...HOST_OPTIONS, state: STATE_OPTIONS.state, ...ONLY_OPTION, ...REPORT_OPTION },
  ending: driftEnding,
  notes: "Exit codes: 0 no drift, 1 error, 2 drift. No secret is read.",
  async run(context, options) {
    return withRun(context, options, { makesKey: false, secrets: "skip", ahead: true }, async (run) => {
      const { state, diagnostics } = await run.loaded();
      const looked = await lookAround(run, state, { only: options.only });
      // What the spec asks for now is no business of drift; what could not be read is.
      const unread = looked.plan.diagnostics.filter((one) => one.code === "PLAN_UNREADABLE");
      const found = [...diagnostics, ...looked.recovered.diagnostics, ...unread];
      if (hasErrors(found)) throw new Failure(...found);
      tell(context, found);
      await showDrift(context, { ...looked.plan, diagnostics: found }, options.output);
      return looked.plan.drift.length > 0 ? EXIT.changes : EXIT.ok;
    });
  },
});

async function showDrift(context: Context, plan: Plan, form: ReportForm): Promise<void> {
  switch (form) {
    case "text": {
      const { driftText } = await import("../../report/drift-text.ts");
      const colors = colorsOf(context, context.stdout);
      context.stdout.write(driftText(plan.drift, registry, colors));
      return;
    }
    case "json": {
      const { driftReportJson } = await import("../../report/drift-json.ts");
      context.stdout.write(`${printableJson(driftReportJson(plan, registry, VERSION), 2)}\n`);
      return;
    }
    case "markdown": {
      const { driftMarkdown } = await import("../../report/drift-markdown.ts");
      context.stdout.write(driftMarkdown(plan.drift, registry));
      return;
    }
    case "html": {
      const { driftHtml } = await import("../../report/html/drift-html.ts");
      context.stdout.write(driftHtml(plan, registry));
      return;
    }
    case "junit": {
      const { driftJunit } = await import("../../report/junit.ts");
      context.stdout.write(driftJunit(plan.drift, registry));
      return;
    }
  }
  form satisfies never;
}
