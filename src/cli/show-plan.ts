// Writes a plan to stdout in the form that was asked for.

import type { Diagnostic } from "../core/diagnostic.ts";
import type { Plan } from "../planner/plan.ts";
import { registry } from "../providers/index.ts";
import { colorsFor, wantsColor } from "../report/color.ts";
import { printableJson } from "../report/printable.ts";
import { VERSION } from "./about.ts";
import type { Context } from "./context.ts";
import { tell } from "./trouble.ts";

export type Form = "text" | "json" | "markdown";

export async function showPlan(context: Context, plan: Plan, form: Form): Promise<void> {
  switch (form) {
    case "text": {
      const { planText } = await import("../report/plan-text.ts");
      context.stdout.write(
        planText(plan, registry, colorsFor(wantsColor(context.env, context.stdout.isTerminal))),
      );
      return;
    }
    case "json": {
      const { planJson } = await import("../report/plan-json.ts");
      context.stdout.write(`${printableJson(planJson(plan, registry, VERSION), 2)}\n`);
      tell(context, [...plan.diagnostics, ...guardsOf(plan)]);
      return;
    }
    case "markdown": {
      const { planMarkdown } = await import("../report/plan-markdown.ts");
      context.stdout.write(planMarkdown(plan, registry));
      tell(context, [...plan.diagnostics, ...guardsOf(plan)]);
      return;
    }
  }
  form satisfies never;
}

export function guardsOf(plan: Plan): readonly Diagnostic[] {
  return plan.guards.map((guard) => guard.diagnostic);
}
