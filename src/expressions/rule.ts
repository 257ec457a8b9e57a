// The logic of a rule as plain data, and the text of its message.

import type { Json, JsonObject } from "../core/json.ts";
import { describeValue, textOf } from "./values.ts";

export type MessagePart = string | { readonly expression: string; readonly offset: number };

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
  /** After the change. Empty without prices and without --cost. */
  readonly cost?: Readonly<Record<string, number | boolean>>;
  readonly change: {
    readonly action: string;
    readonly cause: string;
    readonly before: JsonObject | null;
    readonly after: JsonObject | null;
  };
}

export interface RuleSurroundings {
  readonly plan: { readonly summary: Readonly<Record<string, number>> };
  readonly target: { readonly name: string; readonly protected: boolean };
  /** As in the JSON of a plan. Empty if the plan does not know it. */
  readonly access?: JsonObject;
}

/** A change that breaks a rule; without `subject`, the plan does. */
export interface Violation {
  readonly subject?: number;
  /** Absent if the rule has no message, or none that can be evaluated. */
  readonly message?: string;
}

/** Why an expression could not be evaluated, and for which changes. */
export interface EvaluationProblem {
  readonly part: RulePart;
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

const COST_MEMBERS: Readonly<Record<string, string>> = {
  ...{ min_per_hour: "double", max_per_hour: "double", always_per_hour: "double" },
  ...{ min_cores: "double", max_cores: "double", always_cores: "double" },
  ...{ min_memory_gb: "double", max_memory_gb: "double", always_memory_gb: "double" },
  known: "bool",
};
const CHANGE_MEMBERS = { action: "string", cause: "string", before: "dyn", after: "dyn" };

/** The types of items in lists, and of what is in them, with the members that are known. The library names the type of the variable `change` `$change`. */
export const ITEM_MEMBERS: Readonly<
  Record<"$right" | "$amounts" | "$planned", Readonly<Record<string, string>>>
> = {
  /** A right that a principal gains or loses. */
  $right: {
    principal: "string",
    principal_kind: "string",
    people: "int",
    affected: "int",
    level: "string",
    before: "string",
    after: "string",
    kind: "string",
    object: "string",
    through: "list<string>",
    inherited_from: "string",
    as_creator: "bool",
  },
  $amounts: COST_MEMBERS,
  /** A change of the plan. */
  $planned: { address: "string", kind: "string", name: "string", ...CHANGE_MEMBERS, cost: "$amounts" },
};

/** Names of variables of every rule, with the members that are known. */
export const RULE_VARIABLES: Readonly<Record<string, Readonly<Record<string, Json>> | null>> = {
  address: null,
  kind: null,
  name: null,
  cost: COST_MEMBERS,
  change: CHANGE_MEMBERS,
  plan: {
    summary: {
      create: "int",
      update: "int",
      replace: "int",
      delete: "int",
      adopt: "int",
      import: "int",
      move: "int",
      forget: "int",
      compare: "int",
      noop: "int",
      report: "int",
    },
    changes: "list<$planned>",
  },
  target: { name: "string", protected: "bool" },
  access: { gained: "list<$right>", lost: "list<$right>", not_compared: "list<string>" },
};

/** The parts of a message, or the offset of a `{{` that is never closed. */
export function messageParts(text: string): readonly MessagePart[] | { readonly open: number } {
  const parts: MessagePart[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf("{{", at);
    if (start < 0) break;
    const end = text.indexOf("}}", start);
    if (end < 0) return { open: start };
    if (start > at) parts.push(text.slice(at, start));
    parts.push({ expression: text.slice(start + 2, end), offset: start + 2 });
    at = end + 2;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

/** A value in a message. */
export function messageText(value: unknown): string {
  try {
    return textOf(value);
  } catch {
    return describeValue(value);
  }
}
