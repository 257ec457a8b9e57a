// Answers lookups of a plan: one request for a catalog or for the IDs of a kind, and one for each folder of names.

import type { Reader } from "../../api/contract/reader.ts";
import type { LookupAnswer, Lookups, Question } from "../../planner/model/facts.ts";
import type { Catalog, Catalogs } from "../../resource/catalog.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import { failureDiagnostic } from "../failures.ts";

export interface LookUpInput {
  readonly questions: readonly Question[];
  readonly registry: Registry;
  readonly catalogs: Catalogs;
  readonly reader: Reader;
  /** False for an untrusted spec: it may not find out which objects the workspace has. */
  readonly objects: boolean;
}

/** Maximum number of folders and unlisted IDs to request; the others stay unchecked. */
const MOST = 20;

export async function lookUp({
  questions,
  registry,
  catalogs,
  reader,
  objects,
}: LookUpInput): Promise<Lookups> {
  const ofCatalogs = new Map<string, Promise<LookupAnswer>>();
  const wanted = new Map<string, Set<string>>();
  for (const { place, text } of questions) {
    if (place.in === "catalog") {
      if (!ofCatalogs.has(place.of)) ofCatalogs.set(place.of, offered(catalogs[place.of], reader));
    } else if (objects) wanted.set(place.of, (wanted.get(place.of) ?? new Set()).add(text));
  }
  const ofKinds = new Map(
    [...wanted].map(([kind, texts]) => {
      const byName = questions.some(({ place }) => place.in === "names" && place.of === kind);
      return [kind, there(registry.get(kind), reader, [...texts].sort(), byName)] as const;
    }),
  );
  return { catalogs: await settled(ofCatalogs), kinds: await settled(ofKinds) };
}

async function settled(answers: ReadonlyMap<string, Promise<LookupAnswer>>): Promise<Lookups["catalogs"]> {
  return new Map(await Promise.all([...answers].map(async ([of, answer]) => [of, await answer] as const)));
}

async function offered({ singular, operation, values }: Catalog, reader: Reader): Promise<LookupAnswer> {
  const head = { one: singular, operation };
  try {
    return { ...head, readable: true, values: new Set(values(await reader.read(operation))) };
  } catch (failure) {
    return { ...head, readable: false, diagnostic: failureDiagnostic(failure) };
  }
}

async function there(
  provider: Provider,
  reader: Reader,
  texts: readonly string[],
  byName: boolean,
): Promise<LookupAnswer> {
  const groups = new Set(texts.map((text) => (byName ? folderOf(text) : text)));
  const asked = new Set([...groups].slice(0, MOST));
  const inBounds = texts.filter((text) => asked.has(byName ? folderOf(text) : text));
  const unasked = new Set(texts.filter((text) => !asked.has(byName ? folderOf(text) : text)));
  // Folder by folder, so that an unreadable folder does not affect the others.
  const batches = byName
    ? [...asked].map((folder) => inBounds.filter((text) => folderOf(text) === folder))
    : [inBounds];
  const answers = await Promise.all(batches.map((batch) => listed(provider, reader, batch, byName)));
  const values = new Set(answers.flatMap((one) => (one.readable ? [...one.values] : [])));
  const failures = answers.flatMap((one) => (one.readable ? [] : [one]));
  const [first] = failures;
  if (first !== undefined && failures.length === answers.length) return first;
  const failed = new Map(
    answers.flatMap((one, at) =>
      one.readable ? [] : (batches[at] ?? []).map((text) => [text, one.diagnostic] as const),
    ),
  );
  const left = new Set([...unasked].filter((text) => !values.has(text)));
  return {
    readable: true,
    values,
    ...(left.size === 0 ? {} : { unasked: left }),
    ...(failed.size === 0 ? {} : { failed }),
  };
}

async function listed(
  provider: Provider,
  reader: Reader,
  texts: readonly string[],
  byName: boolean,
): Promise<LookupAnswer> {
  const scope = byName ? { names: new Set(texts) } : { names: new Set<string>(), ids: new Set(texts) };
  try {
    const objects = await provider.operations.list(reader, { parents: [], ...scope });
    return { readable: true, values: new Set<string>(objects.map((one) => (byName ? one.name : one.id))) };
  } catch (failure) {
    return { readable: false, diagnostic: failureDiagnostic(failure) };
  }
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
