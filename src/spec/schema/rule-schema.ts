// The schema of a rule in the spec.

import { SEVERITIES } from "../../resource/field-schema.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { JsonSchema } from "./json-schema-type.ts";

const LONGEST_EXPRESSION = 5_000;

export function ruleSchema(registry: PlanningRegistry): JsonSchema {
  return {
    type: "object",
    properties: {
      name: {
        description: "Name of the rule in every report.",
        type: "string",
        pattern: "^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$",
        examples: ["clusters-autoterminate"],
      },
      description: {
        description: "Purpose of the rule.",
        type: "string",
        examples: ["An idle cluster costs as much as a busy one."],
      },
      kinds: {
        description: "Kinds that the rule checks (default: all).",
        type: "array",
        minItems: 1,
        items: { type: "string", enum: registry.kinds.map(({ kind }) => kind) },
        examples: [["clusters", "pools"]],
      },
      when: {
        description:
          "CEL expression that selects the changes to check (default: every change that creates, updates, replaces, or adopts).",
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
      severity: {
        description: "Severity of a violation in reports.",
        type: "string",
        enum: [...SEVERITIES],
        default: "other",
      },
      enforcement: {
        description: "error: a violation blocks the plan. warn: a violation is a warning.",
        type: "string",
        enum: ["error", "warn"],
        default: "error",
      },
    },
    required: ["name", "assert"],
    additionalProperties: false,
  };
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
