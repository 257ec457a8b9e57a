// Evaluates one rule for the changes of a plan. Pure; the thread that runs it is limited in time and memory.

import { isObject, type Json } from "../core/json.ts";
import { type CompiledExpression, compileExpression, problemOf } from "./language.ts";
import {
  type EvaluationProblem,
  type MessagePart,
  messageText,
  type RuleLogic,
  type RulePart,
  type RuleResult,
  type RuleSubject,
  type RuleSurroundings,
  type Violation,
} from "./rule.ts";

const LONGEST_MESSAGE = 500;

/** Violations of one rule that are reported one by one. */
const MOST_VIOLATIONS = 1_000;

/** Actions that write values, or may write them: the changes that a rule without `when` is about. */
const WRITES = ["create", "update", "replace", "adopt", "compare"];

type Variables = Record<string, unknown>;

/** A change with its values in CEL, where integers are not floating-point numbers. */
interface PreparedSubject {
  readonly kind: string;
  readonly action: string;
  readonly variables: Variables;
}

export function prepareSubject(subject: RuleSubject, surroundings: RuleSurroundings): PreparedSubject {
  const { address, kind, name, change } = subject;
  const { action, cause, before, after } = change;
  const variables = {
    address,
    kind,
    name,
    change: { action, cause, before: celValue(before), after: celValue(after) },
    ...prepareSurroundings(surroundings),
  };
  return { kind, action, variables };
}

export function prepareSurroundings({ plan, target }: RuleSurroundings): Variables {
  return { plan: celValue(plan as unknown as Json), target: celValue(target as unknown as Json) };
}

function celValue(value: Json): unknown {
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, celValue(member)]));
}

/** `once`: the variables of a rule about the plan as a whole. */
export function evaluateRule(
  rule: RuleLogic,
  subjects: readonly PreparedSubject[],
  once: Variables,
): RuleResult {
  const evaluation = new RuleEvaluation(rule);
  const chosen = [...subjects.entries()].filter(
    ([, { kind }]) => rule.kinds === undefined || rule.kinds.includes(kind),
  );
  if (rule.scope === "plan") {
    if (rule.kinds === undefined || chosen.length > 0) evaluation.evaluate(once, undefined);
    return evaluation.result;
  }
  for (const [at, { action, variables }] of chosen)
    if (rule.when !== undefined || WRITES.includes(action)) evaluation.evaluate(variables, at);
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

  constructor({ when, assert, message = [] }: RuleLogic) {
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
      ...(this.#further.length === 0 ? {} : { further: this.#further }),
      ...(problem === undefined ? {} : { problem: { ...problem, subjects: this.#withoutValue } }),
    };
  }

  evaluate(variables: Variables, subject: number | undefined): void {
    if (this.#when !== undefined && this.#isTrue("when", this.#when, variables, subject) !== true) return;
    if (this.#isTrue("assert", this.#assert, variables, subject) !== false) return;
    if (subject !== undefined && this.#violations.length >= MOST_VIOLATIONS) {
      this.#further.push(subject);
      return;
    }
    const message = this.#text(variables);
    this.#violations.push({
      ...(subject === undefined ? {} : { subject }),
      ...(message === "" ? {} : { message }),
    });
  }

  /** Undefined if the expression has no value, or one that is neither true nor false. */
  #isTrue(
    part: RulePart,
    expression: CompiledExpression,
    variables: Variables,
    subject: number | undefined,
  ): boolean | undefined {
    let offset = 0;
    let message: string;
    try {
      const value = expression.evaluate(variables);
      if (typeof value === "boolean") return value;
      message = `the value must be true or false, not ${messageText(value).slice(0, 100)}`;
    } catch (problem) {
      const { start, message: told } = problemOf(problem);
      offset = start;
      message = told;
    }
    this.#problem ??= { part, offset, message, subjects: [] };
    if (subject !== undefined) this.#withoutValue.push(subject);
    return undefined;
  }

  #text(variables: Variables): string {
    const text = this.#message
      .map((one) => (typeof one === "string" ? one : insertedText(one, variables)))
      .join("")
      .replace(/\s*\n\s*/g, " ")
      .trim();
    return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
  }
}

/** An expression without a value stays as written, so that the rest of the message is shown. */
function insertedText({ part, compiled: expression }: InsertedPart, variables: Variables): string {
  try {
    return messageText(expression.evaluate(variables));
  } catch {
    return `{{${part.expression}}}`;
  }
}

/** Rules were checked when they were read. */
function compiled(text: string): CompiledExpression {
  const made = compileExpression(text);
  if ("evaluate" in made) return made;
  throw new Error(made.message);
}
