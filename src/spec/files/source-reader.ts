// Reads sources of contents: each file is read and digested once per run, within a limit if one is set.

import { digest, startDigest } from "../../core/digest.ts";
import type { OpenedFile, SpecFolder } from "./spec-folder.ts";

/** `over limit`: the files read before leave no space for this one. */
export type Summed<T> = OpenedFile<T> | { readonly ok: false; readonly refusal: "over limit" };

export interface Sum {
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
    return this.#once(this.#sums, path, "", () => {
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
    return this.#once(this.#forms, path, key, () => {
      const read = this.#limited(most, (within) => this.tree.read(path, within));
      if (!read.ok) return read;
      const bytes = read.value;
      return this.#spent({ size: bytes.length, digest: digest(bytes), form: formOf(bytes) });
    });
  }

  #once<T>(known: Map<string, Summed<T>>, path: string, key: string, read: () => Summed<T>): Summed<T> {
    const real = this.tree.realPath(path);
    if (!real.ok) return real;
    const name = `${real.value}\0${key}`;
    const before = known.get(name);
    if (before !== undefined) return before;
    const found = read();
    known.set(name, found);
    return found;
  }

  #limited<T>(most: number, read: (within: number) => OpenedFile<T>): Summed<T> {
    const found = read(Math.min(most, this.#left));
    const isOver = !found.ok && found.refusal === "too large" && this.#left < most;
    return isOver ? { ok: false, refusal: "over limit" } : found;
  }

  #spent<T extends Sum>(value: T): Summed<T> {
    this.#left -= value.size;
    return { ok: true, value };
  }
}
