// The contents of notebooks and files that a Terraform state names, and where the spec finds them.

import { createHash } from "node:crypto";
import { isAbsolute, join, relative, sep } from "node:path";
import { isInFolder, resolvedPath } from "../../config/files.ts";
import { shellWord } from "../../core/sentences.ts";
import { hasContent, type Provider, type Registry } from "../../resource/kind.ts";
import type { ExportedObject } from "../../spec/export/addresses.ts";
import { mostBytes } from "../../spec/files/contents.ts";
import { extensionFor, extensionOf, isNotebookKind } from "../../spec/files/notebook-format.ts";
import { type FileRefusal, openSpecFolder, type SpecFolder } from "../../spec/files/spec-folder.ts";
import { textAttribute } from "./attributes.ts";
import {
  type ConversionLog,
  type ConvertedObject,
  type ConvertedObjects,
  convertedKey,
  hasMark,
  whySensitive,
} from "./terraform-state.ts";

export interface ContentFolders {
  readonly configuration: string;
  readonly spec: string;
}

/** A content, which is read when it is written. */
interface FoundContent {
  bytes(): Uint8Array;
  /** The path in the spec's folder of a file that need not be copied. */
  readonly path?: string;
}

type FoundContents = ReadonlyMap<string, FoundContent>;

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
  const convertedObjectByKey = new Map<string, ConvertedObject>();
  for (const [key, convertedObject] of objects) {
    const provider = registry.get(convertedObject.kind);
    const content = hasContent(provider)
      ? contentOfObject(convertedObject, provider, tree, folders, log)
      : undefined;
    if (typeof content === "string")
      log.leave(
        convertedObject.instance,
        `${content}; to convert it, run \`workspace export --only ${shellWord(`${convertedObject.kind}.${convertedObject.live.name}`)} --out FOLDER\``,
      );
    else {
      convertedObjectByKey.set(key, convertedObject);
      if (content !== undefined) contents.set(key, content);
    }
  }
  return { objects: convertedObjectByKey, contents };
}

function contentOfObject(
  convertedObject: ConvertedObject,
  provider: Provider,
  tree: SpecFolder | undefined,
  folders: ContentFolders,
  log: ConversionLog,
): FoundContent | string {
  const { values } = convertedObject.instance;
  if (hasMark(values.content_base64)) return whySensitive(values.content_base64, "its content");
  if (hasMark(values.source)) return whySensitive(values.source, "its source");
  const encoded = textAttribute(values, "content_base64");
  if (encoded !== undefined) {
    const bytes = Buffer.from(encoded, "base64");
    const isWhole = bytes.toString("base64").replace(/=+$/, "") === encoded.replace(/=+$/, "");
    if (log.secrets.isIn(bytes.toString("utf8"))) return HAS_SECRET;
    return isWhole ? { bytes: () => bytes } : "its content_base64 is not valid";
  }
  const source = textAttribute(values, "source");
  if (source === undefined && values.content_base64 === "") return { bytes: () => new Uint8Array() };
  if (source === undefined) return "the state contains neither its content nor its source";
  const path = isAbsolute(source) ? relative(folders.configuration, source) : source;
  const most = mostBytes(provider);
  const read = (): Uint8Array | FileRefusal => {
    const openedFile = tree?.read(path, most) ?? ({ ok: false, refusal: "missing" } as const);
    return openedFile.ok ? openedFile.value : openedFile.refusal;
  };
  const first = read();
  if (typeof first === "string") return `its source ${JSON.stringify(source)} ${REFUSALS[first]}`;
  const sum = textAttribute(values, "md5");
  if (sum !== undefined && /^[0-9a-f]{32}$/.test(sum) && md5(first) !== sum)
    log.note(
      convertedObject.instance,
      "its source changed after Terraform applied it, so the plan updates it",
    );
  const inPlace = pathInSpec(tree, path, folders);
  // The extension says what the notebook is, as the spec infers it.
  const isUsable =
    inPlace !== undefined &&
    (!isNotebookKind(provider) || extensionOf(inPlace) === extensionFor(convertedObject.live.values));
  const bytes = (): Uint8Array => {
    const again = read();
    if (typeof again === "string") throw new Error(`${source} ${REFUSALS[again]}`);
    return again;
  };
  if (isUsable) return { bytes, path: inPlace };
  return log.secrets.isIn(new TextDecoder().decode(first)) ? HAS_SECRET : { bytes };
}

const HAS_SECRET =
  "its content contains a value that Terraform marks as sensitive, or that of a secret; put it into a file of the spec without the value";

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
