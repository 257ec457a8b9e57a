// Puts the values of variables in the place of `${var.name}`, in values and in keys; everything else in braces stays.

import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import {
  type Expression,
  escaped,
  isTemplate,
  type TemplatePart,
  templateParts,
  variableIn,
} from "../model/template.ts";
import {
  listAt,
  type MapMember,
  type MapNode,
  mapAt,
  type ScalarNode,
  type SpecNode,
  scalarAt,
  whatIs,
} from "../model/tree.ts";
import type { VariableLookup } from "./declarations.ts";

/** The tree with its variables expanded. Parts without variables are kept as they are, not copied. */
export function interpolate(root: MapNode, lookup: VariableLookup, findings: Findings): MapNode {
  return new Expanding(lookup, findings).map(root);
}

/** The parts of a text; a `${` that is never closed is reported. */
export function partsOrReport(
  text: string,
  at: Span,
  findings: Findings,
): readonly TemplatePart[] | undefined {
  const parts = templateParts(text);
  if (parts === undefined)
    findings.error("SPEC_REFERENCE", "a ${ is never closed", at, { hint: "write $${ for a literal ${" });
  return parts;
}

function isNested(part: TemplatePart): part is Expression {
  return typeof part !== "string" && variableIn(part) === undefined && isTemplate(part.expression);
}

class Expanding {
  readonly #lookup: VariableLookup;
  readonly #findings: Findings;
  /** What variables may still add: a small spec must not unfold into a large one. */
  #nodes: number = LIMITS.repeated;
  #characters: number = LIMITS.expandedText;

  constructor(lookup: VariableLookup, findings: Findings) {
    this.#lookup = lookup;
    this.#findings = findings;
  }

  map(node: MapNode): MapNode {
    for (const key of node.members.keys()) if (isTemplate(key)) return this.#withKeys(node);
    let changes: Map<string, MapMember> | undefined;
    for (const [key, one] of node.members) {
      const value = this.#node(one.value);
      if (value === one.value) continue;
      changes ??= new Map(node.members);
      changes.set(key, { key: one.key, value });
    }
    return changes === undefined ? node : mapAt(node, changes);
  }

  /** A map of which a key may hold variables: two keys may become one. */
  #withKeys(node: MapNode): MapNode {
    const members = new Map<string, MapMember>();
    let changed = false;
    for (const [key, one] of node.members) {
      const name = isTemplate(key) ? this.#key(key, one.key) : key;
      const value = this.#node(one.value);
      if (name !== key || value !== one.value) changed = true;
      if (members.has(name)) this.#twice(name, one.key);
      else members.set(name, value === one.value ? one : { key: one.key, value });
    }
    return changed ? mapAt(node, members) : node;
  }

  #node(node: SpecNode): SpecNode {
    if (node.kind === "map") return this.map(node);
    if (node.kind === "list") {
      const items = node.items.map((item) => this.#node(item));
      return items.some((item, at) => item !== node.items[at]) ? listAt(node, items) : node;
    }
    return typeof node.value === "string" && isTemplate(node.value) ? this.#text(node, node.value) : node;
  }

  #text(node: ScalarNode, text: string): SpecNode {
    const parts = partsOrReport(text, node, this.#findings);
    if (parts?.some((part) => variableIn(part) !== undefined || isNested(part)) !== true) return node;
    const [only, ...more] = parts;
    const name = only === undefined || more.length > 0 ? undefined : variableIn(only);
    if (name === undefined) return scalarAt(node, this.#joined(parts, node, true));
    const value = this.#lookup(name, node);
    // What has no value was reported; the text stays, so that nothing else is said of it.
    return value === undefined ? node : this.#placed(value, node);
  }

  #key(key: string, at: Span): string {
    const parts = partsOrReport(key, at, this.#findings);
    if (parts === undefined) return key;
    if (parts.every((part) => typeof part === "string" || variableIn(part) !== undefined))
      return this.#joined(parts, at, false);
    this.#findings.error("SPEC_REFERENCE", `a key cannot hold a reference: ${JSON.stringify(key)}`, at, {
      hint: "keys may hold variables only, as ${var.name}; write $${ for a literal ${",
    });
    return key;
  }

  /** `${kind.a-${var.b}.attribute}` with its variables put in; a variable may make up a name and nothing else. */
  #reference(part: Expression, at: Span): string {
    const parts = partsOrReport(part.expression, at, this.#findings) ?? [];
    const [first, last] = [parts[0], parts.at(-1)];
    const isName =
      typeof first === "string" && first.includes(".") && typeof last === "string" && last.includes(".");
    const isPlain = parts.every((one) => typeof one === "string" || variableIn(one) !== undefined);
    if (!isName || !isPlain)
      return this.#refused(`${part.raw} holds more than a variable in a name`, part, at);
    // What has no value is reported by the look.
    if (parts.some((one) => this.#hasNoValue(variableIn(one), at))) return escaped(part.raw);
    const text = this.#joined(parts, at, false);
    if (!/[{}]/.test(text)) return `\${${text}}`;
    return this.#refused(`${part.raw} names what no name can be once its variables are put in`, part, at);
  }

  #hasNoValue(name: string | undefined, at: Span): boolean {
    return name !== undefined && this.#lookup(name, at) === undefined;
  }

  #refused(message: string, part: Expression, at: Span): string {
    const hint =
      "write ${kind.name.attribute}; the name may hold variables, as in ${kind.a-${var.b}.attribute}";
    this.#findings.error("SPEC_REFERENCE", message, at, { hint });
    return escaped(part.raw);
  }

  /** A variable's value is data: what looks like a reference in it is none. */
  #placed(value: SpecNode, at: Span): SpecNode {
    if (--this.#nodes < 0) return this.#tooMuch(at);
    if (value.kind === "scalar") {
      if (typeof value.value !== "string") return scalarAt(at, value.value);
      this.#characters -= value.value.length;
      return this.#characters < 0 ? this.#tooMuch(at) : scalarAt(at, escaped(value.value));
    }
    if (value.kind === "list")
      return listAt(
        at,
        value.items.map((item) => this.#placed(item, at)),
      );
    const members = new Map<string, MapMember>();
    for (const [key, one] of value.members) members.set(key, { key: at, value: this.#placed(one.value, at) });
    return mapAt(at, members);
  }

  /** The parts as one text; with `keep`, as a text that is still a template: references in it, literals escaped. */
  #joined(parts: readonly TemplatePart[], at: Span, keep: boolean): string {
    let text = "";
    for (const part of parts) text += this.#partText(part, at, keep);
    this.#characters -= text.length;
    if (this.#characters >= 0) return text;
    this.#tooMuch(at);
    return "";
  }

  #partText(part: TemplatePart, at: Span, keep: boolean): string {
    if (typeof part === "string") return keep ? escaped(part) : part;
    if (keep && isNested(part)) return this.#reference(part, at);
    const name = variableIn(part);
    const value = name === undefined ? undefined : this.#lookup(name, at);
    if (value === undefined) return part.raw;
    if (value.kind === "scalar" && value.value !== null)
      return keep ? escaped(String(value.value)) : String(value.value);
    const message = `the variable ${name} is ${whatIs(value)} and cannot stand inside a text`;
    this.#findings.error("SPEC_VARIABLE", message, at);
    return part.raw;
  }

  #twice(name: string, at: Span): void {
    const message = `the key ${JSON.stringify(name)} stands twice once variables are put in`;
    this.#findings.error("SPEC_DUPLICATE_KEY", message, at);
  }

  #tooMuch(at: Span): SpecNode {
    this.#findings.error("SPEC_TOO_LARGE", "variables unfold into too much", at);
    return scalarAt(at, "");
  }
}
