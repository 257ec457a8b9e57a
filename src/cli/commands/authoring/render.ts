// `workspace render`: prints the resolved spec of a target as a spec. Reads no secret and sends no request.

import { basename } from "node:path";
import { VERSION } from "../../../config/version.ts";
import { renderedJson, renderedYaml } from "../../../report/inspect/rendered-spec.ts";
import { type ResolvedSpec, resolvedSpec } from "../../../workflow/session/read-spec.ts";
import { defineCommand } from "../../command/command.ts";
import { choiceOption, flagOption, oneFormat } from "../../command/option.ts";
import { DIALECT_OPTIONS, SPEC_OPTIONS } from "../../command/shared-options.ts";

export const renderCommand = defineCommand({
  jsonSchema: "render",
  options: {
    ...SPEC_OPTIONS,
    ...DIALECT_OPTIONS,
    origins: flagOption("--origins", "add the place of each value as a comment (json always has them)"),
    output: oneFormat(choiceOption("-o, --output <format>", "output format", ["yaml", "json"])),
  },
  notes:
    "Modules, variables, and locals are resolved. Sensitive values are replaced by (sensitive). In the folder of the spec, the output gives the same plan.",
  async run(context, { output, origins }) {
    const resolved = await resolvedSpec(context);
    const file = basename(context.file);
    context.stdout.write(
      output === "json" ? renderedJson(resolved) : renderedYaml(resolved, headOf(resolved, file), origins),
    );
  },
});

function headOf({ target, hasSensitive }: ResolvedSpec, file: string): readonly string[] {
  return [
    `Rendered from ${file}${target === undefined ? "" : `, target ${target}`}, by workspace ${VERSION}.`,
    ...(hasSensitive ? ["Sensitive values are replaced: do not apply this file."] : []),
  ];
}
