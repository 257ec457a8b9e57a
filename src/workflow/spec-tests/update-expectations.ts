// Writes expectations into a test file: only the text of what differs changes.

import {
  Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  visit,
  YAMLMap,
  YAMLSeq,
} from "yaml";
import { canonicalJson } from "../../core/canonical.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { isObject, type Json } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { SpecTestFile } from "../../spec/testing/spec-test.ts";

export interface ExpectationEdit {
  readonly path: Path;
  readonly value: Json;
}

interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Throws Failure if an expectation has an anchor or an alias, because the change would reach other places. */
export function updatedText({ file, text }: SpecTestFile, edits: readonly ExpectationEdit[]): string {
  const document = parseDocument(text, { intAsBigInt: true, uniqueKeys: false });
  visit(document, { Pair: (_, { key }) => nameOfKey(key) });
  const replacements = edits.flatMap(({ path, value }) => {
    if (usesAlias(document, path))
      throw failureOf(
        "CLI_FILE",
        `${file}: the expectation at ${path.join(".")} has an anchor or an alias, so it is not updated`,
        { hint: "write the expectation out" },
      );
    return differences(document, path, value).map((one) => replaced(document, text, one));
  });
  let updated = text;
  for (const { start, end, text: made } of replacements.toSorted((a, b) => b.start - a.start))
    updated = `${updated.slice(0, start)}${made}${updated.slice(end)}`;
  return updated;
}

function usesAlias(document: Document, path: Path): boolean {
  return path.some((_, at) => {
    const node: unknown = document.getIn(path.slice(0, at + 1), true);
    return isAlias(node) || (isNode(node) && "anchor" in node && node.anchor !== undefined);
  });
}

/** The members that differ, if a map keeps its keys, or else the whole value. */
function differences(document: Document, path: Path, value: Json): readonly ExpectationEdit[] {
  const node: unknown = document.getIn(path, true);
  if (isNode(node) && canonicalJson(node.toJS(document) as Json) === canonicalJson(value)) return [];
  if (!isMap(node) || !isObject(value) || node.items.length === 0) return [{ path, value }];
  const keys = node.items.map(({ key }) => keyText(key));
  const hasSameKeys =
    keys.length === Object.keys(value).length && keys.every((key) => Object.hasOwn(value, key));
  return hasSameKeys
    ? keys.flatMap((key) => differences(document, [...path, key], value[key] ?? null))
    : [{ path, value }];
}

/** Paths have strings for keys such as `1` and `true`. */
function nameOfKey(key: unknown): void {
  if (isScalar(key)) key.value = keyText(key);
}

const keyText = (key: unknown): string => (isScalar(key) ? String(key.value) : String(key));

function replaced(document: Document, text: string, { path, value }: ExpectationEdit): Replacement {
  const parent = document.getIn(path.slice(0, -1), true) as YAMLMap<Node, Node | null>;
  const name = String(path.at(-1));
  const pair = parent.items.find(({ key }) => keyText(key) === name) as Pair<Node, Node | null>;
  const { key, value: before } = pair;
  const [keyStart = 0, keyEnd = 0] = key.range ?? [];
  const line = text.slice(text.lastIndexOf("\n", keyStart - 1) + 1, keyStart);
  // A key may be written as `? key`.
  const start = keyStart - (/\?[ \t]+$/.exec(line)?.[0].length ?? 0);
  const end = Math.max(keyEnd, before?.range?.[1] ?? 0);
  const written = text.slice(start, end).trimEnd();
  const column = start - (text.lastIndexOf("\n", start - 1) + 1);
  const inner = before?.range?.[0] ?? 0;
  const step = inner - (text.lastIndexOf("\n", inner - 1) + 1) - column;
  const isFlow = isCollection(before) && before.flow === true;
  // Comments before the key and after the value are not a part of what is replaced.
  key.commentBefore = null;
  key.spaceBefore = false;
  if (before !== null) before.comment = null;
  setValue(document, path, value);
  if ((isFlow || parent.flow === true) && isCollection(pair.value)) pair.value.flow = true;
  return {
    start,
    end: start + written.length,
    text: printed(pair, {
      indent: isCollection(before) && !isFlow && step > 0 ? step : 2,
      indentSeq: indentsLists(text),
      flow: parent.flow === true,
    }).replaceAll("\n", `${/\r?\n/.exec(text)?.[0] ?? "\n"}${" ".repeat(column)}`),
  };
}

const isCollection = (node: unknown): node is YAMLMap | YAMLSeq => isMap(node) || isSeq(node);

interface PairStyle {
  readonly indent: number;
  readonly indentSeq: boolean;
  /** Inside `{ }`, more strings need quotes. */
  readonly flow: boolean;
}

function printed(pair: Pair, { flow, ...style }: PairStyle): string {
  const alone = new Document(undefined, { intAsBigInt: true });
  const map = new YAMLMap();
  map.items.push(pair);
  map.flow = flow;
  alone.contents = map as unknown as typeof alone.contents;
  keepStyle(alone);
  const text = alone.toString({ lineWidth: 0, flowCollectionPadding: true, ...style }).replace(/\n$/, "");
  return flow ? text.slice(1, -1).trim() : text;
}

/** Changes only members that differ, so that comments on other members are kept. */
function setValue(document: Document, path: Path, value: Json): void {
  const node: unknown = document.getIn(path, true);
  if (isObject(value) && isMap(node) && node.items.length > 0) {
    for (const { key } of [...node.items]) {
      const name = keyText(key);
      if (!(name in value)) node.delete(key);
    }
    for (const [key, member] of Object.entries(value)) setValue(document, [...path, key], member);
    if (node.items.length === 0) node.flow = true;
    return;
  }
  if (isScalar(node) && !Array.isArray(value) && !isObject(value)) {
    if (canonicalJson(node.value as Json) !== canonicalJson(value)) node.value = value;
    return;
  }
  if (isSeq(node) && canonicalJson(node.toJS(document) as Json) === canonicalJson(value)) return;
  const made = document.createNode(value);
  if (isCollection(made) && made.items.length === 0) made.flow = true;
  document.setIn(path, made);
}

/** Lists in one line stay `[a, b]`, and maps `{ a: 1 }`, also inside one another. */
function keepStyle(document: Document): void {
  visit(document, {
    Seq: (_, node) => padded(node, YAMLSeq.prototype.toString, ""),
    Map: (_, node) => padded(node, YAMLMap.prototype.toString, " "),
  });
}

function padded(node: YAMLSeq | YAMLMap, print: YAMLMap["toString"], padding: string): void {
  if (node.flow !== true) return;
  node.toString = (context, ...rest) =>
    print.call(
      node as YAMLMap,
      context === undefined ? context : { ...context, flowCollectionPadding: padding },
      ...rest,
    );
}

function indentsLists(text: string): boolean {
  return !/^( *)[^\s#-][^\n]*:[ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*\1- /m.test(text);
}
