// The JSON Schema of a test file (`*.test.yaml`), for editors and for validation.

import { ADDRESS_SCHEMA, pathOr, type Schema, specFields, stepFields } from "./step-schema.ts";

/** How many tests a file may have, and how many steps a test. */
const MOST_TESTS = 1000;
const MOST_STEPS = 100;

/** Names that choose a host, a credential, or a state are never set for a test. */
const VARIABLE = "^(?!WORKSPACE_|DATABRICKS_|ARM_)[A-Za-z_][A-Za-z0-9_]*$";

function setupFields(inline: Schema): Schema {
  return {
    ...specFields(inline),
    env: {
      type: "object",
      description: "Environment variables of the spec, such as values of secrets. Nothing else is set.",
      propertyNames: { pattern: VARIABLE },
      additionalProperties: { type: "string" },
      examples: [{ DB_PASSWORD: "not-a-real-secret" }],
    },
    dialect: {
      type: "string",
      enum: ["contract", "databricks"],
      description: "Dialect of the workspace (default: contract).",
    },
    cloud: {
      type: "string",
      enum: ["azure", "aws", "gcp"],
      description: "Cloud of the databricks dialect (default: azure).",
    },
    world: {
      ...pathOr(inline),
      description:
        "Objects that exist before the first step and are not managed: a spec, or the path of one, such as an export.",
      examples: ["export/workspace.yaml"],
    },
    ids: {
      type: "object",
      description: "IDs of the world's objects by address, for the import entries of the spec.",
      propertyNames: ADDRESS_SCHEMA,
      additionalProperties: { type: "string", minLength: 1 },
      examples: [{ "clusters.adhoc": "0101-120000-abc" }],
    },
    rules: {
      type: "string",
      minLength: 1,
      description: "Folder of rules that plans are checked against, in addition to the rules of the spec.",
      examples: ["../rules"],
    },
    prices: {
      type: "string",
      minLength: 1,
      description: "List of prices for the cost of plans, relative to the test file.",
      examples: ["../prices.yaml"],
    },
    timeout: {
      type: "string",
      pattern: "^[0-9]+(?:\\.[0-9]+)?(?:ms|s|m)$",
      description: "Time limit of one test, at most 10m (default: 30s).",
      examples: ["10s"],
    },
  };
}

/** `inline`: the schema of a spec inside the file; reading checks such a spec when it is used. */
export function testFileSchema(inline: Schema = { type: "object" }): Schema {
  const setup = setupFields(inline);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Tests of a spec",
    type: "object",
    required: ["tests"],
    additionalProperties: false,
    properties: {
      ...setup,
      tests: {
        type: "object",
        description: "Tests by name. A test can replace the fields above.",
        minProperties: 1,
        maxProperties: MOST_TESTS,
        additionalProperties: {
          type: "object",
          required: ["steps"],
          additionalProperties: false,
          properties: {
            description: { type: "string", description: "Purpose of the test." },
            ...setup,
            steps: {
              type: "array",
              minItems: 1,
              maxItems: MOST_STEPS,
              description: "Steps, in order. A step with an unexpected error ends the test.",
              items: {
                type: "object",
                minProperties: 1,
                maxProperties: 1,
                additionalProperties: false,
                properties: stepFields(inline),
              },
            },
          },
        },
      },
    },
  };
}
