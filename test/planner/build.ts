// Short ways to write a spec, a live workspace and a state for tests of planning.

import { type Address, addressOf, kindOf, nameOf, remoteId } from "../../src/core/address.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { draftPlan, makePlan, missingFacts } from "../../src/planner/make-plan.ts";
import type { Change } from "../../src/planner/model/change.ts";
import {
  addressByObject,
  declaredNames,
  indexLive,
  type PlanContext,
} from "../../src/planner/model/context.ts";
import type { MissingFacts, PlanFacts, PlanInput } from "../../src/planner/model/input.ts";
import type { Plan } from "../../src/planner/model/plan.ts";
import type { Live, LiveObject } from "../../src/resource/live.ts";
import type { Policy, Reference, Resource, Spec } from "../../src/spec/model/spec.ts";
import type { State, StateRecord } from "../../src/state/model/record.ts";
import { registry } from "./kinds.ts";

const AT = { file: "workspace.yaml", line: 1, column: 1 };

export interface Wanted {
  readonly values?: JsonObject;
  readonly name?: string;
  readonly references?: readonly Reference[];
  readonly dependsOn?: readonly string[];
  readonly owns?: readonly string[];
  readonly lifecycle?: Partial<Resource["lifecycle"]>;
}

export function resource(text: string, wanted: Wanted = {}): Resource {
  const address = text as Address;
  const kind = kindOf(address);
  const values = wanted.values ?? {};
  const field = registry.get(kind).nameField;
  const named = field === undefined ? undefined : values[field];
  return {
    address,
    kind,
    key: nameOf(address),
    name: wanted.name ?? (typeof named === "string" ? named : nameOf(address)),
    values,
    references: wanted.references ?? [],
    dependsOn: (wanted.dependsOn ?? []) as Address[],
    owns: wanted.owns ?? [],
    lifecycle: { prevent_destroy: false, ignore_changes: [], ...wanted.lifecycle },
    at: AT,
    locate: () => AT,
  };
}

export function spec(resources: readonly Resource[], policy: Partial<Policy> = {}): Spec {
  return {
    files: [],
    resources: new Map(resources.map((one) => [one.address, one])),
    policy: {
      on_immutable_change: "error",
      on_immutable_change_by_kind: {},
      max_deletes: { share: 1 },
      authoritative: [],
      duplicate_names: "error",
      ...policy,
    },
  };
}

export function object(
  id: string,
  name: string,
  values: JsonObject = {},
  facts: JsonObject = {},
): LiveObject {
  return { id: remoteId(id), name, values, facts };
}

export function live(objects: Readonly<Record<string, readonly LiveObject[]>> = {}): Live {
  return new Map(
    registry.kinds.map(
      ({ kind }) =>
        [kind, { readable: true, objects: objects[kind] ?? [], unreadableParents: new Map() }] as const,
    ),
  );
}

export function record(
  address: string,
  id: string,
  applied: JsonObject = {},
  more: Partial<Extract<StateRecord, { status: "ready" }>> = {},
): StateRecord {
  const name = nameOf(address as Address);
  return {
    status: "ready",
    address: address as Address,
    id: remoteId(id),
    name,
    applied,
    seen: {},
    depends_on: [],
    ...more,
  };
}

export function state(records: readonly StateRecord[] = []): State {
  return {
    lineage: "l",
    serial: 1,
    host: "h",
    records: new Map(records.map((one) => [one.address, one])),
    sweeps: [],
    open: [],
    nonces: [],
  };
}

type Given = Partial<PlanInput & PlanFacts> & Pick<PlanInput, "spec">;

export function plan(input: Given): Plan {
  return makePlan({ registry, host: "h", live: live(), state: state(), ...input });
}

export function requests(input: Given): MissingFacts {
  return missingFacts(draftPlan({ registry, host: "h", live: live(), state: state(), ...input }), input);
}

/** The context in which one part of planning runs, with some changes decided. */
export function context(given: Partial<PlanInput> = {}, decided: readonly Change[] = []): PlanContext {
  const input: PlanInput = { registry, host: "h", spec: spec([]), live: live(), state: state(), ...given };
  return {
    input,
    liveIndex: indexLive(input.live, input.registry),
    decided: new Map(decided.map((change) => [change.address, change])),
    misplacedRecords: new Map(),
    owners: addressByObject(input.state.records),
    imports: new Map(),
    declaredName: declaredNames(input.spec),
  };
}

/** Action by address, without unchanged resources. */
export function actions(made: Plan): Record<string, string> {
  const acting = made.changes.filter((change) => change.action !== "noop");
  return Object.fromEntries(acting.map((change) => [change.address, change.action]));
}

export function reference(path: readonly string[], target: string, attribute: string): Reference {
  return { path, parts: [{ address: target as Address, attribute }] };
}

export { addressOf };
