// `workspace validate`: everything that can be said about a spec without a workspace.

import { kindOf } from "../../core/address.ts";
import { hasErrors } from "../../core/diagnostic.ts";
import { diagnosticJson } from "../../report/diagnostic-text.ts";
import { printableJson } from "../../report/printable.ts";
import { count, listed } from "../../report/words.ts";
import type { Spec } from "../../spec/spec.ts";
import { defineCommand } from "../command.ts";
import type { Context } from "../context.ts";
import { EXIT, exitOf } from "../exit.ts";
import { choice } from "../option.ts";
import { SPEC_OPTIONS } from "../options.ts";
import { type SpecOptions, specWithoutSecrets } from "../spec.ts";
import { diagnosticsOf } from "../trouble.ts";

export const validate = defineCommand({
  name: "validate",
  summary: "check the spec; needs no workspace and reads no secret",
  options: {
    ...SPEC_OPTIONS,
    output: choice("-o, --output <form>", "the form of the output", ["text", "json"]),
  },
  async run(context, options) {
    if (options.output === "json") return validateJson(context, options);
    const spec = await specWithoutSecrets(context, options);
    context.stdout.write(
      `Valid: ${count(spec.resources.size, "resource")} in ${count(spec.files.length, "file")}${byKind(spec)}.\n`,
    );
    return EXIT.ok;
  },
});

function byKind(spec: Spec): string {
  const counts = new Map<string, number>();
  for (const address of spec.resources.keys())
    counts.set(kindOf(address), (counts.get(kindOf(address)) ?? 0) + 1);
  return counts.size === 0
    ? ""
    : ` (${listed(
        [...counts].sort().map(([kind, number]) => `${kind}: ${number}`),
        20,
      )})`;
}

async function validateJson(context: Context, options: SpecOptions): Promise<number> {
  const found = await specWithoutSecrets(context, options).then(
    () => [],
    (problem: unknown) => diagnosticsOf(problem),
  );
  context.stdout.write(
    `${printableJson({ valid: !hasErrors(found), diagnostics: found.map(diagnosticJson) }, 2)}\n`,
  );
  return exitOf(found);
}
