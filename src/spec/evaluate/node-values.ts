// Trees of a spec as values of expressions, and back. Trees are in template form: `${` in a string is a reference and `$${` a literal.

import type { Json } from "../../core/json.ts";
import { MergedMap } from "../../expressions/functions.ts";
import type { Meter } from "../../expressions/language.ts";
import { escaped, isEvaluated, isTemplate, literalOf, templateParts } from "../../expressions/template.ts";
import { describeValue, entriesOf, integer, LazyMap, UnknownValue } from "../../expressions/values.ts";
import { LIMITS } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import {
  isNull,
  listAt,
  type MapMember,
  mapAt,
  member,
  type SpecNode,
  scalarAt,
  visitTexts,
  withInner,
} from "../model/tree.ts";

/** Data in template form: text that looks like a reference is literal. */
export function escapedTree(node: SpecNode): SpecNode {
  if (node.kind === "scalar")
    return typeof node.value === "string" && node.value.includes("${")
      ? scalarAt(node, escaped(node.value))
      : node;
  return withInner(node, escapedTree);
}

/** Template form as data; undefined if it contains a reference, which is unknown until apply. */
export function dataOf(node: SpecNode): Json | undefined {
  if (node.kind === "scalar") return typeof node.value === "string" ? literalOf(node.value) : node.value;
  if (node.kind === "list") {
    const items = node.items.map(dataOf);
    return items.includes(undefined) ? undefined : (items as Json[]);
  }
  const out: { [key: string]: Json } = {};
  for (const [key, { value }] of node.members) {
    const data = dataOf(value);
    if (data === undefined) return undefined;
    out[key] = data;
  }
  return out;
}

/** Thrown for a value whose problem was reported where it is written. */
export class UnusableValue extends Error {}

/** The most places in a message. */
const MOST_NODES = 8;

/** The values that one evaluation reads. */
export class ReadValues {
  readonly #meter: Meter;
  readonly #nodes: SpecNode[] = [];
  #isSensitive = false;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Whether a value that was read, or the keys or the length of one, came from a sensitive value. */
  get isSensitive(): boolean {
    return this.#isSensitive;
  }

  /** Scalars that were read: the first of them, for messages. */
  get nodes(): readonly SpecNode[] {
    return this.#nodes;
  }

  /** A tree as a value of CEL. Members of maps are read when the expression needs them. */
  read(node: SpecNode): unknown {
    this.#meter.take(1);
    if (node.sensitive === true) this.#isSensitive = true;
    if (node.kind === "list") {
      this.#meter.take(node.items.length);
      return node.items.map((item) => this.read(item));
    }
    if (node.kind === "map")
      return new LazyMap(
        node.members,
        (name) => {
          const value = node.members.get(name)?.value;
          return value === undefined ? undefined : this.read(value);
        },
        node,
      );
    if (this.#nodes.length < MOST_NODES) this.#nodes.push(node);
    const { value } = node;
    if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value;
    if (typeof value !== "string") return value;
    const literal = literalOf(value);
    if (literal !== undefined) return literal;
    if (lacksValue(node)) throw new UnusableValue();
    return new UnknownValue(node);
  }
}

/** A node of a tree takes more memory than the value that it is made from. */
const NODE_STEPS = 8;

/** A value of CEL as a tree at the place that uses it. Throws an Error for a value that a spec cannot contain. */
export function nodeOfValue(value: unknown, at: Span, meter: Meter, depth = 0): SpecNode {
  meter.take(NODE_STEPS);
  if (depth > LIMITS.depth) throw new Error(`the value has more than ${LIMITS.depth} levels`);
  if (value instanceof UnknownValue) return value.origin as SpecNode;
  if (value === null || typeof value === "boolean") return scalarAt(at, value);
  if (typeof value === "string") return scalarAt(at, escaped(value));
  if (typeof value === "bigint") {
    if (BigInt.asIntN(64, value) !== value) throw new Error("the integer has more than 64 bits");
    return scalarAt(at, integer(value));
  }
  if (typeof value === "number" && Number.isFinite(value)) return scalarAt(at, value);
  if (Array.isArray(value))
    return listAt(
      at,
      value.map((item) => nodeOfValue(item, at, meter, depth + 1)),
    );
  if (value instanceof LazyMap && value.origin !== undefined) return value.origin as SpecNode;
  const members = new Map<string, MapMember>();
  const add = (key: string, node: SpecNode): void => {
    if (key === "__proto__") throw new Error("the key __proto__ cannot be used");
    members.set(key, { key: at, value: node });
  };
  if (value instanceof MergedMap)
    for (const name of value.keys()) add(name, mergedMember(value, name, at, meter, depth));
  else {
    const entries = entriesOf(value);
    if (entries === undefined)
      throw new Error(`the value is ${describeValue(value)}, which a spec cannot contain`);
    for (const [key, entry] of entries) add(keyText(key), nodeOfValue(entry, at, meter, depth + 1));
  }
  return mapAt(at, members);
}

function keyText(key: unknown): string {
  if (typeof key === "string" || typeof key === "bigint" || typeof key === "boolean") return String(key);
  throw new Error(`a key of a map must be a string, not ${describeValue(key)}`);
}

/** A member of maps of the spec is not read, so a sensitive one makes only itself sensitive. */
function mergedMember(merged: MergedMap, name: string, at: Span, meter: Meter, depth: number): SpecNode {
  const part = merged.partWith(name);
  if (part instanceof MergedMap) return mergedMember(part, name, at, meter, depth);
  const written = part instanceof LazyMap ? member(part.origin as SpecNode | undefined, name) : undefined;
  return written ?? nodeOfValue(part.get(name), at, meter, depth + 1);
}

/** The template form of a scalar inside a longer text; undefined for a list, a map, and null. */
export function textInside(node: SpecNode): string | undefined {
  if (node.kind !== "scalar" || isNull(node)) return undefined;
  return String(node.value);
}

/** Whether a tree contains an expression without a value, which was reported where it is evaluated. */
function lacksValue(node: SpecNode): boolean {
  let lacks = false;
  visitTexts(node, (text) => {
    lacks ||= isTemplate(text) && templateParts(text)?.some(isEvaluated) !== false;
  });
  return lacks;
}
