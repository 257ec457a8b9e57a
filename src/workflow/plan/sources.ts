// Where a plan gets its objects and facts: from the workspace, or from the records of the state.

import { principalOf } from "../../api/auth/credential.ts";
import { callerIfReported } from "../../api/contract/caller.ts";
import type { Reader } from "../../api/contract/reader.ts";
import type { Settings } from "../../config/settings.ts";
import type { Code } from "../../core/codes.ts";
import { Failure } from "../../core/diagnostic.ts";
import { keyedDigest } from "../../core/digest.ts";
import { defined } from "../../core/json.ts";
import { type Budget, budgetedReader, emptyLiveSnapshot, observe } from "../../engine/observe/observe.ts";
import { type Recovered, recover } from "../../engine/recover/recover.ts";
import { missingFacts, type PlanDraft } from "../../planner/make-plan.ts";
import { recordedLive } from "../../planner/mode/offline.ts";
import { addressByObject } from "../../planner/model/context.ts";
import type {
  LookupAnswer,
  LookupAnswers,
  MissingFacts,
  PlanFacts,
  PlanInput,
} from "../../planner/model/input.ts";
import type { PlanSelection } from "../../planner/plan-file.ts";
import { catalogs, registry } from "../../providers/index.ts";
import { planningRegistryIn } from "../../resource/dialect-view.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { JournalEntry, State } from "../../state/model/record.ts";
import type { Invocation } from "../invocation/invocation.ts";
import { listActiveRuns } from "../operate/paging.ts";
import type { Session } from "../session/session.ts";
import { restrictionOf } from "./address-filter.ts";
import { contentTexts } from "./content-texts.ts";
import { withImports } from "./record-entries.ts";

export interface PlanOptions extends PlanSelection {
  /** The state will be written, so the caller is identified once and recorded for later runs. */
  readonly recordsCaller?: boolean;
  /** Secrets without a value count as unchanged; else the spec has them all. */
  readonly mayLackSecrets?: boolean;
  /** For a plan of an untrusted spec: how much of the workspace it may have read. */
  readonly budget?: Budget;
  readonly checksRules?: boolean;
}

export interface PlanSource {
  readonly host: string;
  /** Only the recorded objects are known. */
  readonly isOffline: boolean;
  callerFacts(): Promise<GatheredFacts>;
  /** `recorded`: the state under the addresses of the spec. Throws Failure if nothing can be read. */
  observe(spec: Spec, recorded: State): Promise<Live>;
  /** Finds out what an interrupted run left open. */
  recover(state: State, observed: Live): Recovered;
  /** The objects that the plan is compared with. */
  objects(observed: Live, state: State): Live;
  /** The same for the plan of a base: no object is read twice. */
  baseObjects(spec: Spec, only: PlanInput["only"], head: Live): Promise<Live>;
  gatherFacts(draft: PlanDraft, facts: GatheredFacts): Promise<GatheredFacts>;
  /** The machines of the workspace, which are not read twice; undefined offline. */
  nodeTypes(lookups: LookupAnswers | undefined): Promise<LookupAnswer | undefined>;
  /** Throws Failure with PLAN_BUDGET. */
  assertWithinBudget(): void;
}

export async function workspaceSource(
  session: Session,
  state: State,
  options: PlanOptions,
): Promise<PlanSource> {
  const { connection, settings, key, spec, base, invocation, clock } = session;
  const { destroy, budget, adopt = false, recordsCaller = false, only = [], exclude = [] } = options;
  const { parallelism } = settings;
  const progress = await invocation.observer.begin();
  const budgeted = budget === undefined ? undefined : budgetedReader(connection.reader, budget);
  const reader = budgeted?.reader ?? connection.reader;
  const restriction = restrictionOf(only, exclude);
  const snapshot = base === undefined ? undefined : emptyLiveSnapshot();
  const owned = invocation.untrusted ? addressByObject(state.records) : undefined;
  const scope = {
    registry,
    parallelism,
    snapshot,
    looksAt: owned && ((kind: string, { id }: { readonly id: string }) => owned.has(kind, id)),
  };
  const facts = { reader, state, settings, key, recordsCaller, spec, budget };
  return {
    host: connection.host,
    isOffline: false,
    callerFacts: () => knownCallerFacts(facts),
    async observe(desired, recorded) {
      const live = await observe({
        ...scope,
        reader,
        spec: desired,
        state: withImports(recorded, desired.stateEntries),
        destroy,
        restriction,
        onRead: (event) => progress.read(event),
      }).finally(() => progress.stop());
      assertReadable(live);
      return live;
    },
    recover: (revealed, live) => recover({ registry, state: revealed, live, now: clock.now(), adopt }),
    objects: (live) => live,
    baseObjects: (specBefore, only) =>
      observe({
        ...scope,
        reader: connection.reader,
        spec: specBefore,
        state,
        restriction: restriction && only && { ...restriction, only },
      }),
    gatherFacts: (draft, gathered) => gatherFacts(draft, gathered, facts),
    async nodeTypes(lookups) {
      const { offered } = await import("../../engine/observe/list-kinds.ts");
      return lookups?.catalogs.get("node_types") ?? offered(catalogs.node_types, reader);
    },
    assertWithinBudget() {
      // A kind whose read was stopped looks unreadable; the reason of the stop is more useful.
      const refusal = budgeted?.refusal();
      if (refusal !== undefined) throw new Failure(refusal);
    },
  };
}

export function recordedSource(invocation: Invocation, state: State, host: string): PlanSource {
  const caller = state.caller?.name ?? invocation.user;
  const nothing = {
    contents: new Map(),
    dependentsOfDeleted: new Map(),
    lookups: { catalogs: new Map(), kinds: new Map() },
    principals: new Map(),
  };
  return {
    host,
    isOffline: true,
    callerFacts: async () => ({ facts: { caller }, callerEntries: [] }),
    observe: async () => new Map(),
    recover: (revealed) => ({ state: revealed, entries: [], diagnostics: [] }),
    objects: (_, recorded) => recordedLive(planningRegistryIn(registry, invocation.dialect()), recorded),
    baseObjects: async (_spec, _only, head) => head,
    gatherFacts: async (_draft, gathered) => ({ ...gathered, facts: { ...gathered.facts, ...nothing } }),
    nodeTypes: async () => undefined,
    assertWithinBudget: () => undefined,
  };
}

/** A workspace that cannot be read at all is reported once, not for each kind. */
function assertReadable(live: Live): void {
  const kinds = [...live.values()];
  const [first] = kinds;
  if (first === undefined || first.readable || kinds.some((kind) => kind.readable)) return;
  if (WHOLLY.has(first.diagnostic.code)) throw new Failure(first.diagnostic);
}

const WHOLLY: ReadonlySet<Code> = new Set([
  "API_UNREACHABLE",
  "API_UNAUTHENTICATED",
  "API_PROTOCOL",
  "API_REDIRECT",
  "API_TIMEOUT",
  "CLI_FILE",
]);

interface CallerSources {
  readonly reader: Reader;
  readonly state: State;
  readonly settings: Settings;
  readonly key: Uint8Array;
  readonly recordsCaller: boolean;
}

interface FactSources extends CallerSources {
  readonly spec: Spec;
  /** Set for an untrusted spec, which must not learn anything about objects. */
  readonly budget?: unknown;
}

interface GatheredFacts {
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
  from.state.caller?.credential === credentialDigest(from) || from.recordsCaller;

/** Adds what the draft needs to `gatheredFacts`: those that are known without a request, or that must not be read. */
export async function gatherFacts(
  draft: PlanDraft,
  gatheredFacts: GatheredFacts,
  from: FactSources,
): Promise<GatheredFacts> {
  const wasAsked = isCheap(from);
  const first = missingFacts(draft, gatheredFacts.facts);
  const isNew = first.caller && !wasAsked;
  const gathered = await withMissing(gatheredFacts, draft, { ...first, caller: isNew }, from);
  if (first.dependentsOfDeleted.size === 0) return gathered;
  const then = missingFacts(draft, gathered.facts);
  return withMissing(gathered, draft, { ...then, caller: then.caller && !wasAsked && !isNew }, from);
}

async function withMissing(
  before: GatheredFacts,
  draft: PlanDraft,
  missing: MissingFacts,
  from: FactSources,
): Promise<GatheredFacts> {
  const { reader, settings, spec } = from;
  const { parallelism } = settings;
  const { live } = draft.context.input;
  const { dependentsOfDeleted: kinds, contents: changes, lookups: values, principals: identities } = missing;
  // All end before the first failure is looked for, so that it is the first in order, whichever came first in time.
  const reads = [
    missing.caller ? withCaller(before, from) : before,
    kinds.size === 0 ? undefined : listObjects(kinds, reader, parallelism),
    changes.length === 0 ? undefined : contentTexts({ changes, spec, live, reader, parallelism }),
    values.length === 0 ? undefined : answersTo(values, reader, from.budget === undefined),
    missing.activeRuns ? listActiveRuns(reader) : undefined,
    identities.size === 0 ? undefined : listObjects(identities, reader, parallelism),
  ] as const;
  await Promise.allSettled(reads);
  const [{ facts, callerEntries }, dependentsOfDeleted, contents, lookups, activeRuns, principals] =
    await Promise.all(reads);
  return {
    facts: { ...facts, ...defined({ dependentsOfDeleted, contents, lookups, activeRuns, principals }) },
    callerEntries,
  };
}

async function withCaller(before: GatheredFacts, from: CallerSources): Promise<GatheredFacts> {
  const { reader, settings } = from;
  const { caller } = from.state;
  const credential = credentialDigest(from);
  const recorded = caller?.credential === credential ? caller?.name : undefined;
  const reported = recorded ?? (await callerIfReported(reader));
  // What the environment says never replaces the answer of the service: guards rest on it.
  const name = reported ?? settings.user;
  if (name === undefined) return before;
  const facts = { ...before.facts, caller: name };
  const isNew = reported !== undefined && recorded === undefined && credential !== undefined;
  return isNew ? { facts, callerEntries: [{ type: "caller", name, credential }] } : { ...before, facts };
}

/** A digest that identifies the credential; undefined if the caller can change without the credential. */
function credentialDigest({ key, settings: { endpoint } }: CallerSources): string | undefined {
  const { credential } = endpoint.embedded ? {} : endpoint;
  if (credential === undefined) return keyedDigest(key, endpoint.identity);
  const principal = credential.method === "pat" ? credential.token : principalOf(credential);
  return principal === undefined ? undefined : keyedDigest(key, principal);
}

/** Lists of kinds that the spec need not know: what the plan's deletes do to others, and who is in a group. */
async function listObjects(kinds: ReadonlySet<string>, reader: Reader, parallelism: number) {
  const { listKinds } = await import("../../engine/observe/list-kinds.ts");
  return listKinds({ registry, reader, kinds, parallelism, closer: false });
}

async function answersTo(lookups: MissingFacts["lookups"], reader: Reader, objects: boolean) {
  const { lookUp } = await import("../../engine/observe/list-kinds.ts");
  return lookUp({ lookups, registry, catalogs, reader, objects });
}
