// Evaluates expressions in a scope. A problem is reported where the expression is used, and the result is undefined.

import type { Json } from "../../core/json.ts";
import type { SensitiveTexts } from "../../core/sensitive.ts";
import { count, listed } from "../../core/sentences.ts";
import { didYouMean } from "../../core/suggest.ts";
import type { Expression, Root } from "../../expressions/template.ts";
import type { Reporting } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import type { SourceText, Span } from "../model/source.ts";
import { asSensitive, describeNode, hasSensitive, isNull, type SpecNode } from "../model/tree.ts";
import { FUNCTIONS, FunctionProblem, type PureFunction } from "./functions.ts";
import { dataOf, lacksValue, treeOfData, visitNodes } from "./node-values.ts";
import { type PathStep, parseExpression, type Syntax, type SyntaxPlace, SyntaxProblem } from "./syntax.ts";

export interface FoundValue {
  readonly node: SpecNode;
  readonly rest: readonly PathStep[];
}

/** A request for the value of a path. `quiet`: a value that does not exist is not reported. */
export interface ScopeQuery {
  readonly root: Root;
  readonly path: readonly PathStep[];
  readonly at: Span;
  readonly quiet: boolean;
}

export interface ValueScope {
  find(query: ScopeQuery): FoundValue | undefined;
}

export interface EvaluatorOptions extends Reporting {
  readonly sensitive: SensitiveTexts;
  /** Whether problems of expressions in this source are located inside the expression. Files may write it with escapes. */
  readonly isTyped: ((source: SourceText) => boolean) | undefined;
}

/** The cost of a value, in characters. */
const VALUE = 8;

export class Evaluator {
  readonly #options: EvaluatorOptions;
  /** An expression is often evaluated for many instances of a module. */
  readonly #parsed = new Map<string, Syntax | SyntaxProblem>();
  #depth = 0;
  #characters: number = LIMITS.functionText;

  constructor(options: EvaluatorOptions) {
    this.#options = options;
  }

  evaluate(part: Expression, scope: ValueScope, at: Span): SpecNode | undefined {
    const syntax = this.syntaxOf(part, at);
    if (syntax === undefined) return undefined;
    if (++this.#depth > LIMITS.evaluations) {
      this.#depth--;
      this.#options.findings.error("SPEC_TOO_LARGE", "expressions depend on each other too deeply", at);
      return undefined;
    }
    try {
      return this.#value(syntax, { part, scope, at, whole: at, quiet: false });
    } finally {
      this.#depth--;
    }
  }

  /** Undefined after reporting a syntax error. */
  syntaxOf(part: Expression, at: Span): Syntax | undefined {
    const syntax = this.#syntax(part.expression);
    if (!(syntax instanceof SyntaxProblem)) return syntax;
    const place = this.#within(part, at, syntax.at);
    this.#report(part, syntax.message, place, "the functions and paths are listed in docs/spec.md");
    return undefined;
  }

  #syntax(text: string): Syntax | SyntaxProblem {
    const known = this.#parsed.get(text);
    if (known !== undefined) return known;
    let made: Syntax | SyntaxProblem;
    try {
      made = parseExpression(text);
    } catch (problem) {
      if (!(problem instanceof SyntaxProblem)) throw problem;
      made = problem;
    }
    this.#parsed.set(text, made);
    return made;
  }

  #value(syntax: Syntax, around: Use): SpecNode | undefined {
    if (syntax.type === "literal") return treeOfData(syntax.value, around.at);
    const use = { ...around, at: this.#within(around.part, around.whole, syntax) };
    return syntax.type === "path" ? this.#path(syntax, use) : this.#call(syntax, use);
  }

  #within({ expression }: Expression, whole: Span, { start, end }: SyntaxPlace): Span {
    const { source } = whole;
    if (this.#options.isTyped?.(source) !== true) return whole;
    const offset = Math.max(whole.start, source.text.indexOf(expression, whole.start));
    return { source, start: offset + start, end: offset + end };
  }

  #path({ root, path }: Extract<Syntax, { type: "path" }>, use: Use): SpecNode | undefined {
    const found = use.scope.find({ root, path, at: use.at, quiet: use.quiet });
    let node = found?.node;
    let walked = path.slice(0, path.length - (found?.rest.length ?? 0));
    for (const step of found?.rest ?? []) {
      const inner: SpecNode | undefined = node === undefined ? undefined : memberAt(node, step);
      if (inner === undefined && node !== undefined && !use.quiet)
        this.#noMember(root, walked, step, node, use);
      if (inner === undefined) return undefined;
      node = inner;
      walked = [...walked, step];
    }
    return node;
  }

  #noMember(root: Root, walked: readonly PathStep[], step: PathStep, node: SpecNode, use: Use): void {
    const whole = [root, ...walked].join(".");
    const keys = node.kind === "map" ? [...node.members.keys()] : [];
    const problem =
      node.kind === "scalar"
        ? `${whole} is ${describeNode(node)}, which has no members`
        : `${whole} has no ${typeof step === "number" ? `entry ${step}` : JSON.stringify(step)}`;
    const known = keys.length === 0 ? undefined : `known members: ${listed(keys)}`;
    const { hint } = didYouMean(this.#options.suggest(String(step), keys), known);
    this.#report(use.part, problem, use.at, hint);
  }

  #call({ name, operands }: Extract<Syntax, { type: "call" }>, use: Use): SpecNode | undefined {
    const found = FUNCTIONS.get(name);
    if (found === undefined) {
      const names = [...FUNCTIONS.keys()];
      const known = `the functions are ${listed(names, "and", 20)}`;
      const { hint } = didYouMean(this.#options.suggest(name, names, "words"), known);
      this.#report(use.part, `unknown function ${JSON.stringify(name)}`, use.at, hint);
      return undefined;
    }
    if (operands.length < found.least || operands.length > found.most) {
      const message = `${name} does not take ${count(operands.length, "argument")}`;
      this.#report(use.part, message, use.at, `write ${found.form}`);
      return undefined;
    }
    return name === "default" ? this.#fallback(operands, use) : this.#called(name, found, operands, use);
  }

  #fallback([first, second]: readonly Syntax[], use: Use): SpecNode | undefined {
    const value = first === undefined ? undefined : this.#value(first, { ...use, quiet: true });
    if (value !== undefined && !isNull(value)) return value;
    return second === undefined ? undefined : this.#value(second, use);
  }

  #called(name: string, found: PureFunction, operands: readonly Syntax[], use: Use): SpecNode | undefined {
    const data: Json[] = [];
    const nodes: SpecNode[] = [];
    for (const operand of operands) {
      const node = this.#value(operand, use);
      if (node === undefined) return undefined;
      nodes.push(node);
      this.#charge(node, use.at);
      if (this.#characters < 0) return undefined;
      const value = dataOf(node);
      if (value === undefined) {
        if (lacksValue(node)) return undefined;
        this.#report(use.part, `${name} cannot take a reference, which is unknown until apply`, use.at);
        return undefined;
      }
      data.push(value);
    }
    try {
      const result = treeOfData(found.call(data), use.at);
      this.#charge(result, use.at);
      if (this.#characters < 0) return undefined;
      return nodes.some(hasSensitive) ? this.#sensitive(found, nodes, result) : result;
    } catch (problem) {
      if (!(problem instanceof FunctionProblem)) throw problem;
      this.#report(use.part, problem.message, use.at, `write ${found.form}`);
      return undefined;
    }
  }

  /** A result of sensitive operands. A function that only arranges its operands keeps the marks of each entry. */
  #sensitive({ arrange }: PureFunction, operands: readonly SpecNode[], result: SpecNode): SpecNode {
    const marked = arrange?.(operands, result) ?? asSensitive(result);
    visitNodes(marked, (one) => {
      if (one.sensitive === true && one.kind === "scalar" && typeof one.value === "string")
        this.#options.sensitive.add(one.value);
    });
    return marked;
  }

  /** Charges the budget. An exceeded budget is reported once. */
  #charge(node: SpecNode, at: Span): void {
    if (this.#characters < 0) return;
    visitNodes(node, (one) => {
      this.#characters -= VALUE;
      if (one.kind === "scalar" && typeof one.value === "string") this.#characters -= one.value.length;
    });
    if (this.#characters < 0)
      this.#options.findings.error("SPEC_TOO_LARGE", "functions process too many values", at);
  }

  #report(part: Expression, message: string, at: Span, hint?: string): void {
    const shown = part.raw.length > 80 ? `${part.raw.slice(0, 80)}…` : part.raw;
    this.#options.findings.error("SPEC_EXPRESSION", `${shown}: ${message}`, at, { hint });
  }
}

interface Use {
  readonly part: Expression;
  readonly scope: ValueScope;
  readonly at: Span;
  readonly whole: Span;
  readonly quiet: boolean;
}

function memberAt(node: SpecNode, step: PathStep): SpecNode | undefined {
  if (node.kind === "list") return typeof step === "number" ? node.items[step] : undefined;
  return node.kind === "map" ? node.members.get(String(step))?.value : undefined;
}
