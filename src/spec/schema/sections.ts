// The parts of the spec's schema that belong to no kind: lifecycle, policy, variables.

import type { PlanningRegistry } from "../../resource/registry.ts";
import type { JsonSchema } from "./json-schema-type.ts";

const IMMUTABLE: JsonSchema = {
  description: "What happens when a field changes that cannot be changed in place.",
  type: "string",
  enum: ["error", "replace"],
};

export const LIFECYCLE: JsonSchema = {
  title: "lifecycle",
  description: "How changes of this resource are treated.",
  type: "object",
  properties: {
    prevent_destroy: {
      description: "Refuse every plan that would delete or replace it.",
      type: "boolean",
      default: false,
    },
    ignore_changes: {
      description: "Fields that are set at creation and left alone later.",
      type: "array",
      items: { type: "string", minLength: 1 },
    },
    on_immutable_change: IMMUTABLE,
  },
  additionalProperties: false,
};

export function policySchema(registry: PlanningRegistry): JsonSchema {
  const kinds = registry.kinds.map(({ kind }) => kind);
  const top = registry.kinds.filter(({ nested }) => nested === undefined).map(({ kind }) => kind);
  const byKind = Object.fromEntries(kinds.map((kind) => [kind, IMMUTABLE]));
  return {
    description: "What a plan may do.",
    type: ["object", "null"],
    properties: {
      on_immutable_change: {
        description:
          "What happens when a field changes that cannot be changed in place: for all kinds, or by kind.",
        default: "error",
        if: { type: "object" },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { type: "object", properties: { default: IMMUTABLE, ...byKind }, additionalProperties: false },
        else: { type: "string", enum: ["error", "replace"] },
      },
      max_deletes: {
        description:
          "How much a plan may delete: a number, or a share such as 30% of the managed resources (once there are more than 10), and of the live objects of each kind where nobody manages what goes.",
        default: "30%",
        if: { type: "string" },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { type: "string", pattern: "^(100|[0-9]{1,2})(\\.[0-9]+)?%$", examples: ["30%"] },
        else: { type: "integer", minimum: 0 },
      },
      authoritative: {
        description: "Kinds whose live objects are deleted where the spec does not have them.",
        type: "array",
        default: [],
        items: { type: "string", enum: top },
      },
      duplicate_names: {
        description:
          "Whether a plan may create a cluster or job whose name an unmanaged one has, while no state exists: error, or allow.",
        type: "string",
        enum: ["error", "allow"],
        default: "error",
      },
    },
    additionalProperties: false,
  };
}

export function variablesSchema(): JsonSchema {
  return {
    description:
      "Values that stand for ${var.name}: from --var, --var-file, WORKSPACE_VAR_name, the target, or the default.",
    type: ["object", "null"],
    propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_-]*$" },
    additionalProperties: {
      if: { type: "object" },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: {
        type: "object",
        properties: {
          default: {
            description: "The value where nothing else gives one. Without it a value must be given.",
          },
          description: { description: "What the variable is for.", type: "string" },
          type: {
            description: "What a value must be.",
            type: "string",
            enum: ["string", "number", "boolean", "list", "map"],
          },
          enum: { description: "The only values that are allowed.", type: "array", minItems: 1 },
          pattern: {
            description:
              "A regular expression that the value must match, without lookahead and backreferences.",
            type: "string",
            examples: ["^[a-z-]+$"],
          },
          sensitive: {
            description: "Show the value in no output. The type must be string.",
            type: "boolean",
          },
        },
        additionalProperties: false,
      },
    },
  };
}
