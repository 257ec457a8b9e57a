// `workspace schema` prints the JSON Schema of specs and outputs, or the API description.

import { readFileSync } from "node:fs";
import { failureOf } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import { printableJson } from "../../report/text/printable.ts";
import { defineCommand } from "../command/command.ts";
import { flagOption } from "../command/option.ts";
import { OUTPUT_SCHEMAS, type OutputSchema } from "../command/output-schemas.ts";
import { DIALECT_OPTIONS } from "../command/shared-options.ts";

/** Each path is written out, so that the bundle can contain the file. */
const SHIPPED = {
  api: () => readFileSync(new URL("../../../schemas/openapi.yaml", import.meta.url), "utf8"),
  dialect: () => readFileSync(new URL("../../../schemas/openapi-databricks.yaml", import.meta.url), "utf8"),
  plan: OUTPUT_SCHEMAS.plan,
  drift: OUTPUT_SCHEMAS.drift,
  test: () => readFileSync(new URL("../../../schemas/test.schema.json", import.meta.url), "utf8"),
  applyEvents: OUTPUT_SCHEMAS["apply-events"],
};

export const schemaCommand = defineCommand({
  options: {
    api: flagOption("--api", "API of the service as OpenAPI 3.1 (YAML)"),
    ...DIALECT_OPTIONS,
    plan: flagOption("--plan", "schema of `plan --output json`"),
    drift: flagOption("--drift", "schema of `drift --output json`"),
    test: flagOption("--test", "schema of test files (NAME.test.yaml)"),
    applyEvents: flagOption("--apply-events", "schema of each line of `apply --output json`"),
  },
  args: [
    {
      name: "[output]",
      description: "output of a command as JSON, such as `plan` or `state-list` (docs/json.md)",
      takes: Object.keys(OUTPUT_SCHEMAS),
    },
  ],
  async run(context, options, [output]) {
    const dialect = context.dialect();
    const asked = ["api", "plan", "drift", "test", "applyEvents"] as const;
    const [shipped, ...more] = asked.filter((name) => options[name]);
    if (more.length > 0 || (shipped !== undefined && output !== undefined))
      throw failureOf("CLI_USAGE", "only one schema can be printed at a time", {
        hint: "run `workspace schema` once for each of them",
      });
    if (output !== undefined) context.stdout.write(outputSchemaText(output));
    else if (shipped === "api" && dialect.dialect === "databricks") context.stdout.write(SHIPPED.dialect());
    else if (shipped !== undefined) context.stdout.write(SHIPPED[shipped]());
    else {
      const { editorSchema } = await import("../../spec/schema/json-schema.ts");
      const { registry } = await import("../../providers/index.ts");
      const { registryIn } = await import("../../resource/dialect-view.ts");
      context.stdout.write(`${printableJson(editorSchema(registryIn(registry, dialect)), 2)}\n`);
    }
  },
});

/** Throws Failure with CLI_USAGE. */
function outputSchemaText(name: string): string {
  const names = Object.keys(OUTPUT_SCHEMAS);
  if (Object.hasOwn(OUTPUT_SCHEMAS, name)) return OUTPUT_SCHEMAS[name as OutputSchema]();
  throw failureOf("CLI_USAGE", `unknown output "${name}"`, {
    hint: nearestHint(name, names, `known: ${names.join(", ")}`, "words"),
  });
}
