// Names in an export: keys of resources, variables of secrets, and paths of contents. Each is unique and stable between exports.

import { type Address, addressOf, memberOf, parentOf } from "../../core/address.ts";
import { digest } from "../../core/digest.ts";
import { compareTexts, type Json } from "../../core/json.ts";
import { type Provider, secretField } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { extensionFor, isNotebookKind } from "../files/notebook-format.ts";

/** A live object with its place in the spec. */
export interface ExportedObject {
  readonly provider: Provider;
  readonly live: LiveObject;
  readonly key: string;
  readonly address: Address;
  /** The key is not the natural name, so the spec has to say it. */
  readonly renamed: boolean;
  /** Number of objects of the kind with this natural name. */
  readonly sharing: number;
}

/** Characters that are safe in `${kind.key.attribute}` and on a command line without surprise. */
const LEGAL = /^[\p{L}\p{N}_@+](?:[\p{L}\p{N}\p{M}_@+.,()#&/ :=~-]{0,198}[\p{L}\p{N}\p{M}_@+)])?$/u;
const ILLEGAL = /[^\p{L}\p{N}\p{M}_@+.,()#&/ :=~-]+/gu;
const UNNAMED = "unnamed";
/** The only key that YAML of a spec cannot contain. */
const NO_KEY = "__proto__";

/** The objects of one kind, ordered by key. */
export function addressObjects(
  provider: Provider,
  objects: readonly LiveObject[],
): readonly ExportedObject[] {
  const sorted = [...objects].sort((a, b) => compareTexts(a.name, b.name) || compareIds(a.id, b.id));
  const shared = Map.groupBy(sorted, (live) => live.name);
  const natural = new Set(sorted.map((live) => keyOf(provider, live.name)));
  const taken = new Set<string>();
  return sorted
    .map((live): ExportedObject => {
      const key = freeKey(keyOf(provider, live.name), natural, taken);
      taken.add(key);
      return {
        provider,
        live,
        key,
        address: addressOf(provider.kind, key),
        renamed: provider.nameField !== undefined && key !== live.name,
        sharing: shared.get(live.name)?.length ?? 1,
      };
    })
    .sort((a, b) => compareTexts(a.key, b.key));
}

/** If the key is the name, it stays unchanged. */
function keyOf(provider: Provider, name: string): string {
  if (provider.nameField === undefined || (LEGAL.test(name) && name !== NO_KEY)) return name;
  const cleaned = name
    .slice(0, 150)
    .replace(ILLEGAL, "-")
    .replace(/^[^\p{L}\p{N}_]+|[^\p{L}\p{N}_)]+$/gu, "");
  return cleaned === "" || cleaned === NO_KEY ? UNNAMED : cleaned;
}

/** The objects that a spec cannot contain, with the reason. A plan deletes what a list of members lacks, except secrets. */
export function omittedObjects(
  provider: Provider,
  objects: readonly LiveObject[],
): ReadonlyMap<LiveObject, string> {
  const hasWholeLists = provider.nested !== undefined && secretField(provider) === undefined;
  const incomplete = new Set(
    hasWholeLists
      ? objects
          .filter((live) => notExportable(provider, live) !== undefined)
          .map((live) => parentOf(live.name))
      : [],
  );
  return new Map(
    objects.flatMap((live) => {
      const inPart = incomplete.has(parentOf(live.name))
        ? "a spec with only a part of this list would delete the rest"
        : undefined;
      const reason = notExportable(provider, live) ?? inPart;
      return reason === undefined ? [] : [[live, reason] as const];
    }),
  );
}

/** The folder of bundles that an object is in: the vendor's tool writes and deletes all of it. */
export function bundleFolder({ idAttribute }: Provider, { name }: LiveObject): string | undefined {
  return idAttribute === "path" ? /^(?:.*?\/)?\.bundle(?=\/|$)/.exec(name)?.[0] : undefined;
}

/** Why no spec can express an object, if so. */
function notExportable(provider: Provider, live: LiveObject): string | undefined {
  const { nameField, nested } = provider;
  const { name, values, unmanageable } = live;
  if (unmanageable !== undefined) return unmanageable;
  if (bundleFolder(provider, live) !== undefined) return "a bundle deploys it";
  const keys = nested === undefined ? [name] : [parentOf(name), memberOf(name)];
  const hasKey = (nameField === undefined && keys.includes(NO_KEY)) || containsKey(values, NO_KEY);
  return hasKey ? `a spec cannot contain the key ${NO_KEY}` : undefined;
}

function containsKey(value: Json, key: string): boolean {
  if (value === null || typeof value !== "object") return false;
  return Object.hasOwn(value, key) || Object.values(value).some((value) => containsKey(value, key));
}

function freeKey(key: string, natural: ReadonlySet<string>, taken: ReadonlySet<string>): string {
  if (!taken.has(key)) return key;
  for (let number = 2; ; number++) {
    const numbered = `${key}-${number}`;
    if (!taken.has(numbered) && !natural.has(numbered)) return numbered;
  }
}

/** Ids that are numbers compare as numbers: the oldest comes first. */
function compareIds(a: string, b: string): number {
  return /^\d+$/.test(a) && /^\d+$/.test(b) ? a.length - b.length || compareTexts(a, b) : compareTexts(a, b);
}

/** `ETL_DB_PASSWORD` for `etl/db-password`, with a number where another secret has that word already. */
export function variablesFor(secrets: readonly ExportedObject[]): ReadonlyMap<Address, string> {
  const taken = new Set<string>();
  const addresses = new Map<Address, string>();
  for (const { address, live } of secrets) {
    const word = `${parentOf(live.name)}/${memberOf(live.name)}`
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, "_")
      .replace(/^(?=\d)/, "_");
    let name = word;
    for (let number = 2; taken.has(name); number++) name = `${word}_${number}`;
    taken.add(name);
    addresses.set(address, name);
  }
  return addresses;
}

/** The comment above a scope: what would manage its secrets. */
export function secretNotes(
  under: string,
  inside: readonly ExportedObject[],
  variables: ReadonlyMap<Address, string>,
): readonly string[] {
  return [
    "Secret values cannot be read back. To manage these secrets, add them under the scope with a source each:",
    `  ${under}:`,
    ...inside.map(
      (object) => `    ${memberOf(object.live.name)}: { env: ${variables.get(object.address) ?? ""} }`,
    ),
  ];
}

export interface ExportSource {
  readonly of: ExportedObject;
  readonly path: string;
}

/** Each path is unique, also on file systems that ignore case. */
export function sourcesOf(things: readonly ExportedObject[]): readonly ExportSource[] {
  const paths = things.map((of) => ({ of, segments: segmentsOf(of) }));
  const taken = new Set(paths.flatMap(({ segments }) => foldersOf(segments)));
  return paths.map(({ of, segments }) => {
    const extension = isNotebookKind(of.provider) ? extensionFor(of.live.values) : "";
    const path = freePath(segments.join("/"), extension, taken);
    taken.add(folded(path));
    return { of, path };
  });
}

function segmentsOf({ provider, live }: ExportedObject): readonly string[] {
  const parts = live.name.split("/").filter((part) => part !== "");
  return [provider.kind, ...parts.map(segment)];
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
