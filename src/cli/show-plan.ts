// Writes a plan to stdout in the form that was asked for.

import type { Diagnostic } from "../core/diagnostic.ts";
import type { Plan } from "../planner/plan.ts";
import { registry } from "../providers/index.ts";
import { printableJson } from "../report/printable.ts";
import { VERSION } from "./about.ts";
import { colorsOf } from "./colors.ts";
import type { Context } from "./context.ts";
import { tell } from "./trouble.ts";

/** The forms of what a run did. */
export type Form = "text" | "json" | "markdown" | "junit";
/** The forms of what is looked at. */
export type ReportForm = Form | "html";

/** `aside`: what was found and is no part of the plan; readers of documents get it there. */
export async function showPlan(
  context: Context,
  plan: Plan,
  form: ReportForm,
  aside: readonly Diagnostic[] = [],
): Promise<void> {
  const whole = { ...plan, diagnostics: [...plan.diagnostics, ...aside] };
  switch (form) {
    case "text": {
      const { planText } = await import("../report/plan-text.ts");
      context.stdout.write(planText(plan, registry, colorsOf(context, context.stdout)));
      return;
    }
    case "json": {
      const { planJson } = await import("../report/plan-json.ts");
      context.stdout.write(`${printableJson(planJson(whole, registry, VERSION), 2)}\n`);
      break;
    }
    case "markdown": {
      const { planMarkdown } = await import("../report/plan-markdown.ts");
      context.stdout.write(planMarkdown(plan, registry));
      break;
    }
    case "html": {
      const { planHtml } = await import("../report/html/plan-html.ts");
      context.stdout.write(planHtml(whole, registry));
      break;
    }
    case "junit": {
      const { planJunit } = await import("../report/junit.ts");
      context.stdout.write(planJunit(whole, registry));
      break;
    }
    default:
      form satisfies never;
  }
  tell(context, [...plan.diagnostics, ...guardsOf(plan)]);
}

/** A plan that is not applied: whole for people, as events or cases for those who follow an apply. */
export async function showRefusal(context: Context, plan: Plan, form: Form): Promise<void> {
  if (form !== "json") return showPlan(context, plan, form);
  const { diagnosticEventJson } = await import("../report/outcome-json.ts");
  const events = [
    ...plan.diagnostics.map((one) => diagnosticEventJson(one)),
    ...plan.guards.map((guard) => diagnosticEventJson(guard.diagnostic, guard.addresses)),
  ];
  for (const event of events) context.stdout.write(`${printableJson(event)}\n`);
  tell(context, [...plan.diagnostics, ...guardsOf(plan)]);
}

export function guardsOf(plan: Plan): readonly Diagnostic[] {
  return plan.guards.map((guard) => guard.diagnostic);
}
