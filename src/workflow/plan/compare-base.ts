// Compares a plan with the plan of its base, for the same state and the same objects, which are read once.

import type { Address } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { observe } from "../../engine/observe/observe.ts";
import { emptyLiveSnapshot } from "../../engine/observe/readers.ts";
import { makePlan } from "../../planner/make-plan.ts";
import { markUntrusted, withRecordedSecrets, withSaltedDigests } from "../../planner/mode/untrusted.ts";
import { addressByObject } from "../../planner/model/context.ts";
import type { PlanFacts, PlanInput } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { splitGuards, splitPlan } from "../../planner/split-plan.ts";
import { registry } from "../../providers/index.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";
import { restrictionOf } from "./address-filter.ts";
import type { BaseSpec } from "./base-spec.ts";
import { concealed, type PlanWorkspaceInput, planInTheClear, type WorkspacePlan } from "./plan.ts";
import type { Redaction } from "./sensitive.ts";

export interface Planned {
  readonly plan: Plan;
  readonly input: PlanInput & PlanFacts;
}

export interface Comparison {
  readonly head: Planned;
  readonly base: BaseSpec;
  /** The recorded state in the clear: that of the head's input may be redacted already. */
  readonly state: State;
  /** Of an untrusted spec. */
  readonly redact?: Redaction | undefined;
  /** The live objects that the base's spec needs: those of the head's plan, and of kinds that only the base has. */
  readonly live: (spec: Spec, only: PlanInput["only"]) => Promise<Live>;
}

/** The plan with its split, unless the base cannot be compared, and diagnostics about the base. */
export async function compareWithBase(
  comparison: Comparison,
): Promise<{ readonly plan: Plan; readonly notes: readonly Diagnostic[] }> {
  const { head, base } = comparison;
  const { spec, name, notes } = base;
  if (spec === "invalid") return { plan: head.plan, notes };
  const before =
    spec === "absent" ? { ...head.plan, changes: [], diagnostics: [] } : await planOfBase(comparison, spec);
  const split = { base: name, ...splitPlan(before, head.plan) };
  return { plan: { ...head.plan, guards: splitGuards(head.input, head.plan, split), split }, notes };
}

/** Plans, and compares with the plan of a base; both rest on one reading of the workspace. */
export async function planWithBase(from: PlanWorkspaceInput, base: BaseSpec): Promise<WorkspacePlan> {
  const snapshot = emptyLiveSnapshot();
  const spec = typeof base.spec === "string" ? undefined : base.spec;
  const planned = await planInTheClear({ ...from, base: spec, snapshot });
  const untrusted = from.budget !== undefined;
  const owned = addressByObject(from.state.records);
  const globs = restrictionOf(from.only);
  const live: Comparison["live"] = (spec, only) =>
    observe({
      registry,
      reader: from.reader,
      spec,
      state: from.state,
      ...(globs === undefined || only === undefined ? {} : { restriction: { ...globs, only } }),
      parallelism: from.settings.parallelism,
      ...(untrusted ? { looksAt: (kind, { id }) => owned.has(kind, id) } : {}),
      snapshot,
    });
  const { redact, recovered } = planned;
  const { state } = recovered;
  const { plan, notes } = await compareWithBase({ head: planned, base, state, redact, live });
  return concealed({ ...planned, plan, diagnostics: [...planned.diagnostics, ...notes] });
}

/** Sends no requests beyond those of the head's plan: side effects of deletions are not part of a comparison. */
async function planOfBase({ head, state: recorded, redact, live }: Comparison, spec: Spec): Promise<Plan> {
  const { input } = head;
  const only = widened(head);
  const found = await live(spec, only);
  const { only: _narrow, moved, ...rest } = input;
  // What the head moves has its former address for the base.
  const state = moved?.before ?? recorded;
  const shield = redact?.(spec, state, found);
  const plan = makePlan({
    ...rest,
    state: shield?.state ?? withSaltedDigests({ registry, spec, state }),
    spec: shield?.spec ?? withRecordedSecrets({ registry, spec, state: recorded }),
    live: shield?.live ?? found,
    contents: new Map(),
    ...(only === undefined ? {} : { only }),
  });
  return shield === undefined ? plan : markUntrusted(plan, shield.notes);
}

/** What `--only` names, and what the head's plan needs for it: the base may need less. */
function widened({ plan, input: { only } }: Planned): PlanInput["only"] {
  if (only === undefined) return undefined;
  const planned = new Set<Address>(plan.changes.map(({ address }) => address));
  return (address) => only(address) || planned.has(address);
}
