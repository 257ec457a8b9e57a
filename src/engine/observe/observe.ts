// Reads the live state: one list per kind in use, and one per managed parent of a nested kind. One reader asks for shared lists once, and one stops at a
// limit, so that an untrusted spec cannot cause unlimited reads.

import type { Reader } from "../../api/contract/reader.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import { defined, type JsonObject } from "../../core/json.ts";
import { failureDiagnostic, isMissing } from "../../core/request-failure.ts";
import type { ReadEvent } from "../../planner/model/plan.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import type { Live, LiveKind, LiveObject, OtherObject } from "../../resource/live.ts";
import { kindsNamedBy, translateNames, withoutNames } from "../../resource/names.ts";
import type { ListScope } from "../../resource/operations.ts";
import { Semaphore } from "../concurrency.ts";
import { createNameIndex, manageablePart, type NameIndex } from "../name-index.ts";
import { detailsContexts } from "./details-context.ts";
import { type KnownNames, type Needing, observeScope } from "./needed-kinds.ts";

/** Kinds that the resources of a restriction do not need are absent from the answer. */
interface ObserveInput extends Needing, ReadKindsInput {
  /** Whether more than a list tells may be read about an object; without it about all that spec or state know. */
  readonly looksAt?: (kind: string, object: LiveObject) => boolean;
  /** Cache: kinds in it are not read again, and new reads are added to it. */
  readonly snapshot?: LiveSnapshot;
}

/** A kind or parent whose list fails is unreadable, with the reason; it never counts as empty. */
export function observe(input: ObserveInput): Promise<Live> {
  const scope = observeScope(input);
  const contextOf = detailsContexts(input.state);
  const reader = memoizedReader(input.reader, input.snapshot?.answers, input.snapshot !== undefined);
  return readKinds(
    { ...input, reader },
    {
      kinds: scope.kinds,
      // Without a known path, the list would be the whole tree.
      scopeOf: ({ kind, tree }) => {
        const knownNames = scope.namesOf(kind);
        return tree !== undefined && knownNames.names.size === 0 ? undefined : knownNames;
      },
      hasMembers: (kind, parent) => scope.namesOf(kind).has(parent),
      detailed: (provider, object, inSlot) =>
        hydrated({ ...input, contextOf }, reader, provider, scope.namesOf(provider.kind), object, inSlot),
    },
  );
}

export interface ReadKindsInput {
  readonly registry: Registry;
  readonly reader: Reader;
  readonly parallelism: number;
  readonly onRead?: (event: ReadEvent) => void;
}

/** Waits for a free slot, for one request. */
type InSlot = <T>(read: () => Promise<T>) => Promise<T>;

interface ReadRules {
  readonly kinds: readonly Provider[];
  /** The names and IDs that the list of a kind is for; undefined if there is nothing to list. */
  scopeOf(provider: Provider): Pick<ListScope, "names" | "ids"> | undefined;
  hasMembers(kind: string, parent: LiveObject): boolean;
  /** More about an object than its list tells; undefined if it was deleted since. */
  detailed(
    provider: Provider,
    object: LiveObject,
    inSlot: InSlot,
  ): Promise<LiveObject | undefined> | LiveObject;
}

/** Reads each kind once; members wait for their parents. A kind or parent that could not be read is included with the reason. */
export async function readKinds(input: ReadKindsInput, rules: ReadRules): Promise<Live> {
  const { registry, reader, onRead } = input;
  const slots = new Semaphore(input.parallelism);
  const listed = (provider: Provider, parents: readonly string[]): Promise<Listed> =>
    listObjectsOf(provider, parents, { reader, rules, inSlot: (read) => slots.inside(read) });
  const reading = new Map<string, Promise<LiveKind>>();
  let done = 0;

  const kindOnce = (provider: Provider): Promise<LiveKind> => {
    const earlier = reading.get(provider.kind);
    if (earlier !== undefined) return earlier;
    const kind = readKind(provider).then((liveKind) => {
      done += 1;
      const objects = liveKind.readable ? { objects: liveKind.objects.length } : {};
      onRead?.({ type: "read", kind: provider.kind, ...objects, done, total: rules.kinds.length });
      return liveKind;
    });
    // Failures other than answers of the service reach the caller with the kind.
    kind.catch(() => undefined);
    reading.set(provider.kind, kind);
    return kind;
  };

  const readKind = async (provider: Provider): Promise<LiveKind> => {
    const { nested } = provider;
    if (nested === undefined) {
      const list = await listed(provider, []);
      return "objects" in list
        ? { readable: true, ...list, unreadableParents: new Map() }
        : { readable: false, diagnostic: list.diagnostic };
    }
    const parents = await kindOnce(registry.get(nested.kind));
    if (!parents.readable) return parents;
    const objects: LiveObject[] = [];
    const unreadableParents = new Map<string, Diagnostic>();
    const holders = parents.objects.filter((parent) => rules.hasMembers(nested.kind, parent));
    const lists = await Promise.all(
      holders.map(async ({ name }) => ({ name, list: await listed(provider, [name]) })),
    );
    for (const { name, list } of lists)
      if ("objects" in list) objects.push(...list.objects);
      else unreadableParents.set(name, list.diagnostic);
    return { readable: true, objects, unreadableParents };
  };

  const liveKinds: (readonly [string, LiveKind])[] = [];
  for (const provider of rules.kinds) kindOnce(provider);
  for (const provider of rules.kinds) liveKinds.push([provider.kind, await kindOnce(provider)]);
  return withNames(registry, new Map(liveKinds));
}

interface Listing {
  readonly reader: Reader;
  readonly rules: ReadRules;
  readonly inSlot: InSlot;
}

/** One list, with the details of its objects. */
async function listObjectsOf(
  provider: Provider,
  parents: readonly string[],
  { reader, rules, inSlot }: Listing,
): Promise<Listed> {
  const scope = rules.scopeOf(provider);
  if (scope === undefined) return { objects: [] };
  const others = new Map<string, OtherObject>();
  const onOther = (name: string, other: OtherObject): unknown => others.set(name, other);
  try {
    const list = await inSlot(() => provider.operations.list(reader, listScope(parents, scope, onOther)));
    const objects = await Promise.all(list.map((object) => rules.detailed(provider, object, inSlot)));
    return {
      objects: objects.filter((object) => object !== undefined),
      ...(others.size > 0 ? { others } : {}),
    };
  } catch (failure) {
    return { diagnostic: failureDiagnostic(failure) };
  }
}

type Listed =
  | Pick<Extract<LiveKind, { readonly readable: true }>, "objects" | "others">
  | { readonly diagnostic: Diagnostic };

/** Names and IDs are collected only for kinds whose lists need them. */
function listScope(
  parents: readonly string[],
  scope: Pick<ListScope, "names" | "ids">,
  onOther: NonNullable<ListScope["onOther"]>,
): ListScope {
  return {
    parents,
    onOther,
    get names() {
      return scope.names;
    },
    get ids() {
      return scope.ids ?? new Set<string>();
    },
  };
}

/** An object with details, if it is in the spec or the state, or of a kind whose undeclared objects are deleted. */
async function hydrated(
  input: ObserveInput & { readonly contextOf: ReturnType<typeof detailsContexts> },
  reader: Reader,
  provider: Provider,
  knownNames: KnownNames,
  object: LiveObject,
  inSlot: InSlot,
): Promise<LiveObject | undefined> {
  const { readDetails } = provider.operations;
  if (readDetails === undefined) return object;
  const { spec, destroy, looksAt, snapshot } = input;
  // Each deletion rests on all that was read about its object.
  const isAuthoritative = destroy !== true && spec?.policy.authoritative.includes(provider.kind) === true;
  if (!knownNames.has(object) && !isAuthoritative) return object;
  if (looksAt?.(provider.kind, object) === false) return object;
  try {
    const desired = knownNames.desiredOf(object);
    const context = input.contextOf(provider.kind, object.id);
    return await inSlot(async () => {
      if (provider.planning.content?.text === undefined || snapshot === undefined)
        return readDetails(reader, object, desired, context);
      // Once for every plan of a snapshot. A digest of the content does not depend on the spec, but an access list has its names.
      const key = `${provider.kind}\n${object.id}\n${canonicalJson([desired?.access ?? null, context.creators ?? [], context.recorded?.access ?? null])}`;
      const details = snapshot.objects.get(key) ?? readDetails(input.reader, object, desired, context);
      snapshot.objects.set(key, details);
      return details;
    });
  } catch (failure) {
    // It was deleted between the list and this read.
    if (isMissing(failure)) return undefined;
    throw failure;
  }
}

/** Replaces IDs in `names` fields with names. A kind that refers to an unreadable kind is unreadable; names of one not requested are omitted. */
function withNames(registry: Registry, live: Live): Live {
  const names = createNameIndex(registry, live);
  return new Map(
    [...live].map(([kind, liveKind]) => [
      kind,
      liveKind.readable ? named(registry.get(kind), liveKind, live, names) : liveKind,
    ]),
  );
}

function named(
  provider: Provider,
  liveKind: Extract<LiveKind, { readonly readable: true }>,
  live: Live,
  names: NameIndex,
): LiveKind {
  const kinds = kindsNamedBy(provider.fields);
  if (kinds.size === 0) return liveKind;
  const unasked = new Set([...kinds].filter((kind) => !live.has(kind)));
  let missing: Diagnostic | undefined;
  const objects = liveKind.objects.map((object) => ({
    ...object,
    values: translateNames(
      provider.fields,
      withoutNames(provider.fields, manageablePart(provider.fields, object.values, names), unasked),
      (kind, id) => {
        const other = live.get(kind);
        if (other?.readable === false) missing ??= unreadableNames(provider, kind, other.diagnostic);
        return names.nameOf(kind, id);
      },
    ),
  }));
  return missing === undefined ? { ...liveKind, objects } : { readable: false, diagnostic: missing };
}

function unreadableNames(provider: Provider, kind: string, reason: Diagnostic): Diagnostic {
  const message = `${provider.kind} refer to ${kind}, which could not be read: ${reason.message}`;
  return error(reason.code, message, defined({ hint: reason.hint }));
}

/** Answers read for one plan, for reuse by another. Contents are stored as digests of objects, not as bytes. */
interface LiveSnapshot {
  /** By operation and input. */
  readonly answers: Map<string, Promise<JsonObject>>;
  /** By kind and id. */
  readonly objects: Map<string, Promise<LiveObject>>;
}

export function emptyLiveSnapshot(): LiveSnapshot {
  return { answers: new Map(), objects: new Map() };
}

/** Operations that answer for all objects of a kind. */
const isList = (operation: string): boolean =>
  operation.endsWith("/list") || operation === "libraries/all-cluster-statuses";

/** Caches lists only, because contents are large and read once. Callers share an answer, so they must not modify it. */
export function memoizedReader(
  reader: Reader,
  asked: LiveSnapshot["answers"] = new Map(),
  all = false,
): Reader {
  return {
    read: (operation, input) => {
      if (!all && !isList(operation)) return reader.read(operation, input);
      const key = `${operation}\n${canonicalJson(input ?? {})}`;
      const answer = asked.get(key) ?? reader.read(operation, input);
      asked.set(key, answer);
      return answer;
    },
  };
}

export interface Budget {
  /** Requests of the plan; a list that takes several pages counts as one. */
  readonly reads: number;
  /** Characters of all answers together. */
  readonly characters: number;
}

interface Budgeted {
  readonly reader: Reader;
  /** The reason why reading stopped; undefined while it continues. */
  refusal(): Diagnostic | undefined;
}

/** Once the budget is spent every further read fails, before a request is sent. */
export function budgetedReader(reader: Reader, budget: Budget): Budgeted {
  let reads = 0;
  let characters = 0;
  const refusal = (): Diagnostic | undefined => {
    if (reads > budget.reads) return spent(`needs more than ${budget.reads} reads of the workspace`);
    if (characters > budget.characters)
      return spent(`makes the workspace send more than ${budget.characters} characters`);
    return undefined;
  };
  const check = (): void => {
    const refused = refusal();
    if (refused !== undefined) throw new Failure(refused);
  };
  return {
    refusal,
    reader: {
      async read(operation, input) {
        check();
        reads += 1;
        check();
        const answer = await reader.read(operation, input);
        characters += stringifyJson(answer).length;
        check();
        return answer;
      },
    },
  };
}

function spent(what: string): Diagnostic {
  return error("PLAN_BUDGET", `a plan of this untrusted spec ${what}`, {
    hint: "review the spec; to allow it, raise the limit with --max-reads",
  });
}
