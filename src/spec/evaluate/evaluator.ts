// Evaluates the paths and CEL expressions of a spec in a scope. A problem is reported inside the expression, and the result is undefined.

import { ownMember } from "../../core/json.ts";
import { listed, shortened } from "../../core/sentences.ts";
import { didYouMean } from "../../core/suggest.ts";
import { FUNCTION_FORMS, FUNCTION_NAMES, OTHER_NAMES } from "../../expressions/functions.ts";
import {
  type CelLanguage,
  type CelVariables,
  type CompiledExpression,
  type ExpressionProblem,
  LimitExceeded,
  type MemberUse,
  Meter,
  problemOf,
  type StepLimits,
  valueLanguage,
} from "../../expressions/language.ts";
import {
  type Expression,
  escapeForms,
  isPathAlone,
  type PathStep,
  ROOTS,
  type Root,
  VAR,
  type ValuePath,
  valuePathOf,
} from "../../expressions/template.ts";
import { type Keys, LazyMap } from "../../expressions/values.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import { placeInText, type Span } from "../model/source.ts";
import { asSensitive, describeNode, type SpecNode, visitTexts } from "../model/tree.ts";
import { nodeOfValue, ReadValues, UnusableValue } from "./node-values.ts";

export interface ResolvedValue {
  readonly node: SpecNode;
  readonly rest: readonly PathStep[];
}

/** A request for the value of a path. `quiet`: a value that does not exist is not reported. */
export interface ScopeQuery extends ValuePath {
  readonly at: Span;
  readonly quiet: boolean;
}

/** Values by name: variables, locals, or inputs. */
export interface NamedValues {
  readonly names: Keys;
  /** Undefined after a report that the value is missing; `quiet`: one that is declared may have none. */
  find(name: string, at: Span, quiet: boolean): SpecNode | undefined;
}

export interface ValueScope {
  find(query: ScopeQuery): ResolvedValue | undefined;
  /** The names that can follow a root, or the start of a path of outputs: `modules.team`. Undefined if the root has no names here. */
  names(root: Root, path: readonly string[]): Keys | undefined;
}

export interface EvaluatorOptions {
  readonly findings: Findings;
  readonly steps: StepLimits;
}

/** The steps to find a value by its name. */
const MEMBER_STEPS = 8;

/** Expressions with mistakes that are reported. */
const MOST_WRONG = 1_000;

export class Evaluator {
  readonly #options: EvaluatorOptions;
  readonly #language: CelLanguage = valueLanguage();
  readonly #meter: Meter;
  /** An expression is often evaluated for many instances of a module. */
  readonly #paths = new Map<string, ValuePath | undefined>();
  #depth = 0;
  #wrong = 0;

  constructor(options: EvaluatorOptions) {
    this.#options = options;
    this.#meter = new Meter(options.steps);
  }

  evaluate(part: Expression, scope: ValueScope, at: Span): SpecNode | undefined {
    if (++this.#depth > LIMITS.evaluations) {
      this.#depth--;
      this.#options.findings.error("SPEC_TOO_LARGE", "expressions depend on each other too deeply", at);
      return undefined;
    }
    try {
      const path = this.#pathOf(part.expression);
      const use = { part, scope, at };
      if (path === undefined) return this.#computed(use);
      // A string that is only a path is marked as a whole.
      const whole = part.raw === part.text ? at : this.#within(use, WHOLE);
      return this.#isDifference(path, use, whole) ? undefined : this.#path(path, use, whole);
    } finally {
      this.#depth--;
    }
  }

  /** Whether the syntax and types are valid; a problem is reported. */
  checkSyntax(part: Expression, at: Span): boolean {
    if (this.#pathOf(part.expression) !== undefined) return true;
    return this.#compiled({ part, at }) !== undefined;
  }

  /** Reports `var.count-1`, which is the name `count-1`, where only `count` is declared. */
  #isDifference({ root, path: [name = ""] }: ValuePath, use: Use, at: Span): boolean {
    const dash = String(name).indexOf("-");
    if (dash < 0 || root === "modules") return false;
    const names = use.scope.names(root, []);
    if (names === undefined || names.has(String(name)) || !names.has(String(name).slice(0, dash)))
      return false;
    this.#reportAt(
      use.part,
      `${root} has no ${JSON.stringify(name)}`,
      at,
      "to subtract, write spaces around -",
    );
    return true;
  }

  #pathOf(text: string): ValuePath | undefined {
    if (!this.#paths.has(text)) this.#paths.set(text, valuePathOf(text));
    return this.#paths.get(text);
  }

  #compiled(use: Partial<Use> & Pick<Use, "part" | "at">): CompiledExpression | undefined {
    const compiled = this.#language.compile(use.part.expression);
    if ("evaluate" in compiled) return compiled;
    this.#wrong += 1;
    this.#report(use, inValueWords(compiled), compiled, this.#hint(use, compiled));
    return undefined;
  }

  #computed(use: Use): SpecNode | undefined {
    // That the steps are spent was reported, and so were many wrong expressions.
    if (this.#meter.isSpent || this.#wrong > MOST_WRONG) return undefined;
    const compiled = this.#compiled(use);
    if (compiled === undefined || !this.#areDeclared(compiled, use)) return undefined;
    const values = new ReadValues(this.#meter);
    try {
      const result = compiled.evaluate(this.#variables(use.scope, use.at, values), this.#meter);
      const node = computedNode(nodeOfValue(result, use.at, this.#meter), use.at, values);
      return values.isSensitive ? this.#sensitive(node, use.part.expression) : node;
    } catch (problem) {
      if (!(problem instanceof UnusableValue)) this.#failed(problem, compiled, values, use);
      return undefined;
    }
  }

  #variables(scope: ValueScope, at: Span, values: ReadValues): CelVariables {
    const variables: Record<string, unknown> = {};
    for (const root of ROOTS) {
      const lazy = this.#members({ root, path: [] }, scope, at, values);
      if (lazy !== undefined) variables[root === "var" ? VAR : root] = lazy;
    }
    return variables;
  }

  /** The values below a root as a map, each found when it is read. */
  #members(
    { root, path }: { readonly root: Root; readonly path: readonly string[] },
    scope: ValueScope,
    at: Span,
    values: ReadValues,
  ): LazyMap | undefined {
    const names = scope.names(root, path);
    if (names === undefined) return undefined;
    return new LazyMap(names, (name) => {
      this.#meter.take(MEMBER_STEPS);
      const inner = [...path, name];
      if (root === "modules") {
        const members = this.#members({ root, path: inner }, scope, at, values);
        if (members !== undefined) return members;
      }
      const [first = "", ...rest] = inner;
      // `modules.team.ads.pool_id` in CEL is `modules.team/ads.pool_id` as a path.
      const steps = rest.length > 1 ? [`${first}/${rest[0]}`, ...rest.slice(1)] : inner;
      const node = scope.find({ root, path: steps, at, quiet: true })?.node;
      return node === undefined ? undefined : values.read(node);
    });
  }

  /** Reports a name that is not declared, also where the evaluation would not reach it. */
  #areDeclared({ uses }: CompiledExpression, use: Use): boolean {
    let isValid = true;
    for (const { path, ends, start } of uses) {
      const [first = "", name] = path;
      const root = ROOTS.find((name) => name === first);
      if (root === undefined || name === undefined) continue;
      const names = use.scope.names(root, []);
      if (names?.has(name) === true) continue;
      const steps = root === "modules" && path[2] !== undefined ? path.slice(1, 3) : [name];
      const at = this.#within(use, { start, end: ends[1] ?? start });
      use.scope.find({ root, path: steps, at, quiet: false });
      isValid = false;
    }
    return isValid;
  }

  #sensitive(node: SpecNode, expression: string): SpecNode {
    for (const [, , text = ""] of expression.matchAll(/(["'])((?:(?!\1)[^\\])*)\1/g))
      this.#options.findings.sensitive.addPossibleValue(text);
    const marked = asSensitive(node);
    visitTexts(marked, (text) => {
      if (isPathAlone(text)) return;
      for (const form of escapeForms(text)) this.#options.findings.sensitive.add(form);
    });
    return marked;
  }

  #failed(thrown: unknown, { uses }: CompiledExpression, values: ReadValues, use: Use): void {
    const { findings } = this.#options;
    if (thrown instanceof LimitExceeded) {
      const message = this.#meter.isSpent
        ? "the expressions of the spec take too many steps"
        : thrown.message;
      findings.error("SPEC_TOO_LARGE", message, use.at);
      return;
    }
    const problem = problemOf(thrown);
    if (values.isSensitive) {
      this.#report(
        use,
        "the evaluation failed; details are hidden because it reads a sensitive value",
        problem,
      );
      return;
    }
    if (problem.code === "no_such_key")
      if (this.#reportPath(problem, uses, use) || this.#reportKey(problem, uses, use)) return;
    this.#report(use, inValueWords(problem), problem, this.#hint(use, problem));
  }

  /** Reports a member that does not exist as that of a path; false if it is not part of one. */
  #reportPath(problem: ExpressionProblem, uses: readonly MemberUse[], use: Use): boolean {
    for (const { path, ends, start } of uses) {
      const root = ROOTS.find((name) => name === path[0]);
      const length = ends.indexOf(problem.end) + 1;
      if (root === undefined || length < 2 || problem.start < start) continue;
      const steps = path.slice(1, length);
      const { failed } = this.#options.findings;
      const at = this.#within(use, { start, end: problem.end });
      const node = this.#path({ root, path: steps }, use, at);
      if (node === undefined && (failed || this.#options.findings.failed)) return true;
    }
    return false;
  }

  /** Reports a computed key, as in `local.sizes[var.env]`, with the keys that there are. */
  #reportKey(problem: ExpressionProblem, uses: readonly MemberUse[], use: Use): boolean {
    const owners = uses.filter(({ start, end }) => start === problem.start && end < problem.end);
    const owner = owners.sort((a, b) => b.end - a.end)[0];
    const root = ROOTS.find((name) => name === owner?.path[0]);
    if (owner === undefined || root === undefined) return false;
    const path = owner.path.slice(1);
    const at = this.#within(use, problem);
    const node = this.#path({ root, path }, use, at);
    if (node === undefined) return false;
    this.#noMember({ root, path }, problem.message.replace(/^no such key: /, ""), node, use, at);
    return true;
  }

  #hint(
    { part: { expression: text }, scope }: Partial<Use> & Pick<Use, "part">,
    { code, message, start, end }: ExpressionProblem,
  ): string | undefined {
    const { findings } = this.#options;
    if (code === "unknown_variable") {
      const word = text.slice(start, end);
      const declared = ROOTS.find((root) => root !== "modules" && scope?.names(root, [])?.has(word) === true);
      const hint = `values begin with ${listed(ROOTS, "or")}; for a literal ${"${"}, write ${"$${"}`;
      return declared === undefined
        ? findings.didYouMean(word, ROOTS, hint).hint
        : didYouMean(`${declared}.${word}`).hint;
    }
    const name = /^(?:unknown function "|the operands of )(\w+)/.exec(message)?.[1];
    if (code === "no_matching_overload" && name !== undefined) {
      const form = FUNCTION_FORMS.find((each) => each.includes(`.${name}(`) || each.startsWith(`${name}(`));
      if (form !== undefined) return `write ${form}`;
      return (
        ownMember(OTHER_NAMES, name) ??
        findings.didYouMean(name, FUNCTION_NAMES, "docs/modules.md lists the functions").hint
      );
    }
    if (code === "unexpected_character" || (code === "unexpected_token" && !message.endsWith("incomplete")))
      return "to write a literal ${, write $${";
    if (code === "incompatible_ternary_branches")
      return "to allow both types, write dyn(…) around one of them";
    if (code === "no_such_overload" && /\b(?:int|double)\b/.test(message) && /double/.test(message))
      return "convert one of the numbers with double(…) or int(…)";
    return undefined;
  }

  /** Where a part of an expression is in its file. */
  #within({ part, at }: Pick<Use, "part" | "at">, { start, end }: TextRange): Span {
    const from = part.start + start;
    const length = end > 0 ? end - start : part.expression.length;
    return placeInText(at, part.text, from, from + Math.max(length, 1));
  }

  #path({ root, path }: ValuePath, use: Use, at: Span): SpecNode | undefined {
    const resolvedValue = use.scope.find({ root, path, at, quiet: false });
    let node = resolvedValue?.node;
    let walked = path.slice(0, path.length - (resolvedValue?.rest.length ?? 0));
    for (const step of resolvedValue?.rest ?? []) {
      const inner: SpecNode | undefined = node === undefined ? undefined : memberAt(node, step);
      if (inner === undefined && node !== undefined)
        this.#noMember({ root, path: walked }, step, node, use, at);
      if (inner === undefined) return undefined;
      node = inner;
      walked = [...walked, step];
    }
    return node;
  }

  #noMember({ root, path }: ValuePath, step: PathStep, node: SpecNode, use: Use, at: Span): void {
    const whole = [root, ...path].join(".");
    const keys = node.kind === "map" ? [...node.members.keys()] : [];
    const message =
      node.kind === "scalar"
        ? `${whole} is ${describeNode(node)}, which has no members`
        : `${whole} has no ${typeof step === "number" ? `entry ${step}` : JSON.stringify(step)}`;
    const declared = keys.length === 0 ? undefined : `known members: ${listed(keys)}`;
    const { hint } = this.#options.findings.didYouMean(String(step), keys, declared, "names");
    this.#reportAt(use.part, message, at, hint);
  }

  #report(use: Pick<Use, "part" | "at">, message: string, range: TextRange, hint?: string): void {
    this.#reportAt(use.part, message, this.#within(use, range), hint);
  }

  #reportAt(part: Expression, message: string, at: Span, hint?: string): void {
    const shown = shortened(part.raw, 80);
    this.#options.findings.error("SPEC_EXPRESSION", `${shown}: ${message}`, at, { hint });
  }
}

interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** The whole of an expression. */
const WHOLE: TextRange = { start: 0, end: 0 };

interface Use {
  readonly part: Expression;
  readonly scope: ValueScope;
  readonly at: Span;
}

function memberAt(node: SpecNode, step: PathStep): SpecNode | undefined {
  if (node.kind === "list") return typeof step === "number" ? node.items[step] : undefined;
  return node.kind === "map" ? node.members.get(String(step))?.value : undefined;
}

const inValueWords = ({ message }: ExpressionProblem): string =>
  message.replace(/^unknown variable: (.*)$/, 'unknown value "$1"');

/** A value that the expression chose unchanged keeps its own place. */
function computedNode(node: SpecNode, at: Span, { nodes }: ReadValues): SpecNode {
  const isNew = node.source === at.source && node.start === at.start && node.copiedFrom === undefined;
  return isNew ? { ...node, computedFrom: nodes } : node;
}
