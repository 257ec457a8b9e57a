// The schema of sections that belong to no kind: lifecycle, policy, variables.

import type { PlanningRegistry } from "../../resource/registry.ts";
import type { JsonSchema } from "./json-schema-type.ts";

const IMMUTABLE: JsonSchema = {
  description: "What a plan does if a field that cannot be changed in place changes.",
  type: "string",
  enum: ["error", "replace"],
};

export const LIFECYCLE: JsonSchema = {
  title: "lifecycle",
  description: "How a plan treats changes of this resource.",
  type: "object",
  properties: {
    prevent_destroy: {
      description: "Reject every plan that would delete or replace it.",
      type: "boolean",
      default: false,
    },
    ignore_changes: {
      description: "Fields that are set at creation and never updated.",
      type: "array",
      examples: [["custom_tags"]],
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
    examples: [{ max_deletes: "10%", on_immutable_change: "replace" }],
    properties: {
      on_immutable_change: {
        description:
          "What a plan does if a field that cannot be changed in place changes: for all kinds, or by kind.",
        default: "error",
        examples: ["replace", { default: "error", clusters: "replace" }],
        if: { type: "object" },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { type: "object", properties: { default: IMMUTABLE, ...byKind }, additionalProperties: false },
        else: { type: "string", enum: ["error", "replace"] },
      },
      max_deletes: {
        description:
          "Limit on deletions in a plan: a number, or a share such as 30% of the managed resources (if more than 10 are managed) and, where unmanaged objects are deleted, of the live objects of each kind.",
        default: "30%",
        examples: ["10%", 5],
        if: { type: "string" },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { type: "string", pattern: "^(100|[0-9]{1,2})(\\.[0-9]+)?%$", examples: ["30%"] },
        else: { type: "integer", minimum: 0 },
      },
      authoritative: {
        description:
          "Kinds whose live objects are deleted if the spec does not declare them; of directories, notebooks, and files, those next to declared or recorded ones.",
        type: "array",
        default: [],
        examples: [["pools", "groups"]],
        items: { type: "string", enum: top },
      },
      duplicate_names: {
        description:
          "Whether a plan may create a cluster or job with the name of an unmanaged one if no state exists: error or allow.",
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
      "Values for ${var.name}, set by --var, --var-file, WORKSPACE_VAR_name, the target, or the default.",
    type: ["object", "null"],
    examples: [
      { env: { type: "string", enum: ["dev", "prod"], default: "dev", description: "environment" } },
    ],
    propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_-]*$" },
    additionalProperties: {
      if: { type: "object" },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: {
        type: "object",
        properties: {
          default: {
            description: "Value if no other source sets one. Without a default, a value is required.",
            examples: ["dev"],
          },
          description: {
            description: "Purpose of the variable.",
            type: "string",
            examples: ["deployment environment"],
          },
          type: {
            description: "Type of the value.",
            type: "string",
            enum: ["string", "number", "boolean", "list", "map"],
          },
          enum: {
            description: "Allowed values.",
            type: "array",
            minItems: 1,
            examples: [["dev", "prod"]],
          },
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
