// Applies a JSON Patch (RFC 6902) to a YAML text. Only the text of the values that change is written; comments, order, quotes, and
// indentation of the rest stay, byte for byte.

import jsonPatch, { type Operation } from "fast-json-patch";
import type { Document, Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json } from "../../core/json.ts";
import { type Path, pointerKeys } from "../../core/pointer.ts";
import { yaml } from "../yaml/lexical-limits.ts";
import { blockText, flowText, keyText, styleOf } from "./yaml-values.ts";

/** `path`: a JSON Pointer. An index of a list counts after the operations before it. */
export type YamlOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: Json }
  | { readonly op: "remove"; readonly path: string };

/** The text with the operations applied, one after the other. Throws for a place behind an alias. */
export function patchYaml(text: string, operations: readonly YamlOperation[]): string {
  let patched = text;
  for (const operation of operations) patched = applied(patched, operation);
  return patched;
}

/** The document as data. Integers beyond 2^53 are bigints. */
export function documentData(text: string): Json {
  return (parsed(text).toJS({ maxAliasCount: -1 }) ?? {}) as Json;
}

/** The paths of all nodes by `map:OFFSET`, `list:OFFSET`, and `scalar:OFFSET`, and of the keys of maps by `key:OFFSET`. */
export function documentOffsets(text: string): ReadonlyMap<string, Path> {
  const offsets = new Map<string, Path>();
  const { isMap, isSeq, isScalar } = yaml();
  const kindOf = (node: unknown): string | undefined =>
    isMap(node) ? "map" : isSeq(node) ? "list" : isScalar(node) ? "scalar" : undefined;
  visitNodes(parsed(text).contents, [], (node, path, key) => {
    const kind = kindOf(node);
    if (key?.range) offsets.set(`key:${key.range[0]}`, path);
    if (kind !== undefined && node?.range) offsets.set(`${kind}:${node.range[0]}`, path);
  });
  return offsets;
}

/** Visits a node and the nodes in it, each with its path, and with its key if it is a member of a map. */
function visitNodes(
  node: Node | null,
  path: Path,
  visit: (node: Node | null, path: Path, key?: Scalar) => void,
  key?: Scalar,
): void {
  const kinds = yaml();
  visit(node, path, key);
  if (!kinds.isCollection(node)) return;
  for (const [at, item] of (node.items as readonly (Node | Pair<Scalar, Node | null>)[]).entries())
    if (!kinds.isPair(item)) visitNodes(item, [...path, at], visit);
    else visitNodes(item.value, [...path, String(item.key.value ?? "")], visit, item.key);
}

/** A value with an anchor that aliases of the document repeat. Lines count from 1. */
export interface SharedValue {
  readonly anchor: string;
  readonly path: Path;
  readonly line: number;
  readonly aliases: readonly { readonly path: Path; readonly line: number }[];
}

export function sharedValues(text: string): readonly SharedValue[] {
  if (!text.includes("*") || !text.includes("&")) return [];
  const { isAlias } = yaml();
  const lineOf = (node: Node): number => text.slice(0, node.range?.[0] ?? 0).split("\n").length;
  const shared: { anchor: string; path: Path; line: number; aliases: { path: Path; line: number }[] }[] = [];
  visitNodes(parsed(text).contents, [], (node, path) => {
    if (node === null) return;
    if (isAlias(node))
      shared.findLast(({ anchor }) => anchor === node.source)?.aliases.push({ path, line: lineOf(node) });
    else if ("anchor" in node && node.anchor !== undefined)
      shared.push({ anchor: node.anchor as string, path, line: lineOf(node), aliases: [] });
  });
  return shared.filter(({ aliases }) => aliases.length > 0);
}

/** Whether a value, or a map or list that contains it, has an anchor or an alias: an edit would change another place, too. */
export function isSharedAt(text: string, path: Path): boolean {
  const document = parsed(text);
  return path.some((_, at) => {
    const node: unknown = document.getIn(path.slice(0, at + 1), true);
    return yaml().isAlias(node) || (yaml().isNode(node) && "anchor" in node && node.anchor !== undefined);
  });
}

function parsed(text: string): Document.Parsed {
  return yaml().parseDocument(text, { keepSourceTokens: true, uniqueKeys: false, intAsBigInt: false });
}

function applied(text: string, operation: YamlOperation): string {
  const document = parsed(text);
  const wanted = expected(document, operation);
  const edited = new YamlEdit(text, document).apply(operation);
  const isExpected = edited !== undefined && canonicalJson(comparableData(edited)) === canonicalJson(wanted);
  return isExpected ? edited : rewritten(document, operation);
}

const withoutBigints = (value: Json): Json =>
  JSON.parse(
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === "bigint" ? Number(inner) : inner)),
  );

const comparableData = (text: string): Json => withoutBigints(documentData(text));

function expected(document: Document.Parsed, operation: YamlOperation): Json {
  const before = withoutBigints((document.toJS({ maxAliasCount: -1 }) ?? {}) as Json);
  const plain = withoutBigints(operation as unknown as Json) as unknown as Operation;
  return jsonPatch.applyOperation(before, plain, true).newDocument;
}

/** By the document API of the library, which may also change white space elsewhere. For YAML that the edit does not cover. */
function rewritten(document: Document.Parsed, operation: YamlOperation): string {
  const path = pointerKeys(operation.path);
  if (operation.op === "remove") document.deleteIn(path);
  else if (operation.op === "add" && typeof path.at(-1) === "number") {
    const list = document.getIn(path.slice(0, -1), true) as YAMLSeq;
    list.items.splice(Number(path.at(-1)), 0, document.createNode(operation.value));
  } else document.setIn(path, operation.value);
  return document.toString({ lineWidth: 0 });
}

type Collection = YAMLMap<Node, Node | null> | YAMLSeq<Node>;

/** One operation on a document. Each step returns undefined for a form that it does not cover. */
class YamlEdit {
  readonly #text: string;
  readonly #root: Node | null;
  readonly #kinds = yaml();

  constructor(text: string, document: Document.Parsed) {
    this.#text = text;
    this.#root = document.contents;
  }

  apply(operation: YamlOperation): string | undefined {
    const path = pointerKeys(operation.path);
    const last = path.at(-1);
    const parent = this.#nodeAt(path.slice(0, -1));
    if (last === undefined || parent === undefined) return undefined;
    if (!this.#kinds.isCollection(parent)) return undefined;
    const collection = parent as Collection;
    if (operation.op === "remove") return this.#remove(collection, last);
    const isItem = this.#kinds.isSeq(collection);
    if (operation.op === "replace" || (!isItem && this.#indexOf(collection, last) >= 0))
      return this.#replace(collection, last, operation.value);
    return this.#add(collection, last, operation.value);
  }

  #nodeAt(path: readonly string[]): Node | null | undefined {
    let node: Node | null | undefined = this.#root;
    for (const key of path) {
      if (!this.#kinds.isCollection(node)) return undefined;
      const at = this.#indexOf(node as Collection, key);
      if (at < 0) return undefined;
      node = this.#valueAt(node as Collection, at);
    }
    return node ?? null;
  }

  #indexOf(collection: Collection, key: string): number {
    if (this.#kinds.isSeq(collection)) return Number(key) < collection.items.length ? Number(key) : -1;
    return (collection as YAMLMap<Node, Node | null>).items.findIndex(
      ({ key: node }) => this.#kinds.isScalar(node) && String((node as Scalar).value ?? "") === key,
    );
  }

  #valueAt(collection: Collection, at: number): Node | null {
    const item = collection.items[at];
    return (
      this.#kinds.isPair(item) ? ((item as Pair<Node, Node | null>).value ?? null) : item
    ) as Node | null;
  }

  #keyAt(collection: Collection, at: number): Node | undefined {
    const item = collection.items[at];
    return this.#kinds.isPair(item) ? ((item as Pair<Node, Node | null>).key ?? undefined) : undefined;
  }

  /** Where an item begins: its key or its dash. */
  #startOf(collection: Collection, at: number): number | undefined {
    const key = this.#keyAt(collection, at);
    if (key !== undefined) return key.range?.[0];
    const value = this.#valueAt(collection, at)?.range?.[0];
    if (value === undefined || collection.flow === true) return value;
    const dash = this.#text.lastIndexOf("-", value - 1);
    return /^-(?:\s|#.*\n)*$/.test(this.#text.slice(dash, value)) ? dash : undefined;
  }

  /** Where the text of a value ends, without the comment and the empty lines after it. */
  #endOf(collection: Collection, at: number): number | undefined {
    const value = this.#valueAt(collection, at);
    const isEmpty = value === null || (this.#kinds.isScalar(value) && value.range?.[0] === value.range?.[1]);
    if (isEmpty) {
      const start = this.#keyAt(collection, at)?.range?.[1];
      return start === undefined ? undefined : this.#afterColon(start);
    }
    const inner = this.#kinds.isCollection(value) ? (value as Collection) : undefined;
    if (inner !== undefined && inner.flow !== true && inner.items.length > 0)
      return this.#endOf(inner, inner.items.length - 1);
    const [start, end] = value?.range ?? [];
    if (start === undefined || end === undefined || this.#text[end - 1] !== "\n") return end;
    // A block of text includes its line breaks; only after `|+` do empty lines belong to the value.
    const isWhole = /^[|>]\d?\+/.test(this.#text.slice(start, start + 3));
    let last = end;
    do last -= this.#text[last - 2] === "\r" ? 2 : 1;
    while (!isWhole && this.#text[last - 1] === "\n");
    return last;
  }

  /** The comment behind the head of a block of text, with the space before it. */
  #headComment(start: number, end: number): string {
    return /^[|>][-+\d]*([ \t]+#[^\r\n]*)/.exec(this.#text.slice(start, end))?.[1] ?? "";
  }

  #afterColon(keyEnd: number): number | undefined {
    const colon = this.#text.indexOf(":", keyEnd);
    return colon < 0 ? undefined : colon + 1;
  }

  #lineStart(at: number): number {
    return this.#text.lastIndexOf("\n", at - 1) + 1;
  }

  /** The end of the line, before its line break. */
  #lineEnd(at: number): number {
    const end = this.#text.indexOf("\n", at);
    const line = end < 0 ? this.#text.length : end;
    return this.#text[line - 1] === "\r" && line > at ? line - 1 : line;
  }

  #indentAt(at: number): string {
    return " ".repeat(at - this.#lineStart(at));
  }

  #with(start: number, end: number, text: string): string {
    const lines = this.#text.includes("\r\n") ? text.replaceAll(/\r?\n/g, "\r\n") : text;
    return this.#text.slice(0, start) + lines + this.#text.slice(end);
  }

  #replace(collection: Collection, key: string, value: Json): string | undefined {
    const at = this.#indexOf(collection, key);
    const old = this.#valueAt(collection, at);
    const start = this.#startOf(collection, at);
    const end = this.#endOf(collection, at);
    if (at < 0 || start === undefined || end === undefined) return undefined;
    const style = styleOf(old, collection.flow === true);
    const [from, to] = old?.range ?? [end, end];
    if (collection.flow === true)
      return from === to
        ? this.#with(end, end, ` ${flowText(value, style)}`)
        : this.#with(from, end, flowText(value, style));
    const keyNode = this.#keyAt(collection, at);
    const asBlock = from === to && isObject(value) && Object.keys(value).length > 0;
    const text =
      asBlock && keyNode !== undefined
        ? blockLines(value, this.#indentAt(start))
        : blockText(value, this.#indentAt(start), style, keyNode === undefined);
    const head = keyNode === undefined ? start + 1 : this.#afterColon(keyNode.range?.[1] ?? start);
    if (head === undefined) return undefined;
    const isSameLine = !this.#text.slice(head, Math.max(head, from)).includes("\n");
    const isInline = this.#kinds.isScalar(old) || isSameLine;
    const comment = this.#kinds.isScalar(old) ? this.#headComment(from, to) : "";
    // The text between a key and its value stays, such as an anchor or a comment.
    if (from < to && isInline && !text.startsWith("\n"))
      return this.#with(
        from,
        end,
        text.slice(1).replace(/\n|$/, (lineEnd) => comment + lineEnd),
      );
    const rest = this.#lineEnd(head);
    if (!text.startsWith("\n"))
      return from < to
        ? this.#with(head, end, `${text}${this.#text.slice(head, rest)}`)
        : this.#with(head, head, text);
    const before =
      from < to && isSameLine
        ? `${comment}${this.#text.slice(end, this.#lineEnd(end))}`
        : this.#text.slice(head, rest);
    return this.#with(
      head,
      Math.max(rest, from < to ? this.#lineEnd(end) : rest),
      `${before.trimEnd()}${text}`,
    );
  }

  #add(collection: Collection, key: string, value: Json): string | undefined {
    const { items } = collection;
    const isSeq = this.#kinds.isSeq(collection);
    if (items.length === 0) return this.#addFirst(collection, key, value, isSeq);
    const at = isSeq ? Number(key === "-" ? items.length : key) : items.length;
    if (collection.flow === true) {
      const text = isSeq
        ? flowText(value, { inFlow: true })
        : `${keyText(key)}: ${flowText(value, { inFlow: true })}`;
      return at < items.length
        ? this.#addBeforeInFlow(this.#startOf(collection, at), text)
        : this.#addLastInFlow(collection, at - 1, text);
    }
    const first = this.#startOf(collection, 0);
    if (first === undefined) return undefined;
    const indent = this.#indentAt(first);
    const text = isSeq
      ? `-${blockText(value, indent, {}, true)}`
      : `${keyText(key)}:${blockText(value, indent, {})}`;
    if (at < items.length) {
      const next = this.#startOf(collection, at);
      if (next === undefined) return undefined;
      // The comment of the next item stays directly above it.
      const above = this.#withComment(next) + indent.length;
      return this.#with(above, above, `${text}\n${indent}`);
    }
    const end = this.#endOf(collection, at - 1);
    if (end === undefined) return undefined;
    const line = this.#lineEnd(end);
    return this.#with(line, line, `\n${indent}${text}`);
  }

  /** The lines of comments above the next item stay with it. */
  #addBeforeInFlow(next: number | undefined, text: string): string | undefined {
    if (next === undefined) return undefined;
    const above = this.#withComment(next);
    return above < this.#lineStart(next)
      ? this.#with(above, above, `${this.#indentAt(next)}${text},\n`)
      : this.#with(next, next, `${text}, `);
  }

  /** The comment behind the last item stays with it. */
  #addLastInFlow(collection: Collection, last: number, text: string): string | undefined {
    const start = this.#startOf(collection, last);
    const end = this.#endOf(collection, last);
    if (start === undefined || end === undefined) return undefined;
    const [rest, comma = "", comment] = /^(?:[ \t]*(,))?([ \t]*#[^\r\n]*)/.exec(this.#text.slice(end)) ?? [];
    if (rest === undefined) return this.#with(end, end, `, ${text}`);
    const line = this.#lineStart(start);
    const isFirstLine = line <= (collection.range?.[0] ?? 0);
    const indent = `${/^ */.exec(this.#text.slice(line, start))?.[0] ?? ""}${isFirstLine ? "  " : ""}`;
    return this.#with(end, end + rest.length, `,${comment}\n${indent}${text}${comma}`);
  }

  /** Into `{}` or `[]`, or an empty document. */
  #addFirst(collection: Collection, key: string, value: Json, isSeq: boolean): string | undefined {
    const [from, to] = collection.range ?? [0, 0];
    const whole: Json = isSeq ? [value] : { [key]: value };
    return from < to ? this.#with(from, to, flowText(whole, { inFlow: true })) : undefined;
  }

  #remove(collection: Collection, key: string): string | undefined {
    const at = this.#indexOf(collection, key);
    const start = this.#startOf(collection, at);
    const end = this.#endOf(collection, at);
    if (at < 0 || start === undefined || end === undefined) return undefined;
    const isFlow = collection.flow === true;
    if (collection.items.length === 1) return this.#emptied(collection, start, end, isFlow);
    if (isFlow) return this.#removeInFlow(collection, at, start, end);
    const isFirstOnLine = /^\s*$/.test(this.#text.slice(this.#lineStart(start), start));
    if (!isFirstOnLine) {
      const next = this.#startOf(collection, at + 1);
      return next === undefined ? undefined : this.#with(start, next, "");
    }
    const line = this.#text.indexOf("\n", this.#withCommentsIn(start, end));
    const from = this.#withComment(start);
    // The last line may have no line break; the one before it then ends the text.
    return line < 0
      ? this.#with(Math.max(0, from - 1), this.#text.length, "")
      : this.#with(from, line + 1, "");
  }

  /** With its comma and its comments; comments of the others stay. */
  #removeInFlow(collection: Collection, at: number, start: number, end: number): string | undefined {
    const next = this.#startOf(collection, at + 1);
    const before = this.#endOf(collection, at - 1);
    // The text before and after the item on its line, if that has no other item.
    const lead = /^[ \t]*,?[ \t]*$/.exec(this.#text.slice(this.#lineStart(start), start))?.[0];
    const tail = /^[ \t]*,?[ \t]*(?:#.*)?\r?\n/.exec(this.#text.slice(end))?.[0];
    const hasComma = lead?.includes(",") === true || /^[ \t]*,/.test(this.#text.slice(end));
    const from = lead === undefined ? start : this.#withComment(start);
    if (next !== undefined) {
      if (lead !== undefined && tail !== undefined && hasComma)
        return this.#with(from, end + tail.length, "");
      const isNextDescribed = this.#text.slice(end + (tail ?? "").length, next).includes("#");
      if (tail === undefined || !hasComma || !isNextDescribed) return this.#with(start, next, "");
      return this.#with(this.#text.slice(0, start).trimEnd().length, this.#lineEnd(end), "");
    }
    if (before === undefined) return undefined;
    const gap = this.#text.slice(before, from);
    if (tail === undefined && !gap.includes("#")) return this.#with(before, end, "");
    const kept = hasComma ? gap : gap.replace(/^((?:\s|#.*\n)*),/, "$1");
    const rest = this.#text.slice(end + (tail ?? "").length);
    const head = `${this.#text.slice(0, before)}${kept}`;
    if (tail !== undefined) return `${head}${rest}`;
    return `${head}${(lead ?? "").replace(",", "")}${rest.replace(/^[ \t]*,?[ \t]*/, "")}`;
  }

  #emptied(collection: Collection, start: number, end: number, isFlow: boolean): string | undefined {
    const empty = this.#kinds.isSeq(collection) ? "[]" : "{}";
    if (isFlow) {
      const [from, to] = collection.range ?? [0, 0];
      return from < to ? this.#with(from, to, empty) : undefined;
    }
    const isFirstOnLine = /^\s*$/.test(this.#text.slice(this.#lineStart(start), start));
    const above = this.#text.slice(0, this.#withComment(start)).trimEnd();
    // The key, with its comment.
    const [, key] = /^(.*?:)(?:[ \t]+#.*)?$/.exec(above.slice(above.lastIndexOf("\n") + 1)) ?? [];
    if (!isFirstOnLine || key === undefined) return this.#with(start, end, empty);
    const colon = above.lastIndexOf("\n") + 1 + key.length;
    return this.#with(colon, this.#withCommentsIn(start, end), ` ${empty}${above.slice(colon)}`);
  }

  /** The end of an item on lines, with the comments after it that are indented as a part of it. */
  #withCommentsIn(start: number, end: number): number {
    const inner = `${this.#indentAt(start)} `;
    let last = this.#lineEnd(end);
    for (let at = last; ; ) {
      const line = this.#text.indexOf("\n", at) + 1;
      if (line === 0) return last;
      at = this.#lineEnd(line);
      const text = this.#text.slice(line, at);
      const isComment = text.startsWith(inner) && text.trimStart().startsWith("#");
      if (isComment) last = at;
      else if (text.trim() !== "") return last;
    }
  }

  /** The start of the lines of comments directly above an item, which describe it. */
  #withComment(start: number): number {
    const indent = this.#indentAt(start);
    let from = this.#lineStart(start);
    while (from > 0) {
      const above = this.#lineStart(from - 1);
      const line = this.#text.slice(above, from - 1);
      if (!line.startsWith(`${indent}#`)) return from;
      from = above;
    }
    return from;
  }
}

/** A map on the lines below its key. */
function blockLines(value: Json, indent: string): string {
  const inner = `${indent}  `;
  return Object.entries(value as object)
    .map(([key, member]) => `\n${inner}${keyText(key)}:${blockText(member as Json, inner, {})}`)
    .join("");
}
