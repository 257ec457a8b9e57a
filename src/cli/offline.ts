// A plan without any network: the spec against what the state recorded.

import { keyedDigest } from "../core/canonical.ts";
import { type Diagnostic, hasErrors } from "../core/diagnostic.ts";
import { auditPlan } from "../planner/check.ts";
import type { PlanInput } from "../planner/input.ts";
import { makePlan } from "../planner/make.ts";
import { offlineNotes, recordedLive } from "../planner/offline.ts";
import type { Mode, Plan } from "../planner/plan.ts";
import { forStrangers, shielded } from "../planner/untrusted.ts";
import { registry } from "../providers/index.ts";
import type { Spec } from "../spec/spec.ts";
import type { State } from "../state/record.ts";
import type { StateStore } from "../state/store.ts";
import { EMBEDDED, fromEnv, identityOf } from "./config.ts";
import type { Context } from "./context.ts";
import { onlyThese } from "./only.ts";
import { assertSameHost } from "./session.ts";
import { readSpec, type SpecOptions } from "./spec.ts";
import { type StateOptions, withState } from "./state-place.ts";

export interface OfflineOptions extends SpecOptions, StateOptions {
  readonly host: string | undefined;
  readonly only: readonly string[];
  readonly destroy: boolean;
  readonly untrusted: boolean;
}

export interface OfflinePlan {
  readonly plan: Plan;
  readonly diagnostics: readonly Diagnostic[];
}

/** Needs neither host nor token; a host that is named must be the state's. */
export function planOffline(context: Context, options: OfflineOptions): Promise<OfflinePlan> {
  return withState(context, options, (store) => planOn(store, context, options));
}

async function planOn(store: StateStore, context: Context, options: OfflineOptions): Promise<OfflinePlan> {
  const { state, diagnostics } = await store.read();
  if (hasErrors(diagnostics)) return { plan: nothing(""), diagnostics };
  const host = saidHost(context, options);
  if (host !== undefined) assertSameHost(state, host);
  const key = await store.key({ make: false });
  const keyed = (bytes: Uint8Array) => keyedDigest(key, bytes);
  const blind = options.destroy || options.untrusted;
  const spec = await readSpec(context, options, blind ? undefined : keyed, options.untrusted);
  const found = planned(context, options, spec, state, state.host || host || "offline");
  return { plan: found.plan, diagnostics: [...diagnostics, ...found.diagnostics] };
}

function planned(
  context: Context,
  options: OfflineOptions,
  spec: Spec,
  state: State,
  host: string,
): OfflinePlan {
  const live = recordedLive(registry, state);
  const shield = options.untrusted ? shielded({ registry, spec, state }, live) : undefined;
  const caller = fromEnv(context, "WORKSPACE_USER") ?? state.caller?.name;
  const only = onlyThese(options.only, [...spec.resources.keys(), ...state.records.keys()]);
  const input: PlanInput = {
    registry,
    host,
    spec: shield?.spec ?? spec,
    live: shield?.live ?? live,
    state,
    partial: true,
    destroy: options.destroy,
    contents: new Map(),
    around: new Map(),
    ...(caller === undefined ? {} : { caller }),
    ...(only === undefined ? {} : { only }),
  };
  const plan = makePlan(input);
  const audit = auditPlan(plan, input);
  const modes: Mode[] = ["offline"];
  const noted = { ...plan, modes, diagnostics: [...plan.diagnostics, ...offlineNotes(state)] };
  if (shield === undefined) return { plan: noted, diagnostics: audit };
  return {
    plan: { ...forStrangers(noted, shield.notes), modes: [...modes, "untrusted"] },
    diagnostics: audit,
  };
}

function nothing(host: string): Plan {
  return { host, changes: [], drift: [], unmanaged: [], guards: [], diagnostics: [], wants: [] };
}

function saidHost(context: Context, options: OfflineOptions): string | undefined {
  const said = options.host ?? fromEnv(context, "WORKSPACE_HOST");
  return said === undefined || said === EMBEDDED ? said : identityOf(said);
}
