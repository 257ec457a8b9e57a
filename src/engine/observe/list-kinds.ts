// Reads all objects of some kinds, managed or not, as the basis of an export, and looks up the names that a plan must confirm.

import type { Reader } from "../../api/contract/reader.ts";
import { defined, type Json } from "../../core/json.ts";
import { failureDiagnostic } from "../../core/request-failure.ts";
import type { Lookup, LookupAnswer, LookupAnswers } from "../../planner/model/input.ts";
import { transitiveClosure } from "../../planner/order/graph.ts";
import type { Catalog, Catalogs } from "../../resource/compute.ts";
import { identifyingFields, type Values } from "../../resource/field-schema.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { folderOf, kindsNamedBy } from "../../resource/names.ts";
import { memoizedReader, type ReadKindsInput, readKinds } from "./observe.ts";

export interface ListKindsInput extends ReadKindsInput {
  readonly kinds: ReadonlySet<string>;
  /** False if lists contain enough. */
  readonly closer?: false;
  /**
   * Reads only lists, and the access lists of the objects for which it is true; also the members of such parents only. `names`:
   * the objects to list of a tree; absent for all.
   */
  readonly access?: {
    readonly isWanted: (kind: string, object: LiveObject) => boolean;
    readonly names?: ReadonlySet<string>;
    /** The recorded IDs of a kind, whose objects are listed also if the service leaves them out, as inactive users. */
    readonly ids?: (kind: string) => ReadonlySet<string>;
  };
}

/** A kind or parent that could not be read is included with the reason. */
export function listKinds(from: ListKindsInput): Promise<Live> {
  const { registry, access, closer } = from;
  const reader = memoizedReader(from.reader);
  // The parents of the objects, and the kinds that their fields refer to.
  const needed = transitiveClosure(from.kinds, (kind) => {
    const { nested, fields } = registry.get(kind);
    return [...(nested === undefined ? [] : [nested.kind]), ...kindsNamedBy(fields)];
  });
  return readKinds(
    { ...from, reader },
    {
      kinds: registry.kinds.filter((provider) => needed.has(provider.kind)),
      scopeOf: ({ kind, tree }) => ({
        names: (tree === undefined ? undefined : access?.names) ?? new Set(),
        ...defined({ ids: access?.ids?.(kind) }),
      }),
      hasMembers: (kind, parent) => access?.isWanted(kind, parent) !== false,
      async detailed(provider, object, inSlot) {
        const { readAccess, readContent, readDetails } = provider.operations;
        if (access !== undefined)
          return readAccess !== undefined && access.isWanted(provider.kind, object)
            ? inSlot(() => readAccess(reader, object, true))
            : object;
        if (closer === false) return object;
        // Contents are read when they are written to files, not here.
        const details =
          readDetails === undefined || readContent !== undefined
            ? object
            : await inSlot(() => readDetails(reader, object, unlikeDefaults(provider)));
        const hasAccess = Object.values(provider.fields).some(({ separateRequest }) => separateRequest);
        return readAccess !== undefined && hasAccess ? inSlot(() => readAccess(reader, details)) : details;
      },
    },
  );
}

/** Sets every flag to the opposite of its default, and lists with requests of their own, so that kinds that read details only on demand read everything. */
function unlikeDefaults(provider: Provider): Values {
  return Object.fromEntries(
    Object.entries(provider.fields).flatMap(([name, field]): readonly (readonly [string, Json])[] => {
      if (typeof field.default === "boolean") return [[name, field.default === false]];
      return field.separateRequest === true && field.items !== undefined ? [[name, []]] : [];
    }),
  );
}

interface LookUpInput {
  readonly lookups: readonly Lookup[];
  readonly registry: Registry;
  readonly catalogs: Catalogs;
  readonly reader: Reader;
  /** False for an untrusted spec: it may not find out which objects the workspace has. */
  readonly objects: boolean;
}

/** Maximum number of folders and unlisted IDs to request; the others stay unchecked. */
const MOST = 20;

export async function lookUp({
  lookups,
  registry,
  catalogs,
  reader,
  objects,
}: LookUpInput): Promise<LookupAnswers> {
  const ofCatalogs = new Map<string, Promise<LookupAnswer>>();
  const wanted = new Map<string, Set<string>>();
  for (const { source, text } of lookups) {
    if (source.in === "catalog") {
      if (!ofCatalogs.has(source.of)) ofCatalogs.set(source.of, offered(catalogs[source.of], reader));
    } else if (objects) wanted.set(source.of, (wanted.get(source.of) ?? new Set()).add(text));
  }
  const ofKinds = new Map(
    [...wanted].map(([kind, texts]) => {
      const searched = new Set(lookups.flatMap(({ source }) => (source.of === kind ? [source.in] : [])));
      const provider = registry.get(kind);
      if (searched.has("principals")) return [kind, principalsOf(provider, reader)] as const;
      return [kind, there(provider, reader, [...texts].sort(), searched.has("names"))] as const;
    }),
  );
  return { catalogs: await settled(ofCatalogs), kinds: await settled(ofKinds) };
}

async function settled(
  answers: ReadonlyMap<string, Promise<LookupAnswer>>,
): Promise<LookupAnswers["catalogs"]> {
  return new Map(await Promise.all([...answers].map(async ([of, answer]) => [of, await answer] as const)));
}

export async function offered(
  { singular, operation, values, sizes }: Catalog,
  reader: Reader,
): Promise<LookupAnswer> {
  const head = { singular, operation };
  try {
    const answer = await reader.read(operation);
    return { ...head, readable: true, values: new Set(values(answer)), sizes: sizes?.(answer) };
  } catch (failure) {
    return { ...head, readable: false, diagnostic: failureDiagnostic(failure) };
  }
}

/** The answer with these values, or why they could not be read. */
async function answered(values: () => Promise<Iterable<string>>): Promise<LookupAnswer> {
  try {
    return { readable: true, values: new Set(await values()) };
  } catch (failure) {
    return { readable: false, diagnostic: failureDiagnostic(failure) };
  }
}

/** All principals of a kind, by their names and by the IDs that lists use. */
function principalsOf({ operations, fields }: Provider, reader: Reader): Promise<LookupAnswer> {
  const identifying = identifyingFields(fields);
  return answered(async () => {
    const objects = await operations.list(reader, { parents: [], names: new Set() });
    return objects.flatMap(({ name, values }) => [
      name,
      ...identifying.map((field) => String(values[field] ?? "")),
    ]);
  });
}

async function there(
  provider: Provider,
  reader: Reader,
  texts: readonly string[],
  byName: boolean,
): Promise<LookupAnswer> {
  const groupOf = (text: string): string => (byName ? folderOf(text) : text);
  const asked = new Set([...new Set(texts.map(groupOf))].slice(0, MOST));
  const inBounds = texts.filter((text) => asked.has(groupOf(text)));
  // Folder by folder, so that an unreadable folder does not affect the others.
  const batches = byName ? [...Map.groupBy(inBounds, folderOf).values()] : [inBounds];
  const answers = await Promise.all(batches.map((batch) => listedNames(provider, reader, batch, byName)));
  const values = new Set(answers.flatMap((answer) => (answer.readable ? [...answer.values] : [])));
  const failures = answers.flatMap((answer) => (answer.readable ? [] : [answer]));
  const [first] = failures;
  if (first !== undefined && failures.length === answers.length) return first;
  const failed = new Map(
    answers.flatMap((answer, at) =>
      answer.readable ? [] : (batches[at] ?? []).map((text) => [text, answer.diagnostic] as const),
    ),
  );
  const unasked = new Set(texts.filter((text) => !asked.has(groupOf(text)) && !values.has(text)));
  return {
    readable: true,
    values,
    ...(unasked.size === 0 ? {} : { unasked }),
    ...(failed.size === 0 ? {} : { failed }),
  };
}

function listedNames(
  provider: Provider,
  reader: Reader,
  texts: readonly string[],
  byName: boolean,
): Promise<LookupAnswer> {
  const scope = byName ? { names: new Set(texts) } : { names: new Set<string>(), ids: new Set(texts) };
  return answered(async () => {
    const objects = await provider.operations.list(reader, { parents: [], ...scope });
    return objects.map((liveObject) => (byName ? liveObject.name : liveObject.id));
  });
}
