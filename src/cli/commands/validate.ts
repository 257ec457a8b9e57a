// `workspace validate`: checks a spec without a workspace.

import { kindOf } from "../../core/address.ts";
import { Failure, hasErrors } from "../../core/diagnostic.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import { count, listed } from "../../core/sentences.ts";
import { VALIDATION_FORMATS } from "../../report/formats.ts";
import type { ValidationView } from "../../report/text/findings-markdown.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { doneEntries } from "../../workflow/plan/record-entries.ts";
import { checkSpec } from "../../workflow/session/read-spec.ts";
import { defineCommand } from "../command/command.ts";
import { exitOf } from "../command/exit-codes.ts";
import {
  DIALECT_OPTIONS,
  RULES_OPTION,
  SPEC_OPTIONS,
  STATE_OPTIONS,
  VALIDATION_OUTPUT,
} from "../command/shared-options.ts";
import { printDiagnostics } from "../output/diagnostics.ts";
import { validateFailureDocument } from "../output/failure-documents.ts";
import { withReports } from "../output/reports.ts";

export const validateCommand = defineCommand({
  jsonSchema: "validate",
  options: {
    ...SPEC_OPTIONS,
    ...RULES_OPTION,
    state: STATE_OPTIONS.state,
    ...DIALECT_OPTIONS,
    ...VALIDATION_OUTPUT,
  },
  failureDocument: validateFailureDocument,
  async run(context, options) {
    return withReports(context, options, validateFailureDocument, async (reports, invocation) => {
      const { spec, diagnostics: findings } = await checkSpec(invocation, { allTargets: true }).catch(
        (problem: unknown) => ({ spec: undefined, diagnostics: diagnosticsOf(problem) }),
      );
      const done = spec === undefined || hasErrors(findings) ? [] : await doneEntries(context, spec);
      const diagnostics = [...findings, ...done];
      const valid = spec !== undefined && !hasErrors(diagnostics);
      if (reports.format === "text" && !valid) throw new Failure(...diagnostics);
      if (reports.format === "text") printDiagnostics(context, diagnostics);
      const view = { sentence: valid ? sentence(spec) : undefined, diagnostics };
      await reports.show<ValidationView>(VALIDATION_FORMATS, view, { host: "" });
      return exitOf(diagnostics);
    });
  },
});

function sentence(spec: Spec): string {
  return `Valid: ${count(spec.resources.size, "resource")} in ${count(spec.files.length, "file")}${byKind(spec)}`;
}

function byKind(spec: Spec): string {
  const counts = new Map<string, number>();
  for (const address of spec.resources.keys())
    counts.set(kindOf(address), (counts.get(kindOf(address)) ?? 0) + 1);
  return counts.size === 0
    ? ""
    : ` (${listed(
        [...counts].sort().map(([kind, number]) => `${kind}: ${number}`),
        "and",
        20,
      )})`;
}
