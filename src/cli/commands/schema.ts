// `workspace schema`: the JSON Schema of a spec for editors, or the description of the service's API.

import { readFileSync } from "node:fs";
import { printableJson } from "../../report/printable.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { flag } from "../option.ts";

export const schema = defineCommand({
  name: "schema",
  summary: "print the JSON Schema of a spec, or the API's description",
  options: {
    api: flag("--api", "the service's API as OpenAPI 3.1 (YAML)"),
    plan: flag("--plan", "the schema of `plan --output json`"),
    drift: flag("--drift", "the schema of `drift --output json`"),
    applyEvents: flag("--apply-events", "the schema of each line of `apply --output json`"),
  },
  async run(context, options) {
    if (options.api) context.stdout.write(shipped("openapi.yaml"));
    else if (options.plan) context.stdout.write(shipped("plan.schema.json"));
    else if (options.drift) context.stdout.write(shipped("drift.schema.json"));
    else if (options.applyEvents) context.stdout.write(shipped("apply-events.schema.json"));
    else {
      const { specSchema } = await import("../../spec/schema.ts");
      const { registry } = await import("../../providers/index.ts");
      context.stdout.write(`${printableJson(specSchema(registry), 2)}\n`);
    }
    return EXIT.ok;
  },
});

function shipped(name: string): string {
  return readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), "utf8");
}
