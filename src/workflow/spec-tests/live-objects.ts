// The live objects of a test's workspace by address: managed ones by the address in the spec, others by that of an export.

import type { Reader } from "../../api/contract/reader.ts";
import { type Address, addressOf, kindOf, memberOf, nameOf, parentOf } from "../../core/address.ts";
import { type Diagnostic, Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import { isObject, type Json } from "../../core/json.ts";
import { setMember } from "../../core/pointer.ts";
import { changedScalars } from "../../core/scalars.ts";
import { nearestHint } from "../../core/suggest.ts";
import { DEFAULT_ADMIN } from "../../emulator/embedded.ts";
import { waitUntil } from "../../engine/apply/journaled-writer.ts";
import { listKinds } from "../../engine/observe/list-kinds.ts";
import { escaped } from "../../expressions/template.ts";
import { findingsOf, isBlocked } from "../../planner/model/plan.ts";
import type { Provider, Registry } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { isBuiltIn } from "../../resource/names.ts";
import type { OperationWriter } from "../../resource/operations.ts";
import { addressObjects } from "../../spec/export/addresses.ts";
import { writtenValues } from "../../spec/export/values.ts";
import { locationOf, type Span } from "../../spec/model/source.ts";
import type { Spec } from "../../spec/model/spec.ts";
import {
  listAt,
  type MapMember,
  type MapNode,
  mapAt,
  type SpecNode,
  scalarAt,
  withMembers,
} from "../../spec/model/tree.ts";
import type { State } from "../../state/model/record.ts";
import { prepareFreshPlan, runApply } from "../apply/apply.ts";
import type { PlanOptions } from "../plan/sources.ts";
import type { Session } from "../session/session.ts";
import { inOrderOf, partOf, type StepComparison } from "./expectations.ts";
import type { Sandbox } from "./sandbox.ts";

interface AddressedObject {
  readonly address: Address;
  readonly provider: Provider;
  readonly live: LiveObject;
}

export type LiveObjects = ReadonlyMap<Address, AddressedObject>;

/** `kind id` of the objects that a new workspace has. */
export async function initialObjects({ registry, connection }: Sandbox): Promise<ReadonlySet<string>> {
  const live = await listAll(registry, connection.reader);
  return new Set(
    [...live].flatMap(([kind, liveKind]) =>
      liveKind.readable ? liveKind.objects.map(({ id }) => `${kind} ${id}`) : [],
    ),
  );
}

function listAll(registry: Registry, reader: Reader): Promise<Live> {
  const kinds = new Set(registry.kinds.map(({ kind }) => kind));
  return listKinds({ registry, reader, kinds, parallelism: 10 });
}

/** All objects but the `initial` ones that are not managed. Throws Failure if a kind cannot be read. */
export async function readLiveObjects(
  { registry, connection }: Sandbox,
  { records }: Pick<State, "records">,
  initial: ReadonlySet<string>,
): Promise<LiveObjects> {
  const live = await listAll(registry, connection.reader);
  const managed = new Map(
    [...records.values()].map(({ address, id }) => [`${kindOf(address)} ${id}`, address]),
  );
  const objects = new Map<Address, AddressedObject>();
  for (const provider of registry.kinds) {
    const liveKind = live.get(provider.kind);
    if (liveKind === undefined) continue;
    if (!liveKind.readable) throw new Failure(liveKind.diagnostic);
    const others = liveKind.objects.filter((liveObject) => {
      const address = managed.get(`${provider.kind} ${liveObject.id}`);
      if (address !== undefined) objects.set(address, { address, provider, live: liveObject });
      const isInitial = initial.has(`${provider.kind} ${liveObject.id}`);
      return address === undefined && !isInitial && !isIgnored(provider, liveObject, records);
    });
    for (const exportedObject of addressObjects(provider, others)) {
      const address = freeAddress(provider.kind, exportedObject.key, objects);
      objects.set(address, { address, provider, live: exportedObject.live });
    }
  }
  return objects;
}

/** Built-in objects, and permissions that the service grants with a scope. */
function isIgnored(provider: Provider, object: LiveObject, records: State["records"]): boolean {
  if (object.unmanageable !== undefined || isBuiltIn(provider, object.name)) return true;
  const { nested, planning } = provider;
  if (nested === undefined || planning.isImplicit === undefined) return false;
  const parent = records.get(addressOf(nested.kind, parentOf(object.name)));
  return planning.isImplicit(object, DEFAULT_ADMIN, parent?.applied ?? {});
}

function freeAddress(kind: string, key: string, liveObjects: LiveObjects): Address {
  for (let number = 1; ; number++) {
    const address = addressOf(kind, number === 1 ? key : `${key}-${number}`);
    if (!liveObjects.has(address)) return address;
  }
}

/** The fields of an object as a spec writes them, with the addresses of other objects instead of their IDs. */
function specValuesOf(
  { provider, live }: AddressedObject,
  objects: LiveObjects,
  full: boolean,
): Readonly<Record<string, Json>> {
  return writtenValues(provider, live.values, {
    full,
    managed: false,
    reference(kind, id) {
      const other = [...objects.values()].find(
        (addressedObject) => addressedObject.provider.kind === kind && addressedObject.live.id === id,
      );
      return other === undefined ? undefined : `\${${other.address}.${other.provider.idAttribute}}`;
    },
    isWrittenAt: () => false,
  });
}

/** A kind that is named is compared whole; of an object, the fields that are expected. */
export function compareLive(expected: Json, objects: LiveObjects): StepComparison {
  const wanted = isObject(expected) ? expected : {};
  const kinds = new Set(Object.keys(wanted).map((address) => kindOf(address as Address)));
  const valueByKey = new Map<string, Json>();
  for (const [address, value] of Object.entries(wanted)) {
    const object = objects.get(address as Address);
    if (object !== undefined) valueByKey.set(address, comparedValue(object, objects, value));
    else if (value === null) valueByKey.set(address, null);
  }
  for (const [address, object] of objects)
    if (!(address in wanted) && kinds.has(kindOf(address)))
      valueByKey.set(address, shorthand(object, specValuesOf(object, objects, false)));
  if (valueByKey.size === 0) for (const address of Object.keys(wanted)) valueByKey.set(address, null);
  return { what: "live", expected, actual: inOrderOf(expected, valueByKey) };
}

function comparedValue(object: AddressedObject, objects: LiveObjects, expected: Json): Json {
  if (expected === null) return shorthand(object, specValuesOf(object, objects, false));
  const values: { [field: string]: Json } = { ...specValuesOf(object, objects, true) };
  const { nameField } = object.provider;
  if (nameField !== undefined) setMember(values, nameField, object.live.name);
  if (isObject(expected)) return partOf(expected, values);
  return shorthand(object, values);
}

/** `READ` for an ACL whose only field is the permission. */
function shorthand({ provider }: AddressedObject, values: Readonly<Record<string, Json>>): Json {
  const field = provider.nested?.shorthand;
  const [only, ...more] = Object.keys(values);
  return field !== undefined && only === field && more.length === 0 ? (values[field] ?? {}) : values;
}

/** Applies without a question. `notes`: what was found before the plan; `failed`: what went wrong after it. */
export async function applyUnattended(session: Session, plan: PlanOptions, signal: AbortSignal) {
  let notes: readonly Diagnostic[] = [];
  const request = { lockTimeout: 0, signal };
  const result = await runApply(session, request, prepareFreshPlan(plan), {
    planned: async (_, diagnostics) => {
      notes = diagnostics;
    },
    approve: () => Promise.resolve(true),
    changed: () => undefined,
    applied: () => Promise.resolve(),
  });
  const failed =
    result.status === "applied"
      ? [
          ...result.outcome.diagnostics,
          ...result.outcome.changes.flatMap((changeOutcome) => changeOutcome.diagnostic ?? []),
        ]
      : [];
  return { plan: result.plan, notes, failed };
}

/** Applies a spec with a state that is thrown away. Throws Failure with what prevented it. */
export async function makeObjects(
  sandbox: Sandbox,
  spec: Spec,
  only: readonly Address[] = [],
): Promise<ReadonlyMap<Address, string>> {
  const store = sandbox.newState();
  try {
    const session = await sandbox.session(spec, { store });
    const options = { adopt: true, allowDuplicates: true, only };
    const { plan, failed } = await applyUnattended(session, options, sandbox.signal);
    const wrong = isBlocked(plan) ? [...findingsOf(plan), ...failed] : failed;
    if (hasErrors(wrong)) throw new Failure(...wrong);
    const { state } = await store.read();
    return idsIn(state);
  } finally {
    await store.close();
  }
}

export const idsIn = ({ records }: Pick<State, "records">): ReadonlyMap<Address, string> =>
  new Map([...records.values()].map(({ address, id }) => [address, id]));

export function objectAt(objects: LiveObjects, address: string, at: Span): AddressedObject {
  const addressedObject = objects.get(address as Address);
  if (addressedObject !== undefined) return addressedObject;
  throw failureOf("CLI_NO_OBJECT", `the workspace has no object ${address}`, {
    at: locationOf(at),
    hint: nearestHint(address, [...objects.keys()], "create it in the world or in an earlier step"),
  });
}

/** A spec that declares one live object with some fields changed; fields that are null are removed. */
export function changedSpec(object: AddressedObject, objects: LiveObjects, change: SpecNode): MapNode {
  const { provider, live } = object;
  const values = specValuesOf(object, objects, false);
  const fields = new Map<string, MapMember>();
  for (const [name, value] of Object.entries(values))
    fields.set(name, memberAt(change, withoutReferences(value, objects)));
  if (provider.nameField !== undefined) fields.set(provider.nameField, memberAt(change, escaped(live.name)));
  if (change.kind === "map")
    for (const [name, { key, value }] of change.members)
      if (value.kind === "scalar" && value.value === null) fields.delete(name);
      else fields.set(name, { key, value });
  const declared = change.kind === "map" ? mapAt(change, fields) : change;
  const { nested } = provider;
  const path =
    nested === undefined
      ? [provider.kind, nameOf(addressIn(object))]
      : [nested.kind, parentOf(live.name), nested.under, memberOf(live.name)];
  const root = path.reduceRight<SpecNode>(
    (inner, name) => mapAt(change, new Map([[name, { key: change, value: inner }]])),
    declared,
  ) as MapNode;
  if (nested !== undefined || provider.unique) return root;
  // Names of the kind are not unique, so the spec selects the object by its ID.
  return withMembers(root, { import: memberAt(change, [{ to: addressIn(object), id: live.id }]) });
}

/** References to other live objects, which this spec does not declare, are IDs again. */
const withoutReferences = (value: Json, objects: LiveObjects): Json =>
  changedScalars(value, [], (scalar) => {
    const address = /^\$\{(.+)\.\w+\}$/.exec(String(scalar))?.[1];
    return objects.get(address as Address)?.live.id ?? scalar;
  });

const memberAt = (at: Span, value: Json): MapMember => ({ key: at, value: nodeOf(at, value) });

function nodeOf(at: Span, value: Json): SpecNode {
  if (Array.isArray(value))
    return listAt(
      at,
      value.map((value: Json) => nodeOf(at, value)),
    );
  if (!isObject(value)) return scalarAt(at, value as string | number | boolean | null);
  return mapAt(at, new Map(Object.entries(value).map(([key, value]) => [key, memberAt(at, value)])));
}

export async function deleteObject(
  sandbox: Sandbox,
  { provider, live, address }: AddressedObject,
): Promise<void> {
  const { writer } = sandbox.connection;
  const { clock, signal } = sandbox;
  const waiting = { clock, signal, onWait: () => undefined, pause: (sleep: () => Promise<void>) => sleep() };
  const operations: OperationWriter = {
    read: (operation, input) => writer.read(operation, input),
    write: (operation, input) => writer.write(operation, input),
    created: () => Promise.resolve(),
    until: (what, look, deadlineMs) => waitUntil(what, look, deadlineMs, waiting),
  };
  await provider.operations.delete(operations, { address, id: live.id, name: live.name, live });
}

/** The address that a live object has in `changedSpec`, which has no modules. */
export function addressIn({ provider, live, address }: AddressedObject): Address {
  const key = provider.nameField === undefined ? live.name : nameOf(address).replaceAll("/", "-");
  return addressOf(provider.kind, key);
}
