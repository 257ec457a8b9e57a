// The expressions of rules: CEL (Common Expression Language), parsed, type-checked, and ready to be evaluated.

import { Environment } from "@marcbachmann/cel-js";
import { RE2JS } from "re2js";
import { thrownText } from "../core/diagnostic.ts";
import { RULE_VARIABLES } from "./rule.ts";

const LONGEST_PATTERN = 500;
const LONGEST_TEXT = 100_000;
const MOST_KEPT = 100;

const compiled = new Map<string, RE2JS>();

/** Throws an Error for a pattern that is invalid or too long. */
function compileRegex(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > LONGEST_PATTERN)
    throw new Error(`a regular expression has at most ${LONGEST_PATTERN} characters`);
  const made = RE2JS.compile(pattern);
  if (compiled.size >= MOST_KEPT) compiled.clear();
  compiled.set(pattern, made);
  return made;
}

function matchesLinearly(text: string, pattern: string): boolean {
  if (text.length > LONGEST_TEXT) throw new Error(`matches takes at most ${LONGEST_TEXT} characters`);
  return compileRegex(pattern).matcher(text).find();
}

export interface ExpressionProblem {
  readonly code: string;
  readonly message: string;
  readonly start: number;
  readonly end: number;
}

/** A member that an expression reads: `change`, `after`, `custom_tags`. Positions are those of the last name. */
export interface MemberUse {
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
}

export interface CompiledExpression {
  /** The type of its value: `bool`, `string`, `dyn`. */
  readonly type: string;
  /** Variables and their members, in the order of the text. */
  readonly uses: readonly MemberUse[];
  /** Throws the library's errors. */
  readonly evaluate: (variables: Record<string, unknown>) => unknown;
}

const LONGEST_EXPRESSION = 5_000;

/** `matches` of the library backtracks, so expressions call this function instead. */
const LINEAR_MATCHES = "linearMatches";

const environment = makeEnvironment();

function makeEnvironment(): Environment {
  const made = new Environment({
    enableOptionalTypes: true,
    homogeneousAggregateLiterals: false,
    limits: { maxAstNodes: 2_000, maxDepth: 100, maxListElements: 500, maxMapEntries: 100 },
  });
  for (const [name, members] of Object.entries(RULE_VARIABLES)) {
    if (members === null) made.registerVariable(name, "string");
    else made.registerVariable({ name, schema: members as never });
  }
  return made.registerFunction(`string.${LINEAR_MATCHES}(string): bool`, matchesLinearly);
}

export function compileExpression(text: string): CompiledExpression | ExpressionProblem {
  if (text.length > LONGEST_EXPRESSION) {
    const message = `the expression has more than ${LONGEST_EXPRESSION} characters`;
    return { code: "too_long", message, start: 0, end: 0 };
  }
  try {
    const parsed = environment.parse(text);
    const uses = prepare(parsed.ast);
    const checked = parsed.check();
    if (!checked.valid) return problemOf(checked.error);
    return { type: checked.type ?? "dyn", uses, evaluate: (variables) => parsed(variables) };
  } catch (problem) {
    return problemOf(problem);
  }
}

/** A thrown value of the library as plain data, in words of a rule. */
export function problemOf(problem: unknown): ExpressionProblem {
  const { code, summary, message, range } = problem as {
    readonly code?: unknown;
    readonly summary?: unknown;
    readonly message?: unknown;
    readonly range?: { readonly start: number; readonly end: number };
  };
  const told = String(summary ?? message ?? problem);
  return {
    code: typeof code === "string" ? code : "",
    message: inOurWords(told),
    start: range?.start ?? 0,
    end: range?.end ?? 0,
  };
}

function inOurWords(text: string): string {
  const words = text
    .replaceAll(LINEAR_MATCHES, "matches")
    .replace(/\$([a-z]+)(\.[a-z]+)*/g, "map")
    .replace(/^(unexpected token: EOF|expected [A-Z]+, got EOF)$/i, "the expression is incomplete")
    .replace(/'/g, '"')
    .slice(0, 300);
  return /^[A-Z][a-z]/.test(words) ? `${words[0]?.toLowerCase()}${words.slice(1)}` : words;
}

interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly start?: number;
  readonly end?: number;
}

/** Replaces the calls of `matches`, checks literal patterns, and collects what the expression reads. */
function prepare(root: unknown): readonly MemberUse[] {
  const uses: MemberUse[] = [];
  const seen = new Set<object>();
  const inner = new Set<object>();
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== "object" || seen.has(value)) return;
    seen.add(value);
    if (isNode(value)) {
      makeLinear(value);
      const use = inner.has(value) ? undefined : useOf(value, inner);
      if (use !== undefined) uses.push(use);
    }
    for (const one of Object.values(value)) visit(one);
  };
  visit(root);
  return uses.sort((a, b) => a.start - b.start);
}

function isNode(value: object): value is Node {
  return typeof (value as { op?: unknown }).op === "string";
}

function makeLinear(node: Node): void {
  const call = node.args;
  if (node.op !== "rcall" || !Array.isArray(call) || call[0] !== "matches") return;
  call[0] = LINEAR_MATCHES;
  const [pattern] = call[2] as readonly Node[];
  if (pattern?.op !== "value" || typeof pattern.args !== "string") return;
  try {
    compileRegex(pattern.args);
  } catch (problem) {
    const message = `the regular expression is invalid: ${thrownText(problem)}`;
    throw Object.assign(new Error(message), { range: { start: pattern.start, end: pattern.end } });
  }
}

/** The names of `change.after.tags["team"]`; nodes inside it are not uses of their own. */
function useOf(node: Node, inner: Set<object>): MemberUse | undefined {
  const path: string[] = [];
  const within: Node[] = [];
  let at: Node = node;
  while (at.op !== "id") {
    const args = at.args;
    if (!Array.isArray(args) || ![".", ".?", "[]", "[?]"].includes(at.op)) return undefined;
    const [object, key] = args as unknown as readonly [Node, unknown];
    const name = typeof key === "string" ? key : literalKey(key);
    if (name === undefined) return undefined;
    path.unshift(name);
    within.push(object);
    at = object;
  }
  path.unshift(String(at.args));
  for (const one of within) inner.add(one);
  return { path, start: node.start ?? 0, end: node.end ?? 0 };
}

function literalKey(key: unknown): string | undefined {
  const { op, args } = (key ?? {}) as Partial<Node>;
  return op === "value" && typeof args === "string" ? args : undefined;
}
