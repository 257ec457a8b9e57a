// Interpolates expressions such as `${var.name}` in values and keys; references to resources stay.

import {
  type Expression,
  escaped,
  isEvaluated,
  isTemplate,
  literalOf,
  type TemplatePart,
  templateParts,
} from "../../expressions/template.ts";
import type { Findings } from "../model/findings.ts";
import { type ExpansionBudget, LIMITS } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import {
  describeNode,
  hasSensitive,
  listAt,
  type MapMember,
  type MapNode,
  mapAt,
  type ScalarNode,
  SHOWN_EVERYWHERE,
  type SpecNode,
  scalarAt,
  withItems,
  withValues,
} from "../model/tree.ts";
import type { Evaluator, ValueScope } from "./evaluator.ts";
import { textInside } from "./node-values.ts";

export interface ExpanderOptions {
  readonly scope: ValueScope;
  readonly evaluator: Evaluator;
  readonly budget: ExpansionBudget;
  readonly findings: Findings;
  /** Checks a reference, and turns one of a module into one of the spec. */
  readonly bind: ((expression: string, at: Span) => string) | undefined;
}

/** The parts of a string. A `${` without an end is reported. */
export function partsOrReport(
  text: string,
  at: Span,
  findings: Findings,
): readonly TemplatePart[] | undefined {
  const parts = templateParts(text);
  if (parts === undefined)
    findings.error("SPEC_REFERENCE", "a ${ is never closed", at, { hint: "for a literal ${, write $${" });
  return parts;
}

function isNested(part: TemplatePart): part is Expression {
  return typeof part !== "string" && !isEvaluated(part) && isTemplate(part.expression);
}

/** Expands trees in one scope. Parts without expressions are not copied. */
export class Expander {
  readonly #options: ExpanderOptions;

  constructor(options: ExpanderOptions) {
    this.#options = options;
  }

  map(node: MapNode): MapNode {
    for (const key of node.members.keys()) if (isTemplate(key)) return this.#withKeys(node);
    return withValues(node, (value) => this.node(value));
  }

  /** A map of which a key may contain expressions: two keys may become one. */
  #withKeys(node: MapNode): MapNode {
    const members = new Map<string, MapMember>();
    let changed = false;
    for (const [key, mapMember] of node.members) {
      const name = isTemplate(key) ? this.#key(key, mapMember.key) : key;
      const value = this.node(mapMember.value);
      if (name !== key || value !== mapMember.value) changed = true;
      if (members.has(name)) {
        const message = `duplicate key ${JSON.stringify(name)} after variables are resolved`;
        this.#options.findings.error("SPEC_DUPLICATE_KEY", message, mapMember.key);
      } else members.set(name, value === mapMember.value ? mapMember : { key: mapMember.key, value });
    }
    return changed ? mapAt(node, members) : node;
  }

  node(node: SpecNode): SpecNode {
    if (node.kind === "map") return this.map(node);
    if (node.kind === "list") return withItems(node, (item) => this.node(item));
    return typeof node.value === "string" && isTemplate(node.value) ? this.#text(node, node.value) : node;
  }

  #text(node: ScalarNode, text: string): SpecNode {
    const parts = partsOrReport(text, node, this.#options.findings);
    if (parts?.some((part) => this.#concerns(part)) !== true) return node;
    const [only, ...more] = parts;
    if (only === undefined || typeof only === "string" || more.length > 0 || !isEvaluated(only))
      return this.#string(node, parts);
    const value = this.#evaluated(only, node);
    // A missing value was reported. The string is kept, to avoid further errors.
    return value === undefined ? node : this.#placed(value, node, 0, NAMED.test(only.expression));
  }

  /** A string with the place of its reference, if it has one, which comes from an expression. */
  #string(node: ScalarNode, parts: readonly TemplatePart[]): ScalarNode {
    const values: SpecNode[] = [];
    const text = { ...scalarAt(node, this.#joined(parts, node, true, values)), computedFrom: values };
    const joined = values.some(hasSensitive) ? { ...text, sensitive: true as const } : text;
    const [only, ...more] = values.filter(refers);
    const isOnly = parts.every((part) => typeof part === "string" || isEvaluated(part));
    if (only === undefined || more.length > 0 || !isOnly) return joined;
    return { ...joined, written: only.written ?? only };
  }

  #concerns(part: TemplatePart): boolean {
    return (
      typeof part !== "string" && (isEvaluated(part) || isNested(part) || this.#options.bind !== undefined)
    );
  }

  #evaluated(part: Expression, at: Span): SpecNode | undefined {
    return this.#options.evaluator.evaluate(part, this.#options.scope, at);
  }

  #key(key: string, at: Span): string {
    const { findings } = this.#options;
    const parts = partsOrReport(key, at, findings);
    if (parts === undefined) return key;
    if (!parts.every((part) => typeof part === "string" || isEvaluated(part))) {
      findings.error("SPEC_REFERENCE", `a key cannot contain a reference: ${JSON.stringify(key)}`, at, {
        hint: "keys may contain only variables, as ${var.name}; for a literal ${, write $${",
      });
      return key;
    }
    const values: SpecNode[] = [];
    const name = this.#joined(parts, at, false, values);
    if (values.some(hasSensitive)) {
      this.#options.findings.error("SPEC_SENSITIVE", "a key cannot contain a sensitive value", at, {
        hint: SHOWN_EVERYWHERE,
      });
      return key;
    }
    if (name === "__proto__") findings.error("SPEC_YAML", "the key __proto__ cannot be used", at);
    return name;
  }

  /** `${kind.a-${var.b}.attribute}` with its expressions put in; one may make up a name and nothing else. */
  #reference(part: Expression, at: Span): string {
    const parts = partsOrReport(part.expression, at, this.#options.findings) ?? [];
    const [first, last] = [parts[0], parts.at(-1)];
    const isName =
      typeof first === "string" && first.includes(".") && typeof last === "string" && last.includes(".");
    const isPlain = parts.every((part) => typeof part === "string" || isEvaluated(part));
    if (!isName || !isPlain)
      return this.#refused(`${part.raw} must contain only variables in a name`, part, at);
    // A missing value was reported.
    if (parts.some((part) => typeof part !== "string" && this.#evaluated(part, at) === undefined))
      return escaped(part.raw);
    const values: SpecNode[] = [];
    const text = this.#joined(parts, at, false, values);
    if (values.some(hasSensitive)) {
      this.#options.findings.error("SPEC_SENSITIVE", `${part.raw} cannot contain a sensitive value`, at, {
        hint: SHOWN_EVERYWHERE,
      });
      return escaped(part.raw);
    }
    if (!/[{}]/.test(text)) return `\${${this.#bound(text, at)}}`;
    return this.#refused(`${part.raw} is not a valid name after its variables are resolved`, part, at);
  }

  #bound(expression: string, at: Span): string {
    return this.#options.bind?.(expression, at) ?? expression;
  }

  #refused(message: string, part: Expression, at: Span): string {
    const hint =
      "write ${kind.name.attribute}; the name may contain variables, as in ${kind.a-${var.b}.attribute}";
    this.#options.findings.error("SPEC_REFERENCE", message, at, { hint });
    return escaped(part.raw);
  }

  /** `traced`: each value keeps the place where it is written, and not only references. */
  #placed(value: SpecNode, at: Span, depth: number, traced: boolean): SpecNode {
    const characters = value.kind === "scalar" && typeof value.value === "string" ? value.value.length : 0;
    if (depth > LIMITS.depth || !this.#options.budget.take(1, characters)) return this.#tooMuch(at);
    const sensitive = value.sensitive === true ? ({ sensitive: true } as const) : {};
    const copied = { ...this.#copied(value, at, depth, traced), ...sensitive, copiedFrom: value };
    return traced || refers(value) ? { ...copied, written: value.written ?? value } : copied;
  }

  #copied(value: SpecNode, at: Span, depth: number, traced: boolean): SpecNode {
    if (value.kind === "scalar") return scalarAt(at, value.value);
    const inner = (node: SpecNode): SpecNode => this.#placed(node, at, depth + 1, traced);
    if (value.kind === "list") return listAt(at, value.items.map(inner));
    const members = new Map<string, MapMember>();
    for (const [key, mapMember] of value.members)
      members.set(key, { key: at, value: inner(mapMember.value) });
    return mapAt(at, members);
  }

  /** The parts as one string; with `keep`, as a template with its references and escapes. */
  #joined(parts: readonly TemplatePart[], at: Span, keep: boolean, values: SpecNode[] = []): string {
    let text = "";
    for (const part of parts) text += this.#partText(part, at, keep, values);
    if (this.#options.budget.take(0, text.length)) return text;
    this.#tooMuch(at);
    return "";
  }

  /** Adds the values of expressions to `values`. */
  #partText(part: TemplatePart, at: Span, keep: boolean, values: SpecNode[]): string {
    if (typeof part === "string") return keep ? escaped(part) : part;
    if (!isEvaluated(part)) {
      if (keep && isNested(part)) return this.#reference(part, at);
      return keep && this.#options.bind !== undefined ? `\${${this.#bound(part.expression, at)}}` : part.raw;
    }
    const value = this.#evaluated(part, at);
    if (value === undefined) return part.raw;
    values.push(value);
    const inside = textInside(value);
    const text = inside === undefined || keep ? inside : literalOf(inside);
    if (text !== undefined) return text;
    const { findings } = this.#options;
    if (inside === undefined) {
      const problem = `is ${describeNode(value)} and cannot be part of a string`;
      findings.error("SPEC_VARIABLE", `${named(part)} ${problem}`, at);
    } else
      findings.error("SPEC_REFERENCE", `${part.raw} is a reference, which a key or name cannot contain`, at);
    return part.raw;
  }

  #tooMuch(at: Span): SpecNode {
    this.#options.findings.error("SPEC_TOO_LARGE", "expanded variables exceed the size limit", at);
    return scalarAt(at, "");
  }
}

/** Expressions whose value is written for them alone; that of a variable may come from outside the spec. */
const NAMED = /^(?:local|modules|input|each\.value)\.[\w./-]+$/;

/** Such values keep the place where they are written. */
const refers = (value: SpecNode): boolean =>
  value.kind === "scalar" && typeof value.value === "string" && isTemplate(value.value);

/** `the variable env` of `${var.env}`; other expressions unchanged. */
function named({ expression, raw }: Expression): string {
  const variable = /^var\.([\w-]+)$/.exec(expression)?.[1];
  return variable === undefined ? raw : `the variable ${variable}`;
}

export function checkSyntax(node: SpecNode | undefined, evaluator: Evaluator, findings: Findings): void {
  const check = (text: string, at: Span): void => {
    if (!isTemplate(text)) return;
    for (const part of partsOrReport(text, at, findings) ?? []) {
      if (typeof part === "string") continue;
      if (isEvaluated(part)) evaluator.checkSyntax(part, at);
      else check(part.expression, at);
    }
  };
  const visit = (part: SpecNode): void => {
    if (part.kind === "list") for (const item of part.items) visit(item);
    else if (part.kind === "scalar") check(typeof part.value === "string" ? part.value : "", part);
    else
      for (const [name, { key, value }] of part.members) {
        check(name, key);
        visit(value);
      }
  };
  if (node !== undefined) visit(node);
}
