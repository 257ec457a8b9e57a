// The documents on stdout for runs that fail before they have a result.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { registry } from "../../providers/index.ts";
import { DRIFT_FORMATS, failureFormats, PLAN_FORMATS, VALIDATION_FORMATS } from "../../report/formats.ts";
import { jsonDocument, printableJson } from "../../report/text/printable.ts";
import type { RunInfo } from "../../report/text/run-info.ts";
import type { Invocation } from "../../workflow/invocation/invocation.ts";
import type { FailureDocument, RunOrigin } from "../command/command.ts";
import { colorsOf } from "./diagnostics.ts";
import { runOrigin } from "./run-origin.ts";

type Json = (diagnostics: readonly Diagnostic[], info: () => Promise<RunInfo>) => Promise<string>;

function failureDocumentOf(command: string, json: Json): FailureDocument {
  const formats = failureFormats(command);
  const isKnown = (form: string): form is keyof typeof formats => Object.hasOwn(formats, form);
  return async (context, form, diagnostics, origin) => {
    const info = () => infoOf(context, origin);
    if (form === "json") context.stdout.write(await json(diagnostics, info));
    // Without counts, GitLab shows that the report failed; zeros would mean no changes.
    else if (form === "gitlab") context.stdout.write("{}\n");
    else if (isKnown(form)) {
      const colors = colorsOf(context, context.stderr);
      const render = await formats[form]();
      context.stdout.write(render(diagnostics, await info(), colors).text);
    }
  };
}

const NOTHING = { host: "", changes: [], drift: [], unmanaged: [], guards: [] };

/** A document of the usual form that contains only diagnostics. */
export const planFailureDocument = failureDocumentOf("plan", async (diagnostics, info) => {
  const { planView } = await import("../../report/view/plan-view.ts");
  const render = await PLAN_FORMATS.json();
  return render(planView({ ...NOTHING, diagnostics }, registry), await info()).text;
});

export const driftFailureDocument = failureDocumentOf("drift", async (diagnostics, info) => {
  const { driftView } = await import("../../report/view/drift-view.ts");
  const render = await DRIFT_FORMATS.json();
  return render(driftView({ ...NOTHING, diagnostics }, 0, registry), await info()).text;
});

export const validateFailureDocument = failureDocumentOf("validate", async (diagnostics, info) => {
  const render = await VALIDATION_FORMATS.json();
  return render({ sentence: undefined, diagnostics }, await info()).text;
});

const NO_DOCUMENT = () => Promise.resolve("");

/** The JSON of an answer has no place for diagnostics. */
export const accessFailureDocument = failureDocumentOf("access", NO_DOCUMENT);
export const explanationFailureDocument = failureDocumentOf("explain", NO_DOCUMENT);
export const historyFailureDocument = failureDocumentOf("history", NO_DOCUMENT);

/** One event per line, like the other output of such a run. */
export const applyFailureDocument = failureDocumentOf("apply", async (diagnostics) => {
  const { diagnosticEventJson } = await import("../../report/view/outcome-view.ts");
  return diagnostics.map((diagnostic) => `${printableJson(diagnosticEventJson(diagnostic))}\n`).join("");
});

export const testFailureDocument: FailureDocument = async (context, form, diagnostics) => {
  if (form !== "json" && form !== "junit") return;
  const { testsJson, testsJunit } = await import("../../report/inspect/tests-view.ts");
  const view = { results: [], diagnostics };
  context.stdout.write(form === "json" ? jsonDocument(testsJson(view), 2) : testsJunit(view));
};

/** If a run ended before its options were parsed, only the environment is known. */
async function infoOf(context: Invocation, origin: RunOrigin | undefined): Promise<RunInfo> {
  const selected = context.run.ofSavedPlan ?? context.with({ file: undefined, target: undefined });
  // The host is known with the plan.
  return {
    ...(origin ?? (await runOrigin(selected, false))),
    host: "",
    modes: [],
  };
}
