// Writes the schemas that are made from the kinds and from the contract, completes those of outputs (npm run schemas), and names the stale ones.

import { readFileSync, writeFileSync } from "node:fs";
import { registry } from "../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../src/resource/dialect-view.ts";
import { editorSchema } from "../src/spec/schema/json-schema.ts";
import { testFileSchema } from "../src/spec/testing/test-schema.ts";
import { dialectText } from "./dialect/openapi.ts";
import { completeOutputSchemas } from "./output-schemas.ts";

const FOLDER = new URL("../schemas/", import.meta.url);

/** Every generated schema by file name, as it should be in `schemas/`. */
export function generatedSchemas(): ReadonlyMap<string, string> {
  return new Map([
    [
      "workspace.schema.json",
      `${JSON.stringify(editorSchema(registryIn(registry, CONTRACT_FIELDS)), null, 2)}\n`,
    ],
    ["test.schema.json", `${JSON.stringify(testFileSchema({ $ref: "workspace.schema.json" }), null, 2)}\n`],
    ["openapi-databricks.yaml", dialectText()],
    ...completeOutputSchemas(),
  ]);
}

/** Names of the generated files that say something else than the kinds do, or are missing. */
export function staleSchemas(): readonly string[] {
  return [...generatedSchemas()].filter(([name, text]) => written(name) !== text).map(([name]) => name);
}

function written(name: string): string | undefined {
  try {
    return readFileSync(new URL(name, FOLDER), "utf8");
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const stale = staleSchemas();
  if (process.argv.includes("--check")) {
    for (const name of stale) console.error(`schemas/${name} is stale: run npm run schemas`);
    process.exitCode = stale.length > 0 ? 1 : 0;
  } else for (const [name, text] of generatedSchemas()) writeFileSync(new URL(name, FOLDER), text);
}
