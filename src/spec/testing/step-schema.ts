// The JSON Schema of the steps of a test: their options and expectations.

import type { Json } from "../../core/json.ts";

export type Schema = { readonly [keyword: string]: Json };

const MOST_ENTRIES = 10_000;

export const ADDRESS_SCHEMA: Schema = { type: "string", pattern: "^\\w+\\..", examples: ["pools.shared"] };
const ACTIONS = [
  "create",
  "update",
  "replace",
  "delete",
  "adopt",
  "import",
  "move",
  "forget",
  "compare",
  "noop",
  "report",
];

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
export function pathOr(inline: Schema): Schema {
  return "$ref" in inline
    ? { anyOf: [{ type: "string", minLength: 1 }, inline] }
    : { ...inline, type: ["string", "object"], minLength: 1 };
}

/** `inline`: the schema of a spec that is written in the test file. */
export function specFields(inline: Schema): Schema {
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

export function stepFields(inline: Schema): Schema {
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
        additionalProperties: { type: "string", enum: ["changed", "gone", "appeared"] },
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
