// Values of expressions: trees in template form, where `${` in a string is a reference and `$${` a literal.

import { isObject, type Json } from "../../core/json.ts";
import { escaped, isEvaluated, isTemplate, literalOf, templateParts } from "../../expressions/template.ts";
import type { Span } from "../model/source.ts";
import {
  isNull,
  listAt,
  type MapMember,
  mapAt,
  type SpecNode,
  scalarAt,
  withItems,
  withValues,
} from "../model/tree.ts";

/** Data in template form: text that looks like a reference is literal. */
export function escapedTree(node: SpecNode): SpecNode {
  if (node.kind === "scalar")
    return typeof node.value === "string" && node.value.includes("${")
      ? scalarAt(node, escaped(node.value))
      : node;
  return node.kind === "list" ? withItems(node, escapedTree) : withValues(node, escapedTree);
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

/** Data that a function made, as a tree at the place that uses it. */
export function treeOfData(value: Json, at: Span): SpecNode {
  if (Array.isArray(value))
    return listAt(
      at,
      value.map((one) => treeOfData(one, at)),
    );
  if (isObject(value)) {
    const members = new Map<string, MapMember>();
    for (const [key, one] of Object.entries(value)) members.set(key, { key: at, value: treeOfData(one, at) });
    return mapAt(at, members);
  }
  return scalarAt(at, typeof value === "string" ? escaped(value) : (value as Exclude<Json, object>));
}

/** The template form of a scalar inside a longer text; undefined for a list, a map, and null. */
export function textInside(node: SpecNode): string | undefined {
  if (node.kind !== "scalar" || isNull(node)) return undefined;
  return String(node.value);
}

/** Calls `visit` for every list, map, and scalar. */
export function visitNodes(node: SpecNode, visit: (node: SpecNode) => void): void {
  visit(node);
  if (node.kind === "list") for (const item of node.items) visitNodes(item, visit);
  else if (node.kind === "map") for (const { value } of node.members.values()) visitNodes(value, visit);
}

export function visitTexts(node: SpecNode, visit: (text: string) => void): void {
  visitNodes(node, (one) => {
    if (one.kind === "scalar" && typeof one.value === "string") visit(one.value);
  });
}

/** Whether a tree contains an expression without a value, which was reported where it is evaluated. */
export function lacksValue(node: SpecNode): boolean {
  let lacks = false;
  visitTexts(node, (text) => {
    lacks ||= isTemplate(text) && templateParts(text)?.some(isEvaluated) !== false;
  });
  return lacks;
}
