// Plans without network access: compares the spec with the recorded state.

import { fromEnv } from "../../config/environment.ts";
import { dialectFrom, EMBEDDED, identityOf } from "../../config/settings.ts";
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
import type { StateOptions } from "../invocation/state-location.ts";
import { assertExpectedHost, assertInCheckout, selectedTarget, specFile } from "../invocation/target.ts";
import type { RunObserver, WorkflowContext } from "../invocation/workflow-context.ts";
import { checkRules } from "../rules/check-rules.ts";
import { assertKnownKinds } from "../session/check-state.ts";
import { withState } from "../session/open-state.ts";
import { readSpec, type SpecOptions } from "../session/read-spec.ts";
import {
  type AllowedExposure,
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
import { assertSameHost } from "./plan.ts";
import { importNotes } from "./record-entries.ts";
import { openSensitive, redaction, revealed, sensitivePlaces } from "./sensitive.ts";

export interface OfflineOptions extends SpecOptions, StateOptions, AllowedExposure, BaseOptions {
  readonly host: string | undefined;
  readonly only: readonly string[];
  readonly destroy: boolean;
  readonly untrusted: boolean;
  readonly observer?: RunObserver;
}

export interface OfflinePlan {
  readonly plan: Plan;
  readonly places: ReturnType<typeof placesIn>;
  readonly diagnostics: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
}

/** Needs neither host nor token; a host that is named must be the state's. */
export function planOffline(context: WorkflowContext, options: OfflineOptions): Promise<OfflinePlan> {
  if (options.untrusted) assertInCheckout(context, specFile(context, options));
  return withState(context, options, (store) => planOn(store, context, options));
}

async function planOn(
  store: StateStore,
  context: WorkflowContext,
  options: OfflineOptions,
): Promise<OfflinePlan> {
  const { state, diagnostics } = await store.read();
  if (hasErrors(diagnostics))
    return { plan: nothing(""), places: placesIn(new Map()), diagnostics, warnings: [] };
  if (options.destroy) assertStateExists(store, state, "nothing can be destroyed");
  const origin = options.untrusted ? untrustedState(context, options, state) : [];
  const host = saidHost(context, options);
  const doubts = ephemeralState(context, options, { embedded: host === EMBEDDED }, state);
  if (host !== undefined) assertExpectedHost(selectedTarget(context, options).settings, host);
  if (host !== undefined) assertSameHost(state, host);
  assertKnownKinds(state.records.keys());
  const key = await store.key({ make: false });
  const keyed = (bytes: Uint8Array) => keyedDigest(key, bytes);
  const blind = options.destroy || options.untrusted;
  const read = await readSpec(
    context,
    { ...options, mayLackSecrets: true },
    blind ? undefined : keyed,
    options.untrusted,
  );
  const { spec, warnings } = read;
  const exposed = exposedState(context, options, spec, { digests: !blind });
  const base = await readBase(context, options, blind ? undefined : keyed, options.untrusted);
  const begun = performance.now();
  const made = await planned(context, options, { spec, base, state, key }, state.host || host || "offline");
  const plan = await checkRules(made.plan, { spec, untrusted: options.untrusted });
  const found = { ...made, plan };
  options.observer?.planned(found.plan, state, performance.now() - begun);
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
  context: WorkflowContext,
  options: OfflineOptions,
  known: Known,
  host: string,
): Promise<Pick<OfflinePlan, "plan" | "diagnostics">> {
  const { spec, base, key } = known;
  const { untrusted } = options;
  const rules = { registry: everyKind, declared: spec.resources };
  const withMoves = (found: State) =>
    moveRecords(spec.stateEntries?.moved ?? [], { state: found, entries: [], diagnostics: [] }, rules);
  const recorded = withMoves(known.state).state;
  const baseSpec = typeof base?.found === "object" ? base.found : undefined;
  const states = [known.state, recorded] as const;
  const sensitive = openSensitive({ spec, base: baseSpec, states: [...states], key, untrusted });
  const { moved, state, diagnostics } = withMoves(
    revealed(sensitive, { spec, state: known.state, moved: recorded, live: new Map(), key, untrusted }),
  );
  const registry = planningRegistryIn(everyKind, dialectFrom(context, options));
  const live = recordedLive(registry, state);
  const redact = untrusted
    ? redaction(registry, { state: recorded, before: known.state, live, key })
    : undefined;
  const shield = redact?.(spec, state, live);
  const caller = fromEnv(context, "WORKSPACE_USER") ?? state.caller?.name;
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

function saidHost(context: WorkflowContext, options: OfflineOptions): string | undefined {
  const said = options.host ?? fromEnv(context, "WORKSPACE_HOST");
  return said === undefined || said === EMBEDDED ? said : identityOf(said);
}
