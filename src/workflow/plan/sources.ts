// Where a plan gets its objects and facts: from the workspace, or from the records of the state.

import type { Code } from "../../core/codes.ts";
import { Failure } from "../../core/diagnostic.ts";
import { observe } from "../../engine/observe/observe.ts";
import { type Budget, budgetedReader, emptyLiveSnapshot } from "../../engine/observe/readers.ts";
import { type Recovered, recover } from "../../engine/recover/recover.ts";
import type { PlanDraft } from "../../planner/make-plan.ts";
import { recordedLive } from "../../planner/mode/offline.ts";
import { addressByObject } from "../../planner/model/context.ts";
import type { LookupAnswer, Lookups, PlanInput } from "../../planner/model/input.ts";
import { catalogs, registry } from "../../providers/index.ts";
import { planningRegistryIn } from "../../resource/dialect-view.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";
import type { Invocation } from "../invocation/invocation.ts";
import type { Session } from "../session/session.ts";
import { restrictionOf } from "./address-filter.ts";
import { type GatheredFacts, gatherFacts, knownCallerFacts } from "./gather-facts.ts";
import { withImports } from "./record-entries.ts";

export interface PlanOptions {
  readonly adopt?: boolean;
  readonly allowDuplicates?: boolean;
  readonly destroy?: boolean;
  readonly only?: readonly string[];
  readonly exclude?: readonly string[];
  /** Whether the state will be written; if so, the caller is identified once and recorded for later runs. */
  readonly writes?: boolean;
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
  nodeTypes(lookups: Lookups | undefined): Promise<LookupAnswer | undefined>;
  /** Throws Failure with PLAN_BUDGET. */
  assertWithinBudget(): void;
}

export async function workspaceSource(
  session: Session,
  state: State,
  options: PlanOptions,
): Promise<PlanSource> {
  const { connection, settings, key, spec, base, invocation, clock } = session;
  const { destroy, budget, adopt = false, writes = false, only = [], exclude = [] } = options;
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
  const facts = { reader, state, settings, key, writes, spec, budget };
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
  const caller = invocation.user ?? state.caller?.name;
  const nothing = {
    contents: new Map(),
    dependents: new Map(),
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
