// The logic of a rule as plain data, so that it can be sent to another thread.

import type { Json, JsonObject } from "../core/json.ts";

/** An expression, or literal text. */
export type MessagePart = string | { readonly expression: string; readonly offset: number };

/** The parts of a rule that contain expressions. */
export type RulePart = "when" | "assert" | "message";

export interface RuleLogic {
  readonly kinds?: readonly string[];
  /** Without it, a rule is about changes that write values. */
  readonly when?: string;
  readonly assert: string;
  readonly message?: readonly MessagePart[];
  /** `plan`: no expression is about a change, so the rule is evaluated once. */
  readonly scope: "change" | "plan";
}

/** A change as a rule sees it, without sensitive values. `null`: the object does not exist. */
export interface RuleSubject {
  readonly address: string;
  readonly kind: string;
  readonly name: string;
  readonly change: {
    readonly action: string;
    readonly cause: string;
    readonly before: JsonObject | null;
    readonly after: JsonObject | null;
  };
}

/** The variables that are the same for each change. */
export interface RuleSurroundings {
  readonly plan: { readonly summary: Readonly<Record<string, number>> };
  readonly target: { readonly name: string; readonly protected: boolean };
}

/** A change that breaks a rule; without `subject`, the plan does. */
export interface Violation {
  readonly subject?: number;
  /** Absent if the rule has no message, or none that can be evaluated. */
  readonly message?: string;
}

/** Why an expression has no value, and the changes for which it has none. */
export interface EvaluationProblem {
  readonly part: RulePart;
  /** Where in the text of the part. */
  readonly offset: number;
  readonly message: string;
  readonly subjects: readonly number[];
}

export interface RuleResult {
  readonly violations: readonly Violation[];
  /** Changes that break the rule beyond the number of violations that are reported one by one. */
  readonly further?: readonly number[];
  readonly problem?: EvaluationProblem;
}

/** Names of variables of every rule, with the members that are known. */
export const RULE_VARIABLES: Readonly<Record<string, Readonly<Record<string, Json>> | null>> = {
  address: null,
  kind: null,
  name: null,
  change: { action: "string", cause: "string", before: "dyn", after: "dyn" },
  plan: {
    summary: {
      create: "int",
      update: "int",
      replace: "int",
      delete: "int",
      adopt: "int",
      forget: "int",
      noop: "int",
      report: "int",
    },
  },
  target: { name: "string", protected: "bool" },
};
