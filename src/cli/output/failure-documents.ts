// The documents on stdout for runs that fail before they have a result.

import type { CommandContext } from "../../config/environment.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { registry } from "../../providers/index.ts";
import { diagnosticsText, severityCounts } from "../../report/text/diagnostic-text.ts";
import { printableJson } from "../../report/text/printable.ts";
import type { RunInfo } from "../../report/text/run-info.ts";
import { colorsOf } from "./diagnostics.ts";
import { type RunOrigin, runOrigin } from "./run-origin.ts";

/** Writes what ended a run in the form that was asked for; nothing where stderr has said it all. */
export type ReportEnding = (
  context: CommandContext,
  form: string,
  found: readonly Diagnostic[],
  /** Absent for a run that ended before its options were understood. */
  origin?: RunOrigin,
) => Promise<void>;

/** A document of the usual form that contains only diagnostics. */
export const planEnding: ReportEnding = async (context, form, diagnostics, origin) => {
  if (form !== "json") return report(context, form, "plan", diagnostics, origin);
  const { planJson } = await import("../../report/plan/plan-json.ts");
  const { planView } = await import("../../report/plan/plan-view.ts");
  json(context, planJson(planView({ ...NOTHING, diagnostics }, registry), await infoOf(context, origin)));
};

export const driftEnding: ReportEnding = async (context, form, diagnostics, origin) => {
  if (form !== "json") return report(context, form, "drift", diagnostics, origin);
  const { driftReportJson } = await import("../../report/plan/plan-json.ts");
  const { driftView } = await import("../../report/plan/drift-view.ts");
  json(
    context,
    driftReportJson(driftView({ ...NOTHING, diagnostics }, 0, registry), await infoOf(context, origin)),
  );
};

export const validateEnding: ReportEnding = async (context, form, diagnostics, origin) => {
  if (form !== "json") return report(context, form, "validate", diagnostics, origin);
  const { VALIDATION_FORMATS } = await import("../../report/formats.ts");
  const render = await VALIDATION_FORMATS.json();
  const view = { sentence: undefined, diagnostics };
  context.stdout.write(render(view, await infoOf(context, origin)).text);
};

export const testEnding: ReportEnding = async (context, form, diagnostics) => {
  if (form !== "json" && form !== "junit") return;
  const { testsJson, testsJunit } = await import("../../report/spec-tests/tests-view.ts");
  const view = { results: [], diagnostics };
  if (form === "json") json(context, testsJson(view));
  else context.stdout.write(testsJunit(view));
};

/** One event per line, like the other output of such a run. */
export const applyEnding: ReportEnding = async (context, form, diagnostics, origin) => {
  if (form !== "json") return report(context, form, "apply", diagnostics, origin);
  await diagnosticEvents(context, diagnostics);
};

async function diagnosticEvents(context: CommandContext, found: readonly Diagnostic[]): Promise<void> {
  const { diagnosticEventJson } = await import("../../report/outcome/outcome-json.ts");
  for (const one of found) context.stdout.write(`${printableJson(diagnosticEventJson(one))}\n`);
}

/** If a run ended before its options were parsed, only the environment is known. */
async function infoOf(context: CommandContext, origin: RunOrigin | undefined): Promise<RunInfo> {
  // The host is known with the plan.
  return { ...(origin ?? (await runOrigin(context, { untrusted: true }))), host: "", modes: [] };
}

const NOTHING = { host: "", changes: [], drift: [], unmanaged: [], guards: [] };

function json(context: CommandContext, document: Record<string, unknown>): void {
  context.stdout.write(`${printableJson(document, 2)}\n`);
}

async function report(
  context: CommandContext,
  form: string,
  command: string,
  found: readonly Diagnostic[],
  origin: RunOrigin | undefined,
): Promise<void> {
  if (form === "junit") {
    const { findingsJunit } = await import("../../report/outcome/junit.ts");
    context.stdout.write(findingsJunit(`workspace ${command}`, "", found, await infoOf(context, origin)));
  } else if (form === "html") {
    const { failureHtml } = await import("../../report/html/parts.ts");
    context.stdout.write(failureHtml(`workspace ${command}`, found, await infoOf(context, origin)));
  } else if (form === "markdown" || form === "markdown-summary") {
    const { findingsMarkdown } = await import("../../report/inspect/validation-markdown.ts");
    const { COMMENT_SIZE, SUMMARY_SIZE } = await import("../../report/text/markdown.ts");
    const size = form === "markdown" ? COMMENT_SIZE : SUMMARY_SIZE;
    const title = `workspace ${command}: ${severityCounts(found)}`;
    const { text, cut } = findingsMarkdown(title, found, await infoOf(context, origin), size);
    context.stdout.write(text);
    if (cut) context.stderr.write(diagnosticsText(found, colorsOf(context, context.stderr), found.length));
  } else if (form === "gitlab") {
    // Without counts, GitLab shows that the report failed; zeros would mean no changes.
    context.stdout.write("{}\n");
  } else if (form === "github" || form === "sarif" || form === "codequality") {
    context.stdout.write(await noticesText(form, command, found, await infoOf(context, origin)));
  }
}

async function noticesText(
  form: "github" | "sarif" | "codequality",
  command: string,
  found: readonly Diagnostic[],
  info: RunInfo,
): Promise<string> {
  const { findingNotices } = await import("../../report/ci/notice.ts");
  const notices = findingNotices(found);
  if (form === "github") {
    const summary = [`workspace ${command}: ${severityCounts(found)}`];
    return (await import("../../report/ci/github-annotations.ts")).githubAnnotations(notices, info, summary);
  }
  if (form === "sarif")
    return (await import("../../report/ci/sarif.ts")).sarifReport(notices, command, info).text;
  return (await import("../../report/ci/gitlab.ts")).codeQuality(notices, info);
}
