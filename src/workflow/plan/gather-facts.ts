// Gathers the facts that a plan requests, each read at most once: also the caller, who is cached per credential.

import { principalOf } from "../../api/auth/credential.ts";
import type { Reader } from "../../api/contract/reader.ts";
import type { Settings } from "../../config/settings.ts";
import type { Address } from "../../core/address.ts";
import { keyedDigest } from "../../core/digest.ts";
import { defined } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import { Semaphore } from "../../engine/concurrency.ts";
import { type PlanDraft, requestsOf } from "../../planner/make-plan.ts";
import type { Update } from "../../planner/model/change.ts";
import type { ContentTexts, FactRequests, PlanFacts } from "../../planner/model/input.ts";
import { catalogs, registry } from "../../providers/index.ts";
import type { Provider } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { JournalEntry, State } from "../../state/model/record.ts";
import { listActiveRuns } from "../operate/paging.ts";

interface CallerSources {
  readonly reader: Reader;
  readonly state: State;
  readonly settings: Settings;
  readonly key: Uint8Array;
  readonly writes: boolean;
}

interface FactSources extends CallerSources {
  readonly spec: Spec;
  /** Set for an untrusted spec, which must not learn anything about objects. */
  readonly budget?: unknown;
}

export interface GatheredFacts {
  readonly facts: PlanFacts;
  /** What a later run needs to know the caller without a request. */
  readonly callerEntries: readonly JournalEntry[];
}

/** The caller, if it is known without a request or needed anyway; otherwise, only a plan that depends on it requests it. */
export async function knownCallerFacts(from: CallerSources): Promise<GatheredFacts> {
  const nothing: GatheredFacts = { facts: {}, callerEntries: [] };
  return isCheap(from) ? withCaller(nothing, from) : nothing;
}

const isCheap = (from: CallerSources): boolean =>
  from.settings.user !== undefined || from.state.caller?.credential === credentialDigest(from) || from.writes;

/** `known`: facts that are known without a request, or that must not be read. */
export async function gatherFacts(
  draft: PlanDraft,
  gatheredFacts: GatheredFacts,
  from: FactSources,
): Promise<GatheredFacts> {
  const wasAsked = isCheap(from);
  const first = requestsOf(draft, gatheredFacts.facts);
  const isNew = first.caller && !wasAsked;
  const gathered = await withRequested(gatheredFacts, draft, { ...first, caller: isNew }, from);
  if (first.dependents.size === 0) return gathered;
  const then = requestsOf(draft, gathered.facts);
  return withRequested(gathered, draft, { ...then, caller: then.caller && !wasAsked && !isNew }, from);
}

async function withRequested(
  before: GatheredFacts,
  draft: PlanDraft,
  requests: FactRequests,
  from: FactSources,
): Promise<GatheredFacts> {
  const { reader, settings, spec } = from;
  const { parallelism } = settings;
  const { live } = draft.context.input;
  const { dependents: kinds, contents: changes, lookups: questions, principals: identities } = requests;
  // All end before the first failure is looked for, so that it is the first in order, whichever came first in time.
  const reads = [
    requests.caller ? withCaller(before, from) : before,
    kinds.size === 0 ? undefined : listObjects(kinds, reader, parallelism),
    changes.length === 0 ? undefined : contentsOf({ changes, spec, live, reader, parallelism }),
    questions.length === 0 ? undefined : answersTo(questions, reader, from.budget === undefined),
    requests.activeRuns ? listActiveRuns(reader) : undefined,
    identities.size === 0 ? undefined : listObjects(identities, reader, parallelism),
  ] as const;
  await Promise.allSettled(reads);
  const [{ facts, callerEntries }, dependents, contents, lookups, activeRuns, principals] =
    await Promise.all(reads);
  return {
    facts: { ...facts, ...defined({ dependents, contents, lookups, activeRuns, principals }) },
    callerEntries,
  };
}

async function withCaller(before: GatheredFacts, from: CallerSources): Promise<GatheredFacts> {
  const { reader, settings } = from;
  const { caller } = from.state;
  const credential = credentialDigest(from);
  const recorded = caller?.credential === credential ? caller?.name : undefined;
  const known = settings.user ?? recorded;
  const name = known ?? (await callerOf(reader));
  if (name === undefined) return before;
  const facts = { ...before.facts, caller: name };
  const isRecorded = known !== undefined || credential === undefined;
  return isRecorded ? { ...before, facts } : { facts, callerEntries: [{ type: "caller", name, credential }] };
}

/** Undefined for older services, which have no such call, and for callers that may not use it. */
async function callerOf(reader: Reader): Promise<string | undefined> {
  try {
    const { userName } = await reader.read("scim/me");
    return typeof userName === "string" && userName !== "" ? userName : undefined;
  } catch (failure) {
    if (failure instanceof Refused) return undefined;
    throw failure;
  }
}

/** A digest that identifies the credential; undefined if the caller can change without the credential. */
function credentialDigest({ key, settings: { endpoint: place } }: CallerSources): string | undefined {
  const { credential } = place.embedded ? {} : place;
  if (credential === undefined) return keyedDigest(key, place.identity);
  const principal = credential.method === "pat" ? credential.token : principalOf(credential);
  return principal === undefined ? undefined : keyedDigest(key, principal);
}

/** Lists of kinds that the spec need not know: what the plan's deletes do to others, and who is in a group. */
async function listObjects(kinds: ReadonlySet<string>, reader: Reader, parallelism: number) {
  const { listKinds } = await import("../../engine/observe/list-kinds.ts");
  return listKinds({ registry, reader, kinds, parallelism, closer: false });
}

async function answersTo(questions: FactRequests["lookups"], reader: Reader, objects: boolean) {
  const { lookUp } = await import("../../engine/observe/list-kinds.ts");
  return lookUp({ questions, registry, catalogs, reader, objects });
}

/** Larger contents are shown by size and digest. */
const MOST_BYTES = 256 * 1024;

interface ContentsInput {
  readonly changes: FactRequests["contents"];
  readonly spec: Spec;
  readonly live: Live;
  readonly reader: Reader;
  readonly parallelism: number;
}

/** A content of a new object that is larger, or that comes after so many bytes of others, is shown by its digest. */
const LARGEST_NEW_TEXT = 64 * 1024;
const MOST_NEW_TEXT = 1024 * 1024;

/** The new contents of changes, and the live ones of updates, with limits on size and concurrency. */
async function contentsOf(input: ContentsInput): Promise<ReadonlyMap<Address, ContentTexts>> {
  const slots = new Semaphore(input.parallelism);
  const updates = input.changes.filter((change) => change.action === "update");
  const reads = updates.map(async (change) => {
    const both = await slots.inside(() => textsOf(input, change));
    return both === undefined ? [] : [[change.address, both] as const];
  });
  await Promise.allSettled(reads);
  return new Map([...newTexts(input), ...(await Promise.all(reads)).flat()]);
}

function* newTexts({ changes, spec }: ContentsInput): Generator<readonly [Address, ContentTexts]> {
  let left = MOST_NEW_TEXT;
  for (const change of changes) {
    const payload = spec.resources.get(change.address)?.payload;
    if (change.action !== "create" || payload === undefined || payload.secret !== undefined) continue;
    const bytes = payload.bytes();
    if (bytes.length > LARGEST_NEW_TEXT) continue;
    if (bytes.length > left) return;
    const after = registry.get(change.kind).planning.content?.text?.(bytes, change.after);
    if (after === undefined) continue;
    left -= bytes.length;
    yield [change.address, { before: "", after }];
  }
}

async function textsOf(input: ContentsInput, change: Update): Promise<ContentTexts | undefined> {
  const provider = registry.get(change.kind);
  const payload = input.spec.resources.get(change.address)?.payload;
  const liveKind = input.live.get(change.kind);
  const live =
    liveKind?.readable === true
      ? liveKind.objects.find((liveObject) => liveObject.id === change.id)
      : undefined;
  if (payload === undefined || live === undefined || payload.secret !== undefined) return undefined;
  const bytes = payload.bytes();
  const after =
    bytes.length > MOST_BYTES ? undefined : provider.planning.content?.text?.(bytes, change.after);
  const before = after === undefined ? undefined : await liveText(input.reader, provider, live);
  return before === undefined || after === undefined ? undefined : { before, after };
}

async function liveText(reader: Reader, provider: Provider, live: LiveObject): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of provider.operations.readContent?.(reader, live) ?? []) {
    size += piece.length;
    if (size > MOST_BYTES) return undefined;
    pieces.push(piece);
  }
  return provider.planning.content?.text?.(Buffer.concat(pieces), live.values);
}
