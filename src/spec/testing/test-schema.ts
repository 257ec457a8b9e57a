// The JSON Schema of a test file (`*.test.yaml`), for editors and for validation.

import type { Json } from "../../core/json.ts";
import { ACTIONS } from "../../resource/planning.ts";

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

export type Schema = { readonly [keyword: string]: Json };

const MOST_ENTRIES = 10_000;

const ADDRESS_SCHEMA: Schema = { type: "string", pattern: "^\\w+\\..", examples: ["pools.shared"] };
const item = (name: string, description: string, more: Schema): Schema => ({
  type: ["string", "object"],
  minLength: 1,
  required: [name],
  additionalProperties: false,
  properties: { [name]: { type: "string", minLength: 1, description }, ...more },
});

const address: Schema = { ...ADDRESS_SCHEMA, description: "Address of the resource." };

const FOUND: Schema = {
  diagnostics: {
    type: "array",
    maxItems: MOST_ENTRIES,
    description:
      "Every error and warning, by code, and if given by address (default: no errors; warnings are not compared).",
    items: item("code", "Code of the diagnostic.", { address }),
    examples: [["SPEC_REFERENCE"], [{ code: "PLAN_ALREADY_EXISTS", address: "pools.shared" }]],
  },
};

const PLANNED: Schema = {
  summary: {
    type: "object",
    description: "Number of changes by action; actions that are left out have none.",
    additionalProperties: false,
    properties: Object.fromEntries(
      ACTIONS.map((action) => [
        action,
        { type: "integer", minimum: 0, description: `Number of resources with the action ${action}.` },
      ]),
    ),
    examples: [{ create: 2, update: 1 }],
  },
  actions: {
    type: "object",
    description: "The action of each change, by address. Resources without a change can be listed as noop.",
    maxProperties: MOST_ENTRIES,
    propertyNames: ADDRESS_SCHEMA,
    additionalProperties: { type: "string", enum: ACTIONS, description: "Action of the change." },
    examples: [{ "pools.shared": "update" }],
  },
  ...FOUND,
  guards: {
    type: "array",
    maxItems: MOST_ENTRIES,
    description: "Every guard that blocks the plan, by code (default: none).",
    items: item("code", "Code of the guard.", {
      addresses: { type: "array", items: ADDRESS_SCHEMA, description: "Resources that the guard is about." },
    }),
    examples: [["GUARD_MAX_DELETES"]],
  },
  rules: {
    type: "array",
    maxItems: MOST_ENTRIES,
    description: "Every violation of a rule, by the name of the rule (default: none).",
    items: item("rule", "Name of the rule.", {
      address,
      enforcement: { type: "string", enum: ["warn", "error"], description: "Effect of the rule." },
    }),
    examples: [["autotermination"]],
  },
};

/** A path, or a spec in the test file. For validation a list of types gives better errors than `anyOf`. */
function pathOr(inline: Schema): Schema {
  return "$ref" in inline
    ? { anyOf: [{ type: "string", minLength: 1 }, inline] }
    : { ...inline, type: ["string", "object"], minLength: 1 };
}

/** `inline`: the schema of a spec that is written in the test file. */
function specFields(inline: Schema): Schema {
  return {
    spec: {
      ...pathOr(inline),
      description: "Path of a spec, relative to the test file, or a spec (default: workspace.yaml).",
      examples: ["workspace.yaml"],
    },
    target: { type: "string", minLength: 1, description: "Target of the spec.", examples: ["prod"] },
    variables: {
      type: "object",
      description: "Values of variables of the spec.",
      additionalProperties: { type: ["string", "number", "boolean", "array", "object"] },
      examples: [{ env: "test" }],
    },
  };
}

const step = (description: string, properties: Schema): Schema => ({
  type: ["object", "null"],
  description,
  additionalProperties: false,
  properties,
});

function stepFields(inline: Schema): Schema {
  const spec = specFields(inline);
  const planOptions: Schema = {
    adopt: { type: "boolean", description: "Adopt existing objects whose names match the spec." },
    destroy: { type: "boolean", description: "Delete all managed resources." },
    only: {
      type: "array",
      items: { type: "string", minLength: 1 },
      description: "Limit the plan to these addresses; * matches any text.",
    },
  };
  return {
    validate: step("Check the spec without the workspace.", { ...spec, ...FOUND }),
    plan: step("Plan, and change nothing.", { ...spec, ...planOptions, ...PLANNED }),
    apply: step("Apply the plan, unless an error or a guard blocks it.", {
      ...spec,
      ...planOptions,
      ...PLANNED,
    }),
    drift: step("Detect what changed since the last apply.", {
      ...spec,
      drift: {
        type: "object",
        description: "The drift of each resource, by address (default: none).",
        maxProperties: MOST_ENTRIES,
        propertyNames: ADDRESS_SCHEMA,
        additionalProperties: { type: "string", enum: ["changed", "deleted", "appeared"] },
        examples: [{ "pools.shared": "changed" }],
      },
      ...FOUND,
    }),
    create: {
      ...inline,
      description: "Create these objects outside of `workspace`, or change those that exist.",
    },
    change: {
      type: "object",
      minProperties: 1,
      description: "Change fields of live objects outside of `workspace`, by address.",
      propertyNames: ADDRESS_SCHEMA,
      examples: [{ "pools.shared": { max_capacity: 5 } }],
    },
    delete: {
      type: "array",
      minItems: 1,
      items: ADDRESS_SCHEMA,
      description: "Delete live objects outside of `workspace`, by address.",
    },
    live: {
      type: "object",
      minProperties: 1,
      description:
        "Compare live objects, by address. Objects of a kind that is named must all be listed. Fields that are left out are not compared; null means that the object or field does not exist.",
      maxProperties: MOST_ENTRIES,
      propertyNames: ADDRESS_SCHEMA,
      examples: [{ "pools.shared": { max_capacity: 20 } }],
    },
  };
}
