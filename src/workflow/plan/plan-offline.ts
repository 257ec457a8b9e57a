// Plans without network access: compares the spec with the recorded state.

import { fromEnv } from "../../config/environment.ts";
import { EMBEDDED, identityOf } from "../../config/settings.ts";
import { type Diagnostic, hasErrors } from "../../core/diagnostic.ts";
import { keyedDigest } from "../../core/digest.ts";
import { moveRecords } from "../../engine/recover/recover.ts";
import { auditPlan } from "../../planner/audit.ts";
import { draftPlan, finishPlan } from "../../planner/make-plan.ts";
import { offlineNotes, recordedLive } from "../../planner/mode/offline.ts";
import { markUntrusted, withRecordedSecrets, withSaltedDigests } from "../../planner/mode/untrusted.ts";
import type { PlanFacts, PlanInput } from "../../planner/model/input.ts";
import type { Mode, Plan } from "../../planner/model/plan.ts";
import { concealedPlan } from "../../planner/sensitive-plan.ts";
import { registry as everyKind } from "../../providers/index.ts";
import { planningRegistryIn } from "../../resource/dialect-view.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";
import type { StateStore } from "../../state/model/store.ts";
import { assertInCheckout } from "../invocation/checkout.ts";
import type { Invocation } from "../invocation/invocation.ts";
import { assertExpectedHost } from "../invocation/target.ts";
import { checkRules } from "../rules/check-rules.ts";
import { assertKnownKinds } from "../session/check-state.ts";
import { withState } from "../session/open-state.ts";
import { readSpec } from "../session/read-spec.ts";
import {
  assertSameHost,
  assertStateExists,
  ephemeralState,
  exposedState,
  otherTarget,
  untrustedState,
} from "../session/state-warnings.ts";
import { addressFilter } from "./address-filter.ts";
import { type BaseOptions, type BaseSpec, readBase } from "./base-spec.ts";
import { compareWithBase } from "./compare-base.ts";
import { placesIn } from "./located.ts";
import { importNotes } from "./record-entries.ts";
import { openSensitive, redaction, revealed, sensitivePlaces } from "./sensitive.ts";

export interface OfflineOptions extends BaseOptions {
  readonly only: readonly string[];
  readonly destroy: boolean;
}

export interface OfflinePlan {
  readonly plan: Plan;
  readonly places: ReturnType<typeof placesIn>;
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
}

/** Needs neither host nor token; a host that is named must be the state's. */
export function planOffline(invocation: Invocation, options: OfflineOptions): Promise<OfflinePlan> {
  if (invocation.untrusted) assertInCheckout(invocation, invocation.file);
  return withState(invocation, (store) => planOn(store, invocation, options));
}

async function planOn(
  store: StateStore,
  invocation: Invocation,
  options: OfflineOptions,
): Promise<OfflinePlan> {
  const { untrusted } = invocation;
  const { state, diagnostics } = await store.read();
  if (hasErrors(diagnostics))
    return { plan: nothing(""), places: placesIn(new Map()), diagnostics, warnings: [] };
  if (options.destroy) assertStateExists(store, state, "nothing can be destroyed");
  const origin = untrusted ? untrustedState(invocation, state) : [];
  const host = namedHost(invocation);
  const doubts = ephemeralState(invocation, host === EMBEDDED, state);
  if (host !== undefined) assertExpectedHost(invocation.target().settings, host);
  if (host !== undefined) assertSameHost(state, host);
  assertKnownKinds(state.records.keys());
  const key = await store.key({ make: false });
  const keyed = (bytes: Uint8Array) => keyedDigest(key, bytes);
  const blind = options.destroy || untrusted;
  const read = await readSpec(invocation, {
    digest: blind ? undefined : keyed,
    mayLackSecrets: true,
  });
  const { spec, warnings } = read;
  const exposed = exposedState(invocation, spec, { digests: !blind });
  const base = await readBase(invocation, options, blind ? undefined : keyed);
  const begun = performance.now();
  const made = await planned(
    invocation,
    options,
    { spec, base, state, key },
    state.host || host || "offline",
  );
  const plan = await checkRules(made.plan, { spec, untrusted });
  const found = { ...made, plan };
  invocation.runObserver?.planned(found.plan, state, performance.now() - begun);
  return {
    plan: found.plan,
    places: placesIn(spec.resources),
    diagnostics: [
      ...diagnostics,
      ...origin,
      ...exposed,
      ...doubts,
      ...otherTarget(spec, state),
      ...found.diagnostics,
    ],
    warnings,
  };
}

interface Known {
  readonly spec: Spec;
  readonly base: BaseSpec | undefined;
  readonly state: State;
  readonly key: Uint8Array;
}

async function planned(
  invocation: Invocation,
  options: OfflineOptions,
  known: Known,
  host: string,
): Promise<Pick<OfflinePlan, "plan" | "diagnostics">> {
  const { spec, base, key } = known;
  const { untrusted } = invocation;
  const rules = { registry: everyKind, declared: spec.resources };
  const withMoves = (found: State) =>
    moveRecords(spec.stateEntries?.moved ?? [], { state: found, entries: [], diagnostics: [] }, rules);
  const recorded = withMoves(known.state).state;
  const baseSpec = typeof base?.spec === "object" ? base.spec : undefined;
  const states = [known.state, recorded] as const;
  const sensitive = openSensitive({ spec, base: baseSpec, states: [...states], key, untrusted });
  const { moved, state, diagnostics } = withMoves(
    revealed(sensitive, { spec, state: known.state, moved: recorded, live: new Map(), key, untrusted }),
  );
  const registry = planningRegistryIn(everyKind, invocation.dialect());
  const live = recordedLive(registry, state);
  const redact = untrusted
    ? redaction(registry, { state: recorded, before: known.state, live, key })
    : undefined;
  const shield = redact?.(spec, state, live);
  const caller = fromEnv(invocation, "WORKSPACE_USER") ?? state.caller?.name;
  const only = addressFilter(options.only, [...spec.resources.keys(), ...state.records.keys()]);
  const input: PlanInput & PlanFacts = {
    registry,
    host,
    spec: shield?.spec ?? (options.destroy ? spec : withRecordedSecrets({ registry, spec, state })),
    live: shield?.live ?? live,
    state: shield?.state ?? withSaltedDigests({ registry, spec, state }),
    moved,
    caller,
    only,
    ...sensitivePlaces(sensitive),
    partial: true,
    destroy: options.destroy,
    contents: new Map(),
    dependents: new Map(),
    lookups: { catalogs: new Map(), kinds: new Map() },
  };
  const draft = draftPlan(input);
  const plan = finishPlan(draft, input);
  const audit = auditPlan(plan, { ...input, ...draft.context.input });
  const modes: Mode[] = ["offline"];
  const noted = {
    ...plan,
    modes,
    diagnostics: [
      ...plan.diagnostics,
      ...diagnostics,
      ...offlineNotes(state),
      ...(options.destroy ? [] : importNotes(spec, state)),
    ],
  };
  const found: Plan =
    shield === undefined ? noted : { ...markUntrusted(noted, shield.notes), modes: [...modes, "untrusted"] };
  const concealed = (whole: Plan, others: readonly Diagnostic[]) => ({
    plan: concealedPlan(whole, sensitive),
    diagnostics: sensitive.masked(others),
  });
  if (base === undefined) return concealed(found, audit);
  const head = { plan: found, input };
  const compared = await compareWithBase({ head, base, state, redact, live: async () => live });
  return concealed(compared.plan, [...audit, ...compared.notes]);
}

function nothing(host: string): Plan {
  return { host, changes: [], drift: [], unmanaged: [], guards: [], diagnostics: [] };
}

/** A profile is not read: a plan without network access needs no host. */
function namedHost({ namedHost: host }: Invocation): string | undefined {
  return host === undefined || host === EMBEDDED ? host : identityOf(host);
}
