// Contents of notebooks and files of a Terraform state: contents in the state, and files that it names.

import { createHash } from "node:crypto";
import { isAbsolute, join, relative, sep } from "node:path";
import { isInFolder, resolvedPath } from "../../config/files.ts";
import { shellWord } from "../../core/sentences.ts";
import { hasContent } from "../../resource/content.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import type { ExportedObject } from "../../spec/export/addresses.ts";
import { extensionFor, extensionOf, isNotebookKind } from "../../spec/files/contents.ts";
import { type FileRefusal, openSpecFolder, type SpecFolder } from "../../spec/files/spec-folder.ts";
import { LIMITS } from "../../spec/model/limits.ts";
import {
  type ConversionLog,
  type ConvertedObject,
  type ConvertedObjects,
  convertedKey,
} from "./conversion.ts";
import { textAttribute } from "./resource-types.ts";

export interface ContentFolders {
  readonly configuration: string;
  readonly spec: string;
}

/** A content, which is read when it is written. */
export interface FoundContent {
  bytes(): Uint8Array;
  /** The path in the spec's folder of a file that need not be copied. */
  readonly path?: string;
}

export type FoundContents = ReadonlyMap<string, FoundContent>;

export const contentKey = ({ provider, live }: ExportedObject): string =>
  convertedKey(provider.kind, live.id);

const REFUSALS: Readonly<Record<FileRefusal, string>> = {
  missing: "does not exist",
  outside: "is outside the folder of the Terraform configuration",
  loop: "cannot be read, because symbolic links form a loop",
  private: "is private",
  irregular: "is not a regular file",
  "too large": "is too large",
  unreadable: "cannot be read",
  hidden: "is hidden",
  "no folder": "is not in a folder",
};

/** The contents that were found, and the objects without those whose content was not. */
export function findContents(
  objects: ConvertedObjects,
  registry: Registry,
  folders: ContentFolders,
  log: ConversionLog,
): { readonly objects: ConvertedObjects; readonly contents: FoundContents } {
  const tree = openSpecFolder(join(folders.configuration, "main.tf"))?.tree;
  const contents = new Map<string, FoundContent>();
  const kept = new Map<string, ConvertedObject>();
  for (const [key, one] of objects) {
    const provider = registry.get(one.kind);
    const found = hasContent(provider) ? contentOfObject(one, provider, tree, folders, log) : undefined;
    if (typeof found === "string")
      log.leave(
        one.instance,
        `${found}; to convert it, run \`workspace export --only ${shellWord(`${one.kind}.${one.live.name}`)} --out FOLDER\``,
      );
    else {
      kept.set(key, one);
      if (found !== undefined) contents.set(key, found);
    }
  }
  return { objects: kept, contents };
}

function contentOfObject(
  one: ConvertedObject,
  provider: Provider,
  tree: SpecFolder | undefined,
  folders: ContentFolders,
  log: ConversionLog,
): FoundContent | string {
  const { values, sensitive } = one.instance;
  if (sensitive.some(([name]) => name === "content_base64" || name === "source"))
    return "Terraform marks its content as sensitive";
  const encoded = textAttribute(values, "content_base64");
  if (encoded !== undefined) {
    const bytes = Buffer.from(encoded, "base64");
    const isWhole = bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
    return isWhole ? { bytes: () => bytes } : "its content_base64 is not valid";
  }
  const source = textAttribute(values, "source");
  if (source === undefined) return "the state contains neither its content nor its source";
  const path = isAbsolute(source) ? relative(folders.configuration, source) : source;
  const most = isNotebookKind(provider) ? LIMITS.notebookBytes : LIMITS.contentBytes;
  const read = (): Uint8Array | FileRefusal => {
    const found = tree?.read(path, most) ?? ({ ok: false, refusal: "missing" } as const);
    return found.ok ? found.value : found.refusal;
  };
  const first = read();
  if (typeof first === "string") return `its source ${JSON.stringify(source)} ${REFUSALS[first]}`;
  const sum = textAttribute(values, "md5");
  if (sum !== undefined && /^[0-9a-f]{32}$/.test(sum) && md5(first) !== sum)
    log.note(one.instance, "its source changed after Terraform applied it, so the plan updates it");
  const inPlace = pathInSpec(tree, path, folders);
  const isUsable = inPlace !== undefined && hasItsExtension(one, provider, inPlace);
  const bytes = (): Uint8Array => {
    const again = read();
    if (typeof again === "string") throw new Error(`${source} ${REFUSALS[again]}`);
    return again;
  };
  return isUsable ? { bytes, path: inPlace } : { bytes };
}

/** The service and Terraform compare contents by this sum. */
const md5 = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("hex");

function pathInSpec(
  tree: SpecFolder | undefined,
  path: string,
  { spec }: ContentFolders,
): string | undefined {
  const real = tree?.realPath(path);
  if (real?.ok !== true) return undefined;
  const folder = resolvedPath(spec);
  const below = relative(folder, real.value);
  const isPlain = /^[\p{L}\p{N} ._@+,=()/\\-]+$/u.test(below);
  const isHidden = below.split(sep).some((part) => part.startsWith("."));
  return !isInFolder(folder, real.value) || isHidden || !isPlain ? undefined : below.split(sep).join("/");
}

/** Whether the file's extension says what the notebook is, as the spec infers it. */
function hasItsExtension({ live }: ConvertedObject, provider: Provider, path: string): boolean {
  return !isNotebookKind(provider) || extensionOf(path) === extensionFor(live.values);
}
