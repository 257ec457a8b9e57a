// `workspace schema`: the JSON Schema of a spec for editors, or the description of the service's API.
// `workspace version`: the program's version and the Node that runs it.

import { readFileSync } from "node:fs";
import { DIALECTS } from "../../config/dialect.ts";
import { VERSION } from "../../config/version.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { printableJson } from "../../report/text/printable.ts";
import { defineCommand } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { choiceOption, flagOption } from "../command/option.ts";

/** Each path is written out, so that the bundle can contain the file. */
const SHIPPED = {
  api: () => readFileSync(new URL("../../../schemas/openapi.yaml", import.meta.url), "utf8"),
  dialect: () => readFileSync(new URL("../../../schemas/openapi-databricks.yaml", import.meta.url), "utf8"),
  plan: () => readFileSync(new URL("../../../schemas/plan.schema.json", import.meta.url), "utf8"),
  drift: () => readFileSync(new URL("../../../schemas/drift.schema.json", import.meta.url), "utf8"),
  applyEvents: () =>
    readFileSync(new URL("../../../schemas/apply-events.schema.json", import.meta.url), "utf8"),
};

export const schemaCommand = defineCommand({
  name: "schema",
  summary: "print a schema: spec, plan, drift, apply events, or API",
  options: {
    api: flagOption("--api", "API of the service as OpenAPI 3.1 (YAML)"),
    dialect: choiceOption("--dialect <name>", "dialect of the API; requires --api", DIALECTS),
    plan: flagOption("--plan", "schema of `plan --output json`"),
    drift: flagOption("--drift", "schema of `drift --output json`"),
    applyEvents: flagOption("--apply-events", "schema of each line of `apply --output json`"),
  },
  async run(context, options) {
    if (options.dialect !== "contract" && !options.api)
      throw new Failure(
        error("CLI_USAGE", `--dialect ${options.dialect} needs --api`, {
          hint: "add --api, or remove --dialect",
        }),
      );
    const asked = ["api", "plan", "drift", "applyEvents"] as const;
    const shipped = asked.find((name) => options[name]);
    if (shipped === "api" && options.dialect === "databricks") context.stdout.write(SHIPPED.dialect());
    else if (shipped !== undefined) context.stdout.write(SHIPPED[shipped]());
    else {
      const { specSchema } = await import("../../spec/schema/json-schema.ts");
      const { registry } = await import("../../providers/index.ts");
      context.stdout.write(`${printableJson(specSchema(registry), 2)}\n`);
    }
    return EXIT.ok;
  },
});

export const versionCommand = defineCommand({
  name: "version",
  summary: "print the version",
  options: {},
  async run(context) {
    context.stdout.write(`workspace ${VERSION} (node ${process.version})\n`);
    return EXIT.ok;
  },
});
