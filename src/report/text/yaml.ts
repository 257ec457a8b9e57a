// Prints data as YAML for people to edit: comments above keys, short maps on one line, no invisible characters.

import { Document, isMap, isPair, isScalar, isSeq, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import type { Json, JsonObject, YamlMember } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import { hidesSomething, printable, printableQuoted } from "./printable.ts";

/** A map or list takes one line when it fits into this many characters. */
const WIDTH = 100;

/** A comment behind the value at a path. With comments each value has a line. */
export type CommentAt = (path: Path) => string | undefined;

/** An empty line separates sections. `head` is the first comment. */
export function yamlText(
  sections: readonly YamlMember[],
  head: readonly string[],
  commentAt?: CommentAt,
): string {
  const document = new Document();
  const root = mapOf(sections);
  root.flow = false;
  for (const [at, { key, value }] of root.items.entries()) {
    if (at > 0 && isScalar(key)) key.spaceBefore = true;
    if (isMap(value) && value.items.length > 0) value.flow = false;
  }
  document.contents = root;
  if (commentAt !== undefined) addComments(root, [], commentAt);
  const comments = head.map((line) => `# ${printable(line)}\n`).join("");
  if (sections.length === 0) return `${comments}{}\n`;
  const text = document.toString({ lineWidth: 0, blockQuote: false, doubleQuotedAsJSON: true });
  return `${comments}${comments === "" ? "" : "\n"}${printableQuoted(text)}`;
}

function addComments(node: unknown, path: Path, commentAt: CommentAt): void {
  if ((isMap(node) || isSeq(node)) && node.items.length > 0) {
    node.flow = false;
    for (const [at, item] of node.items.entries())
      if (isPair<Scalar, Scalar>(item)) addComments(item.value, [...path, String(item.key.value)], commentAt);
      else addComments(item, [...path, at], commentAt);
    return;
  }
  const comment = commentAt(path);
  if (comment !== undefined && (isScalar(node) || isMap(node) || isSeq(node)))
    node.comment = ` ${printable(comment)}`;
}

export function yamlValue(value: Json): string {
  const document = new Document();
  document.contents = nodeOf(value);
  return printableQuoted(document.toString({ lineWidth: 0, blockQuote: false, doubleQuotedAsJSON: true }));
}

type StringifyArguments = Parameters<YAMLMap["toString"]>;

/** `{ a: 1 }` with spaces and `[a, b]` without, as people write them. */
class RoomyMap extends YAMLMap {
  override toString(...[on, ...rest]: StringifyArguments): string {
    return super.toString(on === undefined ? on : { ...on, flowCollectionPadding: " " }, ...rest);
  }
}

class TightList extends YAMLSeq {
  override toString(...[on, ...rest]: StringifyArguments): string {
    return super.toString(on === undefined ? on : { ...on, flowCollectionPadding: "" }, ...rest);
  }
}

function mapOf(members: readonly YamlMember[]): YAMLMap {
  const map = new RoomyMap();
  for (const member of members) {
    const { key, above } = member;
    const name = scalarOf(key);
    if (above !== undefined && above.length > 0)
      name.commentBefore = above.map((line) => ` ${printable(line)}`).join("\n");
    map.items.push(new Pair(name, "members" in member ? mapOf(member.members) : nodeOf(member.value)));
  }
  map.flow = members.every(({ above }) => above === undefined) && fits(map);
  return map;
}

function nodeOf(value: Json): Scalar | YAMLMap | YAMLSeq {
  if (Array.isArray(value)) return seqOf(value);
  if (typeof value !== "object" || value === null) return scalarOf(value);
  const map = new RoomyMap();
  for (const [key, entry] of Object.entries(value as JsonObject))
    map.items.push(new Pair(scalarOf(key), nodeOf(entry)));
  map.flow = fits(map);
  return map;
}

function seqOf(items: readonly Json[]): YAMLSeq {
  const seq = new TightList();
  for (const item of items) seq.items.push(nodeOf(item));
  seq.flow = fits(seq);
  return seq;
}

/** Quotes text in which something is hidden, or that a CI service could take for a command. The key `<<` would merge maps. */
function scalarOf(value: Json): Scalar {
  const scalar = new Scalar(value);
  if (typeof value === "string" && (value === "<<" || hidesSomething(value)))
    scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}

function fits(node: YAMLMap | YAMLSeq): boolean {
  const length = lengthOf(node);
  return length !== undefined && length <= WIDTH;
}

/** About as long as the node is in one line; undefined where something in it takes several. */
function lengthOf(node: unknown): number | undefined {
  if (isPair(node)) return sum([node.key, node.value]);
  if (isScalar(node)) return String(node.value).length + 2;
  if (isMap(node) || isSeq(node))
    return node.items.length > 0 && node.flow !== true && node.flow !== undefined
      ? undefined
      : sum(node.items);
  return undefined;
}

function sum(nodes: readonly unknown[]): number | undefined {
  let total = 2;
  for (const node of nodes) {
    const length = lengthOf(node);
    if (length === undefined) return undefined;
    total += length + 2;
  }
  return total;
}
