// Live moves: between plan and apply, one managed field changes. The change that depends on it is skipped, and nothing
// is overwritten.

import type { Change } from "../../../../src/planner/model/change.ts";
import { registry as everyKind } from "../../../../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../../../../src/resource/dialect-view.ts";
import type { FieldSchema } from "../../../../src/resource/field-schema.ts";
import { faultFreeRun } from "../../run/fault-free-run.ts";
import type { Suite } from "../../run/suite.ts";
import { Trial } from "../../run/trial.ts";
import { changeOutside, other } from "../../world/change-outside.ts";
import type { Form } from "../../world/forms.ts";
import { scenarios } from "../../world/scenarios.ts";

/** The cases are those of the contract, in each dialect. */
const registry = registryIn(everyKind, CONTRACT_FIELDS);

type Resting = Extract<Change, { readonly fingerprint: string }>;

const isResting = (change: Change): change is Resting =>
  "fingerprint" in change && change.action !== "report";

/** Fields that a change rests on: the spec's, and in a delete all of them. Kinds that the contract lacks have none. */
function fieldsOf(change: Resting): readonly string[] {
  return Object.entries(registry.find(change.kind)?.fields ?? {})
    .filter(([name, schema]) => isManaged(change, name, schema))
    .map(([name]) => name);
}

function isManaged(change: Resting, name: string, schema: FieldSchema): boolean {
  const { normalize } = registry.get(change.kind).planning;
  const after = "after" in change ? change.after : undefined;
  if (schema.readOnly === true || schema.source === true) return false;
  if (schema.writeOnly === true && schema.witness === undefined) return false;
  if (
    schema.whenAbsent === "unmanaged" &&
    after?.[name] === undefined &&
    (after !== undefined || name !== "content")
  )
    return false;
  // Some kinds leave out what an object inherits.
  return (
    normalize === undefined ||
    normalize({ ...change.before, [name]: change.before[name] ?? other(schema, undefined, name) })[name] !==
      undefined
  );
}

/** `address|field` of every field that can be moved before the plan of a scenario is applied. */
export async function movable(scenario: string): Promise<readonly string[]> {
  const names: string[] = [];
  const { stage } = await faultFreeRun(scenario);
  const trial = await Trial.of(stage);
  const plan = await trial.site.drive(trial.site.process().plan(stage.spec));
  for (const change of plan.changes)
    if (isResting(change))
      for (const field of fieldsOf(change)) {
        const fresh = await Trial.of(stage);
        const possible = changeOutside(
          fresh.site.world,
          change,
          field,
          registry.get(change.kind).fields[field] ?? {},
        );
        fresh.close();
        if (possible !== undefined) names.push(`${change.address}|${field}`);
      }
  trial.close();
  return names;
}

/** Changes the field after the plan, before the apply. */
export async function move(scenario: string, moved: string, form?: Form): Promise<readonly string[]> {
  const [address, field = ""] = moved.split("|");
  const { stage } = await faultFreeRun(scenario, form);
  const trial = await Trial.of(stage);
  try {
    let isAsMoved: (() => boolean) | undefined;
    const ran = await trial.apply({
      onPlan: (plan) => {
        const change = plan.changes.find((one) => one.address === address && isResting(one));
        if (change === undefined || !isResting(change)) throw new Error(`${address} is not planned`);
        isAsMoved = changeOutside(
          trial.site.world,
          change,
          field,
          registry.get(change.kind).fields[field] ?? {},
        );
      },
    });
    const outcome = ran.outcome?.changes.find((one) => one.address === address);
    const kept = isAsMoved?.() === true;
    return [
      ...(kept ? [] : [`the value that others wrote is gone: ${outcome?.result} ${outcome?.action}`]),
      ...(outcome?.result === "skipped" && outcome.diagnostic?.code === "PLAN_LIVE_MOVED"
        ? []
        : [`it was not skipped as moved: ${outcome?.result} ${outcome?.diagnostic?.message ?? ""}`]),
      ...(ran.outcome === undefined ? [`the apply broke: ${String(ran.failure)}`] : []),
    ];
  } finally {
    trial.close();
  }
}

export const moves: Suite = {
  name: "moves",
  what: "another client changes a managed field between plan and apply",
  unit: "fields",
  sample: 60,

  async cases() {
    const names: string[] = [];
    for (const { name, before } of scenarios)
      if (before !== undefined) for (const moved of await movable(name)) names.push(`${name}|${moved}`);
    return names;
  },

  run(name) {
    const [scenario = "", ...moved] = name.split("|");
    return move(scenario, moved.join("|"));
  },
};
