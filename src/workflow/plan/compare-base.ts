// Compares a plan with the plan of its base, for the same state and the same objects, which are read once.

import type { Address } from "../../core/address.ts";
import { makePlan } from "../../planner/make-plan.ts";
import { withRecordedSecrets, withSaltedDigests } from "../../planner/mode/compare-secrets.ts";
import { markUntrusted } from "../../planner/mode/untrusted.ts";
import type { PlanFacts, PlanInput } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { splitGuards, splitPlan } from "../../planner/split-plan.ts";
import { registry } from "../../providers/index.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";
import type { BaseSpec } from "../session/base-spec.ts";
import type { Redaction } from "./sensitive.ts";
import type { PlanSource } from "./sources.ts";

/** The plan of the spec, in the clear. */
interface HeadPlan {
  readonly plan: Plan;
  readonly input: PlanInput & PlanFacts;
  readonly live: Live;
  /** Of an untrusted spec. */
  readonly redact?: Redaction;
  /** The state in the clear: that of the input may be redacted already. */
  readonly recovered: { readonly state: State };
  readonly diagnostics: Plan["diagnostics"];
}

/** The plan with its split, unless the base cannot be compared, and diagnostics about the base. */
export async function compareWithBase<T extends HeadPlan>(
  head: T,
  { spec, name, notes }: BaseSpec,
  source: PlanSource,
): Promise<T> {
  const diagnostics = [...head.diagnostics, ...notes];
  if (spec === "invalid") return { ...head, diagnostics };
  const before =
    spec === "absent" ? { ...head.plan, changes: [], diagnostics: [] } : await planOfBase(head, spec, source);
  const split = { base: name, ...splitPlan(before, head.plan) };
  const plan = { ...head.plan, guards: splitGuards(head.input, head.plan, split), split };
  return { ...head, plan, diagnostics };
}

/** Sends no requests beyond those of the head's plan: side effects of deletions are not part of a comparison. */
async function planOfBase(head: HeadPlan, spec: Spec, source: PlanSource): Promise<Plan> {
  const { input, redact, recovered } = head;
  const only = widened(head);
  const live = await source.baseObjects(spec, only, head.live);
  const { moved, ...rest } = input;
  // What the head moves has its former address for the base.
  const state = moved?.before ?? recovered.state;
  const redacted = redact?.(spec, state, live);
  const plan = makePlan({
    ...rest,
    state: redacted?.state ?? withSaltedDigests({ registry, spec, state }),
    spec: redacted?.spec ?? withRecordedSecrets({ registry, spec, state: recovered.state }),
    live: redacted?.live ?? live,
    contents: new Map(),
    only,
    exclude: excludedInHead(head),
  });
  return redacted === undefined ? plan : markUntrusted(plan, redacted.notes);
}

/** What `--only` names, and what the head's plan needs for it: the base may need less. */
function widened({ plan, input: { only } }: HeadPlan): PlanInput["only"] {
  if (only === undefined) return undefined;
  const planned = new Set<Address>(plan.changes.map(({ address }) => address));
  return (address) => only(address) || planned.has(address);
}

/** What `--exclude` names, and what the head's plan leaves out with it: the base may know fewer dependencies. */
function excludedInHead({ plan, input: { exclude } }: HeadPlan): PlanInput["exclude"] {
  if (exclude === undefined) return undefined;
  const excluded = new Set<Address>(plan.part?.excluded);
  return (address) => exclude(address) || excluded.has(address);
}
