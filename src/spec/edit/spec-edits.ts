// Edits of the files of a spec: finds the place in a document at which a value of the spec is written, and collects what changes there as a JSON Patch (RFC 6902).

import { diffArrays } from "diff";
import type { Code } from "../../core/codes.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json } from "../../core/json.ts";
import {
  isAtOrBelow,
  isSamePath,
  type Path,
  setMember,
  toDottedPath,
  toPointer,
} from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import { isEvaluated, isTemplate, literalOf, templateParts } from "../../expressions/template.ts";
import type { Span } from "../model/source.ts";
import { isNull, type SpecNode } from "../model/tree.ts";
import { BYTE_ORDER_MARK, hasByteOrderMark } from "../yaml/read-yaml.ts";
import {
  documentData,
  documentOffsets,
  patchYaml,
  type SharedValue,
  sharedValues,
  type YamlOperation,
} from "./patch-yaml.ts";

/** A value in a document. `path`: the keys from the root of the document. */
export interface DocumentPlace {
  readonly file: string;
  readonly path: Path;
}

/** One edited file. */
export interface FileEdit {
  /** In the folder of the spec. */
  readonly path: string;
  readonly before: Uint8Array;
  readonly after: Uint8Array;
  /** RFC 6902. */
  readonly patch: readonly YamlOperation[];
}

/** Values of variables are data: they have no expressions and no escapes. */
const isData = ({ path: [root, , section] }: DocumentPlace): boolean =>
  root === "variables" || root === "inputs" || (root === "targets" && section === "variables");

/** A value in template form as data. */
function literalTree(value: Json): Json {
  if (typeof value === "string") return literalOf(value) ?? value;
  if (Array.isArray(value)) return value.map(literalTree);
  if (!isObject(value)) return value;
  const members: { [key: string]: Json } = {};
  for (const [key, member] of Object.entries(value))
    setMember(members, literalOf(key) ?? key, literalTree(member));
  return members;
}

type Mutable = { [key: string]: Json } & Json[];

type IsSame = (before: Json, after: Json) => boolean;

interface OpenDocument {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly before: Json;
  readonly root: { document: Json };
  /** Lists whose items have an identity, by JSON Pointer. */
  readonly identified: Map<string, IsSame>;
  /** Paths by the kind of a node and its offset; `key` for the keys of maps. */
  readonly offsets: ReadonlyMap<string, Path>;
  readonly shared: readonly SharedValue[];
}

/** The value that decides another one: where the last path leads. */
export function decidedNode(node: SpecNode): SpecNode {
  let at = node;
  while (at.copiedFrom !== undefined) at = at.copiedFrom;
  return at;
}

/** Whether an alias repeats the value at a path, or a value around it. */
const isRepeated = ({ path: anchored, aliases }: SharedValue, path: Path): boolean =>
  isAtOrBelow(path, anchored) ||
  aliases.some((alias) => path.length > alias.path.length && isAtOrBelow(path, alias.path));

export class SpecEdits {
  readonly #read: (file: string) => Uint8Array | undefined;
  readonly #refusal: Code;
  readonly #documents = new Map<string, OpenDocument | undefined>();

  /** `read`: the bytes of a YAML file of the spec; undefined for any other path. `refusal`: the code where a document cannot be edited. */
  constructor(read: (file: string) => Uint8Array | undefined, refusal: Code = "CLI_FILE") {
    this.#read = read;
    this.#refusal = refusal;
  }

  /** Undefined for a value that no YAML file of the spec has, such as one of the command line. */
  placeOf(node: SpecNode): DocumentPlace | undefined {
    const document = this.#documentOf(node);
    if (document === undefined) return undefined;
    const scalar = document.offsets.get(`scalar:${node.start}`);
    // An empty value is written as its key.
    const empty = document.offsets.get(`key:${node.start}`);
    const path =
      node.kind === "scalar"
        ? (scalar ?? (isNull(node) ? empty : undefined))
        : (document.offsets.get(`${node.kind}:${node.start}`) ?? scalar ?? empty);
    return path && { file: node.source.path, path };
  }

  /** The member of a map whose key is at a span. */
  memberAt(key: Span): DocumentPlace | undefined {
    const path = this.#documentOf(key)?.offsets.get(`key:${key.start}`);
    return path && { file: key.source.path, path };
  }

  /** Whether the text at a place is an expression, so that another value decides what it becomes. */
  isExpression(place: DocumentPlace): boolean {
    const value = this.valueAt(place);
    if (isData(place) || typeof value !== "string" || !isTemplate(value)) return false;
    const parts = templateParts(value) ?? [];
    return parts.some(
      (part) => typeof part !== "string" && (isEvaluated(part) || isTemplate(part.expression)),
    );
  }

  /** The value in the document, with the edits before. */
  valueAt({ file, path }: DocumentPlace): Json | undefined {
    let value: Json | undefined = this.#document(file)?.root.document;
    for (const key of path) value = (value as Mutable | null | undefined)?.[key as never];
    return value;
  }

  /** `template`: the value as a resource writes it. Throws Failure if an alias repeats a list or map around it. */
  set(place: DocumentPlace, template: Json): void {
    const { file, path } = place;
    const value = isData(place) ? literalTree(template) : template;
    const before = this.valueAt(place);
    if (before !== undefined && canonicalJson(before) === canonicalJson(value)) return;
    // The text of a scalar decides its aliases as well, as the text of a variable does.
    const isText = [before, value].every((old) => !isObject(old) && !Array.isArray(old));
    this.#assertUnshared(
      place,
      (shared) => isRepeated(shared, path) && !(isText && isSamePath(shared.path, path)),
    );
    const document = this.#document(file);
    const last = path.at(-1);
    if (document === undefined) return;
    if (last === undefined) document.root.document = value;
    else (this.#ensured(file, path.slice(0, -1)) as Mutable)[last as never] = value as never;
  }

  /** An item that is not the same as the one at its position comes in addition; that one leaves with its comments. */
  identify({ file, path }: DocumentPlace, isSame: IsSame): void {
    this.#document(file)?.identified.set(toPointer(path), isSame);
  }

  /** Throws Failure if an alias repeats the place, or a value in it. */
  remove({ file, path }: DocumentPlace): void {
    this.#assertUnshared(
      { file, path },
      (shared) =>
        isRepeated(shared, path) ||
        (isAtOrBelow(shared.path, path) && shared.aliases.some((alias) => !isAtOrBelow(alias.path, path))),
    );
    const parent = this.valueAt({ file, path: path.slice(0, -1) });
    if (isObject(parent)) delete (parent as Mutable)[String(path.at(-1))];
  }

  /** Whether members can be added below a place: to a map, or to an empty value. */
  takesMembers(place: DocumentPlace): boolean {
    const value = this.valueAt(place);
    return value === undefined || value === null || isObject(value);
  }

  /** What changes, file by file. Throws Failure for YAML that cannot be edited. */
  files(): readonly FileEdit[] {
    return [...this.#documents].flatMap(([path, document]): readonly FileEdit[] => {
      if (document === undefined) return [];
      const patch = documentPatch(document.before, document.root.document, [], (list, before, after) => {
        const isSame = document.identified.get(toPointer(list));
        return isSame === undefined || isSame(before, after);
      });
      if (patch.length === 0) return [];
      const mark = hasByteOrderMark(document.bytes) ? BYTE_ORDER_MARK : "";
      const after = new TextEncoder().encode(`${mark}${this.#patched(path, document.text, patch)}`);
      return [{ path, before: document.bytes, after, patch }];
    });
  }

  #patched(file: string, text: string, patch: readonly YamlOperation[]): string {
    try {
      return patchYaml(text, patch);
    } catch {
      // The message of the libraries can contain the whole document.
      const message = `${file} contains YAML that cannot be edited at the place of the value`;
      throw failureOf(this.#refusal, message, { hint: "change the value by hand" });
    }
  }

  #assertUnshared({ file, path }: DocumentPlace, isIn: (shared: SharedValue) => boolean): void {
    const shared = this.#document(file)?.shared.find(isIn);
    if (shared === undefined) return;
    const { anchor, line, aliases } = shared;
    const places = [...new Set(aliases.map((alias) => `${file}:${alias.line}`))];
    throw failureOf(
      this.#refusal,
      `${toDottedPath(path)} belongs to the anchor &${anchor} (${file}:${line}), which has an alias at ${listed(places, "and", 5)}`,
      { hint: "change the value at the anchor by hand, or write it out in place of the alias" },
    );
  }

  /** The map at a path; missing and empty ones are made. */
  #ensured(file: string, path: Path): Json {
    const value = this.valueAt({ file, path });
    if (value !== undefined && value !== null) return value;
    const created: Json = {};
    this.set({ file, path }, created);
    return created;
  }

  #documentOf({ source }: Span): OpenDocument | undefined {
    return source.isHidden || source.path === "" ? undefined : this.#document(source.path);
  }

  #document(file: string): OpenDocument | undefined {
    if (!this.#documents.has(file)) this.#documents.set(file, this.#opened(file));
    return this.#documents.get(file);
  }

  #opened(file: string): OpenDocument | undefined {
    const bytes = this.#read(file);
    if (bytes === undefined) return undefined;
    const text = new TextDecoder("utf-8").decode(bytes);
    const before = documentData(text);
    return {
      bytes,
      text,
      before,
      root: { document: structuredClone(before) },
      identified: new Map(),
      offsets: documentOffsets(text),
      shared: sharedValues(text),
    };
  }
}

/** Whether an item that has the position of another one in the list at `path` is that one, changed. */
type IsSameItem = (path: Path, before: Json, after: Json) => boolean;

export function documentPatch(
  before: Json,
  after: Json,
  path: Path = [],
  isSameItem: IsSameItem = () => true,
): readonly YamlOperation[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  if (isObject(before) && isObject(after)) return mapPatch(before, after, path, isSameItem);
  if (Array.isArray(before) && Array.isArray(after)) return listPatch(before, after, path, isSameItem);
  return [{ op: "replace", path: toPointer(path), value: after }];
}

function mapPatch(
  before: { readonly [key: string]: Json },
  after: { readonly [key: string]: Json },
  path: Path,
  isSameItem: IsSameItem,
): readonly YamlOperation[] {
  const operations: YamlOperation[] = [];
  for (const [key, value] of Object.entries(before)) {
    const here = [...path, key];
    if (!Object.hasOwn(after, key)) operations.push({ op: "remove", path: toPointer(here) });
    else operations.push(...documentPatch(value, after[key] ?? null, here, isSameItem));
  }
  for (const [key, value] of Object.entries(after))
    if (!Object.hasOwn(before, key)) operations.push({ op: "add", path: toPointer([...path, key]), value });
  return operations;
}

/** Removed and added items at the same position are one changed item each, unless one leaves, with its comments, and another one comes. */
function listPatch(
  before: readonly Json[],
  after: readonly Json[],
  path: Path,
  isSameItem: IsSameItem,
): readonly YamlOperation[] {
  const operations: YamlOperation[] = [];
  const parts = diffArrays(before.map(canonicalJson), after.map(canonicalJson));
  let at = 0;
  let old = 0;
  let now = 0;
  for (const [index, part] of parts.entries()) {
    const { length } = part.value;
    if (part.removed) {
      const following = parts[index + 1];
      const replaced = Math.min(length, following?.added ? following.value.length : 0);
      for (let step = 0; step < replaced; step++, at++, old++, now++) {
        const [item, value] = [before[old] ?? null, after[now] ?? null];
        if (isSameItem(path, item, value))
          operations.push(...documentPatch(item, value, [...path, at], isSameItem));
        else
          operations.push(
            { op: "add", path: toPointer([...path, at + 1]), value },
            { op: "remove", path: toPointer([...path, at]) },
          );
      }
      for (let step = replaced; step < length; step++, old++)
        operations.push({ op: "remove", path: toPointer([...path, at]) });
      if (following?.added) following.value = following.value.slice(replaced);
    } else if (part.added)
      for (let step = 0; step < length; step++, at++, now++)
        operations.push({ op: "add", path: toPointer([...path, at]), value: after[now] ?? null });
    else {
      at += length;
      old += length;
      now += length;
    }
  }
  return operations;
}
