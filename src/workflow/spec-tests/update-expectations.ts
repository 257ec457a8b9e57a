// Writes expectations into a test file, and keeps its comments and blank lines.

import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
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

/** An expectation to rewrite: its path in the test file, and what was found. */
export interface ExpectationEdit {
  readonly path: Path;
  readonly value: Json;
}

/** Throws Failure if an expectation has an anchor or an alias, because the change would reach other places. */
export function updatedText({ file, text }: SpecTestFile, edits: readonly ExpectationEdit[]): string {
  const document = parseDocument(text, { intAsBigInt: false, uniqueKeys: false });
  for (const { path, value } of edits) {
    if (usesAlias(document, path))
      throw failureOf(
        "CLI_FILE",
        `${file}: the expectation at ${path.join(".")} has an anchor or an alias, so it is not updated`,
        { hint: "write the expectation out" },
      );
    setValue(document, path, value);
  }
  keepStyle(document);
  return document.toString({ lineWidth: 0, indentSeq: indentsLists(text), flowCollectionPadding: true });
}

function usesAlias(document: Document, path: Path): boolean {
  return path.some((_, at) => {
    const node: unknown = document.getIn(path.slice(0, at + 1), true);
    return isAlias(node) || (isNode(node) && "anchor" in node && node.anchor !== undefined);
  });
}

/** Changes only members that differ, so that comments on other members are kept. */
function setValue(document: Document, path: Path, value: Json): void {
  const node: unknown = document.getIn(path, true);
  if (isObject(value) && isMap(node) && node.items.length > 0) {
    for (const { key } of [...node.items]) {
      const name = isScalar(key) ? String(key.value) : String(key);
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
  if ((isMap(made) || isSeq(made)) && made.items.length === 0) made.flow = true;
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

/** Whether lists are indented below their keys. */
function indentsLists(text: string): boolean {
  return !/^( *)[^\s#-][^\n]*:[ \t]*\n(?:[ \t]*(?:#[^\n]*)?\n)*\1- /m.test(text);
}
