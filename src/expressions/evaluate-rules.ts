// Evaluates rules for the changes of a plan. Each rule has a limited number of steps, so that a hostile one ends with an error.

import type { Json } from "../core/json.ts";
import { hasDigest } from "../core/sensitive/digests.ts";
import { SENSITIVE_TEXT } from "../core/sensitive/texts.ts";
import { shortened } from "../core/sentences.ts";
import {
  type CelVariables,
  type CompiledExpression,
  LimitExceeded,
  Meter,
  problemOf,
  ruleLanguage,
  type StepLimits,
} from "./language.ts";
import {
  type EvaluationProblem,
  ITEM_MEMBERS,
  type MessagePart,
  messageText,
  type RuleLogic,
  type RulePart,
  type RuleResult,
  type RuleSubject,
  type RuleSurroundings,
  type Violation,
} from "./rule.ts";
import { celValue, LazyMap, UnknownValue } from "./values.ts";

const LONGEST_MESSAGE = 500;

/** Violations of one rule that are reported one by one. */
const MOST_VIOLATIONS = 1_000;

/** Actions that write values, or may write them: the changes that a rule without `when` is about. */
const WRITES = ["create", "update", "replace", "adopt", "import", "move", "compare"];

/** `steps`: for one rule and all changes. `total`: after so many, no further rule is evaluated. */
export interface RuleLimits extends StepLimits {
  readonly total: number;
}

export const RULE_LIMITS: RuleLimits = { steps: 50_000_000, total: 300_000_000, largest: 1_000_000 };

/** For an untrusted spec. */
export const STRICT_RULE_LIMITS: RuleLimits = { steps: 10_000_000, total: 50_000_000, largest: 250_000 };

const language = ruleLanguage("evaluate");

/** A change with its values in CEL. */
interface PreparedSubject {
  readonly kind: string;
  readonly action: string;
  readonly variables: CelVariables;
}

interface RuleJob {
  readonly rules: readonly RuleLogic[];
  readonly subjects: readonly RuleSubject[];
  readonly surroundings: RuleSurroundings;
}

/** The result of each rule, in order. Never throws for what a rule does. */
export function* evaluateRules(
  { rules, subjects, surroundings }: RuleJob,
  limits: RuleLimits,
): Iterable<RuleResult> {
  const own = subjects.map(ownVariables);
  const surrounding = prepareSurroundings(surroundings, own);
  const prepared = own.map((variables): PreparedSubject => {
    const { kind, change } = variables;
    return { kind, action: change.action, variables: { ...variables, ...surrounding } };
  });
  let left = limits.total;
  for (const rule of rules) {
    if (left <= 0) {
      const message = "the rules before it took too many steps, so this rule was not evaluated";
      yield { violations: [], problem: { part: "assert", offset: 0, message, subjects: [] } };
      continue;
    }
    const meter = new Meter({ ...limits, steps: Math.min(limits.steps, left) });
    yield evaluateRule(rule, prepared, surrounding, meter);
    left -= meter.taken;
  }
}

function ownVariables({ address, kind, name, change, cost = {} }: RuleSubject) {
  const { action, cause, before, after } = change;
  // A number of the cost is a double in CEL.
  return {
    address,
    kind,
    name,
    cost,
    change: { action, cause, before: celValue(before, ruleText), after: celValue(after, ruleText) },
  };
}

/** No rule may take the text that stands for a sensitive value for the value. */
const ruleText = (text: string): unknown =>
  text === SENSITIVE_TEXT || hasDigest(text) ? new UnknownValue(SENSITIVE_TEXT) : text;

function prepareSurroundings(
  { plan, target, access = {} }: RuleSurroundings,
  own: readonly ReturnType<typeof ownVariables>[],
): CelVariables {
  const changes = own.map(({ change, ...identity }) => {
    const members: Readonly<Record<string, unknown>> = { ...identity, ...change };
    return new LazyMap(CHANGE_NAMES, (name) => members[name]);
  });
  return {
    plan: new Map<string, unknown>([
      ["summary", celValue(plan.summary)],
      ["changes", changes],
    ]),
    target: celValue(target as unknown as Json),
    access: celValue(access),
  };
}

const CHANGE_NAMES: ReadonlySet<string> = new Set(Object.keys(ITEM_MEMBERS.$planned));

/** `surrounding`: the variables of a rule about the plan as a whole. */
function evaluateRule(
  rule: RuleLogic,
  subjects: readonly PreparedSubject[],
  surrounding: CelVariables,
  meter: Meter,
): RuleResult {
  const evaluation = new RuleEvaluation(rule, meter);
  const chosen = [...subjects.entries()].filter(
    ([, { kind }]) => rule.kinds === undefined || rule.kinds.includes(kind),
  );
  if (rule.scope === "plan") {
    if (rule.kinds === undefined || chosen.length > 0) evaluation.evaluate(surrounding, undefined);
    return evaluation.result;
  }
  for (const [at, { action, variables }] of chosen)
    if (!meter.isSpent && (rule.when !== undefined || WRITES.includes(action)))
      evaluation.evaluate(variables, at);
  return evaluation.result;
}

interface InsertedPart {
  readonly part: Exclude<MessagePart, string>;
  readonly compiled: CompiledExpression;
}

class RuleEvaluation {
  readonly #when: CompiledExpression | undefined;
  readonly #assert: CompiledExpression;
  readonly #message: readonly (string | InsertedPart)[];
  readonly #violations: Violation[] = [];
  readonly #further: number[] = [];
  #problem: EvaluationProblem | undefined;
  readonly #withoutValue: number[] = [];

  readonly #meter: Meter;

  constructor({ when, assert, message = [] }: RuleLogic, meter: Meter) {
    this.#meter = meter;
    this.#when = when === undefined ? undefined : compiled(when);
    this.#assert = compiled(assert);
    this.#message = message.map((part) =>
      typeof part === "string" ? part : { part, compiled: compiled(part.expression) },
    );
  }

  get result(): RuleResult {
    const problem = this.#problem;
    return {
      violations: this.#violations,
      further: this.#further.length === 0 ? undefined : this.#further,
      problem: problem && { ...problem, subjects: this.#withoutValue },
    };
  }

  evaluate(variables: CelVariables, subject: number | undefined): void {
    if (this.#when !== undefined && this.#isTrue("when", this.#when, variables, subject) !== true) return;
    if (this.#isTrue("assert", this.#assert, variables, subject) !== false) return;
    if (subject !== undefined && this.#violations.length >= MOST_VIOLATIONS) {
      this.#further.push(subject);
      return;
    }
    const message = this.#text(variables);
    this.#violations.push({ subject, message: message === "" ? undefined : message });
  }

  /** Undefined if the expression has no value, or one that is neither true nor false. */
  #isTrue(
    part: RulePart,
    expression: CompiledExpression,
    variables: CelVariables,
    subject: number | undefined,
  ): boolean | undefined {
    let offset = 0;
    let message: string;
    try {
      const value = expression.evaluate(variables, this.#meter);
      if (typeof value === "boolean") return value;
      message = `the value must be true or false, not ${shortened(messageText(value), 100)}`;
    } catch (thrown) {
      const problem = problemOf(thrown);
      offset = problem.start;
      message = problem.message;
      // The violations before are incomplete.
      if (thrown instanceof LimitExceeded) {
        this.#violations.length = 0;
        this.#problem = undefined;
      }
    }
    this.#problem ??= { part, offset, message, subjects: [] };
    if (subject !== undefined) this.#withoutValue.push(subject);
    return undefined;
  }

  #text(variables: CelVariables): string {
    const text = this.#message
      .map((part) => (typeof part === "string" ? part : insertedText(part, variables, this.#meter)))
      .join("")
      .replace(/\s*\n\s*/g, " ")
      .trim();
    return shortened(text, LONGEST_MESSAGE);
  }
}

/** An expression without a value stays as written, so that the rest of the message is shown. */
function insertedText(
  { part, compiled: expression }: InsertedPart,
  variables: CelVariables,
  meter: Meter,
): string {
  try {
    return messageText(expression.evaluate(variables, meter));
  } catch {
    return `{{${part.expression}}}`;
  }
}

/** Rules were checked when they were read. */
function compiled(text: string): CompiledExpression {
  const expression = language.compile(text);
  if ("evaluate" in expression) return expression;
  throw new Error(expression.message);
}
