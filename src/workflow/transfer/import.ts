// Prepares an import: the live object, its record, and what the next plan would change.

import { type Address, remoteId } from "../../core/address.ts";
import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { isObject, type JsonObject, membersWhere } from "../../core/json.ts";
import type { SensitiveValues } from "../../core/sensitive/values.ts";
import { shellWord } from "../../core/sentences.ts";
import { recordFromLive } from "../../engine/apply/record-values.ts";
import { unmanageableError } from "../../planner/decide/match-live.ts";
import { makePlan } from "../../planner/make-plan.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { registry } from "../../providers/index.ts";
import type { Provider } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { isIdItsName, isSameName } from "../../resource/names.ts";
import { mapValue, visitValue } from "../../resource/walk.ts";
import type { Resource } from "../../spec/model/spec.ts";
import { concealedRecord } from "../../state/model/digests-in-state.ts";
import type { State, StateRecord } from "../../state/model/record.ts";
import { planWorkspace, type WorkspacePlan } from "../plan/plan.ts";
import { emptyRecord } from "../plan/record-entries.ts";
import { shownPlan } from "../plan/sensitive.ts";
import type { Session } from "../session/session.ts";

interface ImportPlan {
  readonly record: StateRecord;
  /** For the imported resource and its nested resources only. Without sensitive values, as the record. */
  readonly plan: Plan;
  readonly planned: WorkspacePlan;
}

/** Throws Failure with CLI_MANAGED or CLI_NO_OBJECT. */
export function assertFree(state: State, resource: Resource, id: string): void {
  const provider = registry.get(resource.kind);
  if (isIdItsName(provider) && !isSameName(provider, id, resource.name))
    throw failureOf(
      "CLI_NO_OBJECT",
      `${resource.address} can only be the ${provider.singular} ${resource.name}, not ${id}`,
      { hint: `in a spec, the key under ${provider.kind} is the name` },
    );
  const here = state.records.get(resource.address);
  if (here !== undefined)
    throw failureOf(
      "CLI_MANAGED",
      `${resource.address} is already managed: it is the ${oneOf(resource)} ${here.id}`,
      {
        hint: `to remove it from the state first, run \`workspace state rm ${shellWord(resource.address)}\``,
      },
    );
  const other = [...state.records.values()].find(
    (stateRecord) =>
      stateRecord.address.startsWith(`${resource.kind}.`) &&
      (stateRecord.id === id || stateRecord.deposed?.includes(remoteId(id))),
  );
  if (other !== undefined)
    throw failureOf("CLI_MANAGED", `${other.address} already manages the ${oneOf(resource)} ${id}`, {
      hint: `to change the address of that record, run \`workspace state mv ${shellWord(other.address)} ${shellWord(resource.address)}\``,
    });
}

const oneOf = ({ kind }: Resource): string => registry.get(kind).singular;

/** Read-only. Throws Failure with CLI_NO_OBJECT if the object does not exist. */
export async function planImport(
  session: Session,
  state: State,
  resource: Resource,
  id: string,
): Promise<ImportPlan> {
  const provider = registry.get(resource.kind);
  // The record makes the read include all details of the object that lists omit.
  const blank = emptyRecord(resource.address, id, resource.name, resource.dependsOn);
  const planned = await planWorkspace(session, withRecord(state, blank), {});
  const { sensitive } = planned;
  const kind = planned.live.get(resource.kind);
  if (kind?.readable === false) throw new Failure(kind.diagnostic);
  const live = objectToImport(provider, kind?.objects ?? [], id);
  // A finding quotes what the workspace has.
  const refused = (finding: Diagnostic): Failure => new Failure(sensitive.maskedMessages(finding));
  if (live === undefined) throw refused(missing(provider, resource, id, kind?.objects ?? []));
  const refusal = unmanageableError(resource, provider, live);
  if (refusal !== undefined) throw refused(refusal);
  const record = withoutSensitiveKeys(recordFromLive(provider, resource, live), resource, sensitive);
  // A resource that it refers to may be waiting for adoption too; that is not a separate difference.
  const after = withRecord(planned.input.state, record);
  const plan = makePlan({ ...planned.input, state: after, adopt: true });
  return {
    record: concealedRecord(record, sensitive),
    plan: shownPlan(restricted(plan, resource), planned.input, sensitive),
    planned,
  };
}

/**
 * Without keys of open maps that contain a sensitive value: the spec, which has no sensitive keys, does not set them. They are drift,
 * like those that appear after an apply.
 */
function withoutSensitiveKeys(
  record: StateRecord,
  { address, values }: Resource,
  sensitive: SensitiveValues,
): StateRecord {
  const declared = new Set<string>();
  const properties = registry.of(address).fields;
  visitValue({ properties }, values, (_schema, _value, path) => declared.add(String(path.at(-1))));
  const isSensitive = (key: string): boolean =>
    !declared.has(key) && sensitive.concealedPath(address, ["", key])[1] !== key;
  const cleaned = mapValue({ properties }, record.applied, (schema, _value, inside) => {
    const value = inside();
    if (!isObject(value)) return value;
    const isKept = (key: string) => Object.hasOwn(schema.properties ?? {}, key) || !isSensitive(key);
    return membersWhere(value, isKept);
  });
  return { ...record, applied: cleaned as JsonObject };
}

/** By its id; where the name is the id, in whatever case it is written. */
function objectToImport(
  provider: Provider,
  objects: readonly LiveObject[],
  id: string,
): LiveObject | undefined {
  const exact = objects.find((liveObject) => liveObject.id === id);
  if (exact !== undefined || provider.nameField !== undefined) return exact;
  return objects.find((liveObject) => isSameName(provider, liveObject.name, id));
}

function withRecord(state: State, record: StateRecord): State {
  return { ...state, records: new Map([...state.records, [record.address, record]]) };
}

function restricted(plan: Plan, { address, kind, key }: Resource): Plan {
  const within = registry.kinds
    .filter(({ nested }) => nested?.kind === kind)
    .map((nested) => `${nested.kind}.${key}/`);
  const isOf = (other: Address): boolean =>
    other === address || within.some((start) => other.startsWith(start));
  return {
    ...plan,
    changes: plan.changes.filter((change) => isOf(change.address)),
    drift: [],
    unmanaged: [],
    guards: plan.guards.filter((guard) => guard.addresses.some(isOf)),
    diagnostics: plan.diagnostics.filter(({ address, code }) =>
      address === undefined ? code === "PLAN_UNREADABLE" : isOf(address),
    ),
  };
}

function missing(provider: Provider, resource: Resource, id: string, objects: readonly LiveObject[]) {
  const called = (name: string) =>
    objects.filter((liveObject) => isSameName(provider, liveObject.name, name));
  const near = called(id).length > 0 ? called(id) : called(resource.name);
  const name = JSON.stringify(near[0]?.name);
  const hint =
    near.length === 0
      ? `check the ID; no ${provider.singular} is named ${JSON.stringify(resource.name)} either`
      : `the ${provider.singular} named ${name} has the ID ${near.map((liveObject) => liveObject.id).join(" or ")}`;
  return error("CLI_NO_OBJECT", `no ${provider.singular} with the ID ${id} exists`, { hint });
}
