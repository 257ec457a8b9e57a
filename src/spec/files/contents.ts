// Contents of notebooks and files: each is a file in the spec's folder, identified by a digest and read on demand.

import { error, Failure } from "../../core/diagnostic.ts";
import { digest, startDigest } from "../../core/digest.ts";
import { isTemplate } from "../../expressions/template.ts";
import type { Values } from "../../resource/field-schema.ts";
import { type PlannedKind, sizeAndDigest } from "../../resource/kind.ts";
import type { Payload } from "../../resource/operations.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS, STRICT } from "../model/limits.ts";
import type { WrittenResource } from "../model/spec.ts";
import { hasSensitive, member, type SpecNode, scalarText } from "../model/tree.ts";
import { withFormat } from "./notebook-format.ts";
import { type OpenedFile, pathBeside, refusedWords, type SpecFolder } from "./spec-folder.ts";

/** The path in the tree that a node names; undefined after reporting an error. */
export function namedPath(written: WrittenResource, node: SpecNode, findings: Findings): string | undefined {
  const text = scalarText(node);
  const { address } = written;
  // A sensitive path is reported with the other fields of the resource, and opens no file.
  if (text === undefined || text === "" || hasSensitive(node)) return undefined;
  if (isTemplate(text)) {
    findings.error("SPEC_REFERENCE", `${address}: the path of a file cannot contain a reference`, node, {
      address,
    });
    return undefined;
  }
  const path = pathBeside(node.source.path, text);
  if (path !== undefined) return path;
  findings.error("SPEC_OUTSIDE", `${address}: ${JSON.stringify(text)} is outside the spec's folder`, node, {
    address,
    hint: "use a file below the folder of the spec; paths are relative to the file that contains them",
  });
  return undefined;
}

export function openSourceFile<T>(
  written: WrittenResource,
  path: string,
  node: SpecNode,
  result: OpenedFile<T>,
  findings: Findings,
): T | undefined {
  if (result.ok) return result.value;
  const { code, words } = refusedWords(result);
  findings.error(code, `${written.address}: ${path} ${words}`, node, { address: written.address });
  return undefined;
}

/** The most bytes of a content: the workspace tree takes less than its file system. */
export const mostBytes = ({ tree }: PlannedKind): number =>
  tree?.root === "workspace" ? LIMITS.notebookBytes : LIMITS.contentBytes;

/** The values that a content adds to a resource, and the payload; undefined after reporting a problem. */
export function contentOf(
  written: WrittenResource,
  values: Values,
  sources: SourceReader,
  findings: Findings,
): { readonly values: Values; readonly payload: Payload } | undefined {
  const node = member(written.fields, "source");
  if (node === undefined) {
    findings.error("SPEC_MISSING_FIELD", `${written.address} requires the field "source"`, written.at, {
      address: written.address,
      hint: "set source to the path of a file, or source_dir to the path of a folder",
    });
    return undefined;
  }
  const path = namedPath(written, node, findings);
  if (path === undefined) return undefined;
  const source = { written, node, path, findings };
  const declared = withFormat(written, node, path, values, findings);
  const read = summed(source, declared, sources);
  if (read === undefined) return undefined;
  return {
    values: written.provider.fields.content ? { ...declared, content: read.content } : declared,
    payload: { digest: read.digest, bytes: () => again(written, path, read.digest, sources.tree) },
  };
}

/** The file that a resource names. */
interface NamedSource {
  readonly written: WrittenResource;
  readonly node: SpecNode;
  readonly path: string;
  readonly findings: Findings;
}

/** Digests of the bytes and of what contents are compared by: the kind's own form, or size and digest. */
function summed(
  source: NamedSource,
  values: Values,
  sources: SourceReader,
): { readonly digest: string; readonly content: string } | undefined {
  const { provider } = source.written;
  const { path } = source;
  const most = mostBytes(provider);
  const formOf = provider.planning.content?.digest;
  if (formOf === undefined) {
    const sum = within(source, sources.sum(path, most));
    return sum && { digest: sum.digest, content: sizeAndDigest(sum.size, sum.digest) };
  }
  const key = `${provider.kind} ${JSON.stringify(values)}`;
  const sum = within(
    source,
    sources.form(path, most, key, (bytes) => formOf(bytes, values)),
  );
  return sum && { digest: sum.digest, content: sum.form };
}

/** Returns the content. Reports once, at the first file beyond it, that the limit of an untrusted spec is reached. */
function within<T>({ written, node, path, findings }: NamedSource, read: Summed<T>): T | undefined {
  if (read.ok || read.refusal !== "over limit") return openSourceFile(written, path, node, read, findings);
  if (findings.has("SPEC_READ_LIMIT")) return undefined;
  const most = STRICT.sourceBytes >> 20;
  findings.error("SPEC_READ_LIMIT", `the sources of an untrusted spec exceed ${most} MB in total`, node, {
    address: written.address,
    hint: "remove sources from the spec, or plan it as a trusted spec after review",
  });
  return undefined;
}

/** Reads the bytes again for the request; a file that changed differs from the plan. */
function again(written: WrittenResource, path: string, sum: string, tree: SpecFolder): Uint8Array {
  const read = tree.read(path, LIMITS.contentBytes);
  if (read.ok && digest(read.value) === sum) return read.value;
  const what = read.ok ? "changed during the run" : "can no longer be read";
  throw new Failure(
    error("PLAN_STALE", `${tree.shown(path)} ${what}`, { address: written.address, hint: "plan again" }),
  );
}

/** `over limit`: the files read before leave no space for this one. */
type Summed<T> = OpenedFile<T> | { readonly ok: false; readonly refusal: "over limit" };

interface Sum {
  readonly size: number;
  readonly digest: string;
}

export class SourceReader {
  readonly tree: SpecFolder;
  readonly #sums = new Map<string, Summed<Sum>>();
  readonly #forms = new Map<string, Summed<Sum & { readonly form: string }>>();
  #left: number;

  /** `mostBytes`: of all files together. */
  constructor(tree: SpecFolder, mostBytes = Number.POSITIVE_INFINITY) {
    this.tree = tree;
    this.#left = mostBytes;
  }

  /** A large file is read in pieces. */
  sum(path: string, most: number): Summed<Sum> {
    return this.#summedOnce(this.#sums, path, "", () => {
      const sum = startDigest();
      const read = this.#limited(most, (within) => this.tree.stream(path, within, (piece) => sum.add(piece)));
      return read.ok ? this.#spent({ size: read.value, digest: sum.end() }) : read;
    });
  }

  /** The sum, and what `formOf` makes of the bytes; `key` tells apart what it makes of one file. */
  form(
    path: string,
    most: number,
    key: string,
    formOf: (bytes: Uint8Array) => string,
  ): Summed<Sum & { readonly form: string }> {
    return this.#summedOnce(this.#forms, path, key, () => {
      const read = this.#limited(most, (within) => this.tree.read(path, within));
      if (!read.ok) return read;
      const bytes = read.value;
      return this.#spent({ size: bytes.length, digest: digest(bytes), form: formOf(bytes) });
    });
  }

  #summedOnce<T>(
    summedByKey: Map<string, Summed<T>>,
    path: string,
    key: string,
    read: () => Summed<T>,
  ): Summed<T> {
    const real = this.tree.realPath(path);
    if (!real.ok) return real;
    const name = `${real.value}\0${key}`;
    const before = summedByKey.get(name);
    if (before !== undefined) return before;
    const summed = read();
    summedByKey.set(name, summed);
    return summed;
  }

  #limited<T>(most: number, read: (within: number) => OpenedFile<T>): Summed<T> {
    const openedFile = read(Math.min(most, this.#left));
    const isOver = !openedFile.ok && openedFile.refusal === "too large" && this.#left < most;
    return isOver ? { ok: false, refusal: "over limit" } : openedFile;
  }

  #spent<T extends Sum>(value: T): Summed<T> {
    this.#left -= value.size;
    return { ok: true, value };
  }
}
