// Chooses paths for exported contents, always below the spec's folder, whatever the name of the live object.

import { digest } from "../../core/digest.ts";
import { extensionFor, isNotebookKind } from "../files/contents.ts";
import type { ExportedObject } from "./addresses.ts";

export interface ExportSource {
  readonly of: ExportedObject;
  readonly path: string;
}

/** Each path is unique, also on file systems that ignore case. */
export function sourcesOf(things: readonly ExportedObject[]): readonly ExportSource[] {
  const paths = things.map((of) => ({ of, segments: segmentsOf(of) }));
  const taken = new Set(paths.flatMap(({ segments }) => foldersOf(segments)));
  return paths.map(({ of, segments }) => {
    const extension = extensionOf(of);
    const path = freePath(segments.join("/"), extension, taken);
    taken.add(folded(path));
    return { of, path };
  });
}

function extensionOf({ provider, live }: ExportedObject): string {
  return isNotebookKind(provider) ? extensionFor(live.values) : "";
}

function segmentsOf({ provider, live }: ExportedObject): readonly string[] {
  return [
    provider.kind,
    ...live.name
      .split("/")
      .filter((part) => part !== "")
      .map(segment),
  ];
}

function foldersOf(segments: readonly string[]): readonly string[] {
  return segments.slice(0, -1).map((_, at) => folded(segments.slice(0, at + 1).join("/")));
}

const folded = (path: string): string => path.toLowerCase();

function freePath(path: string, extension: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? `${path}${extension}` : `${path}-${number}${extension}`;
    if (!taken.has(folded(candidate))) return candidate;
  }
}

/** File systems take 255 bytes for a name; an extension and a number have to fit, too. */
const LONGEST = 200;

/** One name of a path. Characters with a meaning are written as `%XX`, also a first dot (`.git`) and the tilde of short names (`git~1`). */
function segment(name: string): string {
  const plain = name
    .replace(/[^\p{L}\p{N} ._@+,=()-]/gu, encoded)
    .replace(/^[. ]|[. ]$/g, encoded)
    .replace(ACTED_ON, encoded);
  if (byteLength(plain) <= LONGEST) return plain;
  return `${[...plain].slice(0, 60).join("")}+${digest(new TextEncoder().encode(name)).slice(0, 16)}`;
}

/** The first letter of a device of Windows, and of `HEAD`: with it a folder counts as a repository, whose config git runs. */
const ACTED_ON = /^(?=(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|head$)[a-z]/i;

function encoded(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}

const byteLength = (text: string): number => Buffer.byteLength(text);
