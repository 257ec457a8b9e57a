// `workspace validate`: everything that can be said about a spec without a workspace.

import { kindOf } from "../../core/address.ts";
import { type Diagnostic, hasErrors } from "../../core/diagnostic.ts";
import { count, listed } from "../../core/words.ts";
import { diagnosticJson } from "../../report/diagnostic-text.ts";
import { printableJson } from "../../report/printable.ts";
import type { Spec } from "../../spec/spec.ts";
import { defineCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { validateEnding } from "../ending.ts";
import { EXIT, exitOf } from "../exit.ts";
import { choice } from "../option.ts";
import { SPEC_OPTIONS } from "../options.ts";
import { judgedSpec, specWithoutSecrets } from "../spec.ts";
import { diagnosticsOf } from "../trouble.ts";

export const validate = defineCommand({
  name: "validate",
  summary: "check the spec; needs no workspace and reads no secret",
  options: {
    ...SPEC_OPTIONS,
    output: choice("-o, --output <form>", "the form of the output", ["text", "json", "markdown", "junit"]),
  },
  ending: validateEnding,
  async run(context, options) {
    if (options.output === "text") {
      context.stdout.write(`${sentence(await specWithoutSecrets(context, options))}.\n`);
      return EXIT.ok;
    }
    const { spec, diagnostics } = await judgedSpec(context, options, undefined).catch((problem: unknown) => ({
      spec: undefined,
      diagnostics: diagnosticsOf(problem),
    }));
    await show(context, options.output, spec, diagnostics);
    return exitOf(diagnostics);
  },
});

async function show(
  context: Context,
  form: "json" | "markdown" | "junit",
  spec: Spec | undefined,
  found: readonly Diagnostic[],
): Promise<void> {
  const { stdout } = context;
  switch (form) {
    case "json": {
      const report = { valid: !hasErrors(found), diagnostics: found.map(diagnosticJson) };
      stdout.write(`${printableJson(report, 2)}\n`);
      return;
    }
    case "markdown": {
      const { validationMarkdown } = await import("../../report/validation-markdown.ts");
      stdout.write(validationMarkdown(spec === undefined ? undefined : sentence(spec), found));
      return;
    }
    case "junit": {
      const { findingsJunit } = await import("../../report/junit.ts");
      stdout.write(findingsJunit("workspace validate", spec === undefined ? "" : sentence(spec), found));
      return;
    }
  }
  form satisfies never;
}

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
