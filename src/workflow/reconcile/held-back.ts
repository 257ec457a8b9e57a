// Sensitive values of a saved plan: held back from the file, and taken from the spec again when the plan is applied.

import { error, Failure } from "../../core/diagnostic.ts";
import { keyedDigest } from "../../core/digest.ts";
import { SENSITIVE_TEXT, withoutReplaced, withTexts } from "../../core/sensitive.ts";
import type { Plan } from "../../planner/model/plan.ts";
import type { Spec } from "../../spec/model/spec.ts";

type SensitiveSpec = Pick<Spec, "sensitive">;

const MARK = /\(sensitive ([0-9a-f]{32})\)/g;

const markOf = (key: Uint8Array, text: string): string =>
  `(sensitive ${keyedDigest(key, `held back\n${text}`).slice(-32)})`;

/** The plan with a mark in place of each sensitive value. Who lacks the key cannot test a guess. */
export function holdBack(plan: Plan, { sensitive }: SensitiveSpec, key: Uint8Array): Plan {
  return sensitive?.maskedDeep(plan, (text) => markOf(key, text)) ?? plan;
}

/** The plan with the values of the spec. Throws Failure with PLAN_STALE if the spec has other ones. */
export function withHeldBack(plan: Plan, { sensitive }: SensitiveSpec, key: Uint8Array): Plan {
  const values = new Map([...(sensitive?.texts() ?? [])].map((text) => [markOf(key, text), text]));
  return withTexts(plan, (text) =>
    text.replace(MARK, (mark) => {
      const value = values.get(mark);
      if (value === undefined) throw new Failure(otherValue());
      return value;
    }),
  );
}

/** A plan for output. */
export function withoutMarks<T>(shown: T): T {
  const hidden = withoutReplaced(shown, (text) => text.search(MARK) >= 0);
  return withTexts(hidden, (text) => text.replace(MARK, SENSITIVE_TEXT));
}

function otherValue() {
  return error("PLAN_STALE", "the value of a sensitive variable changed after the plan was made", {
    hint: "set the value that the plan was made with, or make a new plan",
  });
}
