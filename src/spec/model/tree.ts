// The values of a spec as a tree of scalars, lists, and maps, in which every node has its span in a file.

import type { Json } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { Span } from "./source.ts";

export type ScalarValue = string | number | bigint | boolean | null;

export interface ValueSpan extends Span {
  /** Where the value, or a reference in it, is written, if it comes from an expression here. */
  readonly written?: Span;
  /** The value that an expression here, which is only a path, takes from elsewhere. */
  readonly copiedFrom?: SpecNode;
  /** The values that another expression here reads; an expression without any has an empty list. */
  readonly computedFrom?: readonly SpecNode[];
  /** The value was computed from a sensitive one; in a list or map, its length or keys were. */
  readonly sensitive?: true;
}

export interface ScalarNode extends ValueSpan {
  readonly kind: "scalar";
  readonly value: ScalarValue;
}

interface ListNode extends ValueSpan {
  readonly kind: "list";
  readonly items: readonly SpecNode[];
}

export interface MapNode extends ValueSpan {
  readonly kind: "map";
  readonly members: ReadonlyMap<string, MapMember>;
}

export type SpecNode = ScalarNode | ListNode | MapNode;

export interface MapMember {
  readonly key: Span;
  readonly value: SpecNode;
}

/** A node at a place. In place of a sensitive node of the same kind, it is sensitive as well. */
export function scalarAt(span: Span | ScalarNode, value: ScalarValue): ScalarNode {
  const node: ScalarNode = { kind: "scalar", value, source: span.source, start: span.start, end: span.end };
  return isSensitive(span, "scalar") ? { ...node, sensitive: true } : node;
}

export function listAt(span: Span | ListNode, items: readonly SpecNode[]): ListNode {
  const node: ListNode = { kind: "list", items, source: span.source, start: span.start, end: span.end };
  return isSensitive(span, "list") ? { ...node, sensitive: true } : node;
}

export function mapAt(span: Span | MapNode, members: ReadonlyMap<string, MapMember>): MapNode {
  const node: MapNode = { kind: "map", members, source: span.source, start: span.start, end: span.end };
  return isSensitive(span, "map") ? { ...node, sensitive: true } : node;
}

function isSensitive(span: Span | SpecNode, kind: SpecNode["kind"]): boolean {
  return "kind" in span && span.kind === kind && span.sensitive === true;
}

/** The value with a mark on itself and on everything in it. */
export function asSensitive(node: SpecNode): SpecNode {
  const marked = withInner(node, asSensitive);
  return marked.sensitive === true ? marked : { ...marked, sensitive: true };
}

/** Why a sensitive value can decide no key, name, path, or address. */
export const SHOWN_EVERYWHERE =
  "keys, names, paths, and addresses are shown in every output; use a value that is not sensitive";

/** Whether the value, or anything in it, was computed from a sensitive one. */
export function hasSensitive(node: SpecNode): boolean {
  if (node.sensitive === true) return true;
  if (node.kind === "scalar") return false;
  if (node.kind === "list") return node.items.some(hasSensitive);
  for (const { value } of node.members.values()) if (hasSensitive(value)) return true;
  return false;
}

/** The list with each item changed; the same list if none is. */
export function withItems(node: ListNode, change: (item: SpecNode, at: number) => SpecNode): ListNode {
  const items = node.items.map(change);
  return items.some((item, at) => item !== node.items[at]) ? listAt(node, items) : node;
}

/** The map with each value changed; the same map if none is. */
export function withValues(node: MapNode, change: (value: SpecNode, key: string) => SpecNode): MapNode {
  let changes: Map<string, MapMember> | undefined;
  for (const [key, mapMember] of node.members) {
    const value = change(mapMember.value, key);
    if (value === mapMember.value) continue;
    changes ??= new Map(node.members);
    changes.set(key, { key: mapMember.key, value });
  }
  return changes === undefined ? node : mapAt(node, changes);
}

/** The list or map with each item or value changed; a scalar is unchanged. */
export function withInner(node: SpecNode, change: (inner: SpecNode) => SpecNode): SpecNode {
  if (node.kind === "scalar") return node;
  return node.kind === "list" ? withItems(node, change) : withValues(node, change);
}

/** Calls `visit` for every list, map, and scalar. */
export function visitNodes(node: SpecNode, visit: (node: SpecNode) => void): void {
  visit(node);
  if (node.kind === "list") for (const item of node.items) visitNodes(item, visit);
  else if (node.kind === "map") for (const { value } of node.members.values()) visitNodes(value, visit);
}

export function visitTexts(node: SpecNode, visit: (text: string, node: ScalarNode) => void): void {
  visitNodes(node, (part) => {
    if (part.kind === "scalar" && typeof part.value === "string") visit(part.value, part);
  });
}

/** The members of a map; none of anything else. */
export function memberEntries(node: SpecNode | undefined): readonly (readonly [name: string, MapMember])[] {
  return node?.kind === "map" ? [...node.members] : [];
}

export function member(node: SpecNode | undefined, key: string): SpecNode | undefined {
  return node?.kind === "map" ? node.members.get(key)?.value : undefined;
}

export const isFlag = (node: SpecNode): boolean => node.kind === "scalar" && typeof node.value === "boolean";

/** The text of a scalar that is text. */
export function scalarText(node: SpecNode | undefined): string | undefined {
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : undefined;
}

export function isNull(node: SpecNode): boolean {
  return node.kind === "scalar" && node.value === null;
}

/** The value as data; `scalar` changes the scalars. */
export function plain(node: SpecNode, scalar: (value: ScalarValue) => ScalarValue = (value) => value): Json {
  switch (node.kind) {
    case "scalar":
      return scalar(node.value);
    case "list":
      return node.items.map((item) => plain(item, scalar));
    case "map": {
      const out: { [key: string]: Json } = {};
      for (const [key, { value }] of node.members) out[key] = plain(value, scalar);
      return out;
    }
    default:
      return node satisfies never;
  }
}

/** A scalar for a validator, which knows no bigint: a number of about the same size is within the same limits. */
export const withoutBigint = (value: ScalarValue): ScalarValue =>
  typeof value === "bigint" ? Number(value) : value;

/** The place of the value at a path, or of the nearest ancestor. */
export function spanOf(root: SpecNode, path: Path): ValueSpan {
  let node = root;
  for (const key of path) {
    const next = node.kind === "list" ? node.items[Number(key)] : member(node, String(key));
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

/** The place of the key that a path ends in; of its value where the parent is a list. */
export function keySpanOf(root: SpecNode, path: Path): ValueSpan {
  const parent = nodeAt(root, path.slice(0, -1));
  const last = path.at(-1);
  const key =
    parent?.kind === "map" && last !== undefined ? parent.members.get(String(last))?.key : undefined;
  return key ?? spanOf(root, path);
}

export function nodeAt(root: SpecNode, path: Path): SpecNode | undefined {
  let node: SpecNode | undefined = root;
  for (const key of path) node = node?.kind === "list" ? node.items[Number(key)] : member(node, String(key));
  return node;
}

/** A copy of a map with some members set; undefined removes a member. */
export function withMembers(
  node: MapNode,
  changes: Readonly<Record<string, MapMember | undefined>>,
): MapNode {
  const members = new Map(node.members);
  for (const [key, change] of Object.entries(changes)) {
    if (change === undefined) members.delete(key);
    else members.set(key, change);
  }
  return mapAt(node, members);
}

export function describeNode(node: SpecNode): string {
  if (node.sensitive === true) return "a sensitive value";
  if (node.kind === "list") return "a list";
  if (node.kind === "map") return "a map";
  return describeScalar(node.value);
}

function describeScalar(value: ScalarValue): string {
  switch (typeof value) {
    case "string":
      return "a string";
    case "boolean":
      return String(value);
    case "object":
      return "null";
    default:
      return `the number ${value}`;
  }
}
