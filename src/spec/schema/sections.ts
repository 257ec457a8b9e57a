// The schemas of what decides about changes: lifecycle, policy, and rules.

import { SEVERITIES } from "../../resource/field-schema.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { closedMap, enumSchema, flagSchema, ifType, type JsonSchema, textSchema } from "./keywords.ts";

const ON_IMMUTABLE = ["error", "replace"];
const IMMUTABLE = enumSchema(
  "What a plan does if a field that cannot be changed in place changes.",
  ON_IMMUTABLE,
);

export const LIFECYCLE: JsonSchema = {
  title: "lifecycle",
  description: "How a plan treats changes of this resource.",
  ...closedMap({
    prevent_destroy: { ...flagSchema("Reject every plan that would delete or replace it."), default: false },
    ignore_changes: {
      description: "Fields that are set at creation and never updated.",
      type: "array",
      examples: [["custom_tags"]],
      items: { type: "string", minLength: 1 },
    },
    on_immutable_change: IMMUTABLE,
  }),
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
        ...ifType("object", closedMap({ default: IMMUTABLE, ...byKind }), {
          type: "string",
          enum: ON_IMMUTABLE,
        }),
      },
      max_deletes: {
        description:
          "Limit on deletions in a plan: a number, or a share such as 30% of the managed resources (if more than 10 are managed) and, where unmanaged objects are deleted, of the live objects of each kind. A share below 100% also blocks an empty spec that deletes resources, and a plan that deletes every managed resource.",
        default: "30%",
        examples: ["10%", 5],
        ...ifType(
          "string",
          { type: "string", pattern: "^(100|[0-9]{1,2})(\\.[0-9]+)?%$", examples: ["30%"] },
          { type: "integer", minimum: 0 },
        ),
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
        ...enumSchema(
          "Whether a plan may create a cluster or job with the name of an unmanaged one if no state exists: error or allow.",
          ["error", "allow"],
        ),
        default: "error",
      },
    },
    additionalProperties: false,
  };
}

const LONGEST_EXPRESSION = 5_000;

export function ruleSchema(registry: PlanningRegistry): JsonSchema {
  return closedMap(
    {
      name: {
        description: "Name of the rule in every report.",
        type: "string",
        pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$",
        examples: ["clusters-autoterminate"],
      },
      description: textSchema("Purpose of the rule.", "An idle cluster costs as much as a busy one."),
      kinds: {
        description: "Kinds that the rule checks (default: all).",
        type: "array",
        minItems: 1,
        items: { type: "string", enum: registry.kinds.map(({ kind }) => kind) },
        examples: [["clusters", "pools"]],
      },
      when: {
        description:
          "CEL expression that selects the changes to check (default: every change that creates, updates, replaces, adopts, imports, or moves).",
        type: "string",
        minLength: 1,
        maxLength: LONGEST_EXPRESSION,
        examples: ['change.action == "delete"'],
      },
      assert: {
        description:
          "CEL expression that must be true. Variables: change (action, cause, before, after), address, kind, name, plan.summary, target.",
        type: "string",
        minLength: 1,
        maxLength: LONGEST_EXPRESSION,
        examples: ["has(change.after.autotermination_minutes)"],
      },
      message: {
        description: "The problem and what to do. {{EXPRESSION}} inserts the value of a CEL expression.",
        type: "string",
        maxLength: LONGEST_EXPRESSION,
        examples: ["set autotermination_minutes, not {{change.after.autotermination_minutes}}"],
      },
      severity: { ...enumSchema("Severity of a violation in reports.", SEVERITIES), default: "other" },
      enforcement: {
        ...enumSchema("error: a violation blocks the plan. warn: a violation is a warning.", [
          "error",
          "warn",
        ]),
        default: "error",
      },
    },
    ["name", "assert"],
  );
}

export function rulesSchema(registry: PlanningRegistry): JsonSchema {
  return {
    description: "Rules that every plan must follow.",
    type: ["array", "null"],
    items: ruleSchema(registry),
    examples: [
      [
        {
          name: "pools-have-a-team",
          kinds: ["pools"],
          assert: 'has(change.after.custom_tags) && "team" in change.after.custom_tags',
          message: "add the tag team to custom_tags",
          enforcement: "warn",
        },
      ],
    ],
  };
}
