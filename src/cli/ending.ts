// What the reader of a form gets on stdout from a run that ended before it had its answer.

import type { Diagnostic } from "../core/diagnostic.ts";
import { registry } from "../providers/index.ts";
import { printableJson } from "../report/printable.ts";
import { VERSION } from "./about.ts";
import type { Context } from "./context.ts";

/** Writes what ended a run in the form that was asked for; nothing where stderr has said it all. */
export type Ending = (context: Context, form: string, found: readonly Diagnostic[]) => Promise<void>;

/** A document of the usual shape with nothing in it but diagnostics. */
export const planEnding: Ending = async (context, form, diagnostics) => {
  if (form !== "json") return report(context, form, "plan", diagnostics);
  const { planJson } = await import("../report/plan-json.ts");
  json(context, planJson({ ...NOTHING, diagnostics }, registry, VERSION));
};

export const driftEnding: Ending = async (context, form, diagnostics) => {
  if (form !== "json") return report(context, form, "drift", diagnostics);
  const { driftReportJson } = await import("../report/drift-json.ts");
  json(context, driftReportJson({ ...NOTHING, diagnostics }, registry, VERSION));
};

export const validateEnding: Ending = async (context, form, diagnostics) => {
  if (form !== "json") return report(context, form, "validate", diagnostics);
  const { diagnosticJson } = await import("../report/diagnostic-text.ts");
  json(context, { valid: false, diagnostics: diagnostics.map(diagnosticJson) });
};

/** One event a line, as for everything else that such a run says. */
export const applyEnding: Ending = async (context, form, diagnostics) => {
  if (form !== "json") return report(context, form, "apply", diagnostics);
  await diagnosticEvents(context, diagnostics);
};

export async function diagnosticEvents(context: Context, found: readonly Diagnostic[]): Promise<void> {
  const { diagnosticEventJson } = await import("../report/outcome-json.ts");
  for (const one of found) context.stdout.write(`${printableJson(diagnosticEventJson(one))}\n`);
}

const NOTHING = { host: "", changes: [], drift: [], unmanaged: [], guards: [], wants: [] };

function json(context: Context, document: Record<string, unknown>): void {
  context.stdout.write(`${printableJson(document, 2)}\n`);
}

async function report(
  { stdout }: Context,
  form: string,
  command: string,
  found: readonly Diagnostic[],
): Promise<void> {
  if (form === "junit") {
    const { findingsJunit } = await import("../report/junit.ts");
    stdout.write(findingsJunit(`workspace ${command}`, "", found));
  } else if (form === "html") {
    const { troubleHtml } = await import("../report/html/trouble-html.ts");
    stdout.write(troubleHtml(`workspace ${command}`, found));
  }
}
