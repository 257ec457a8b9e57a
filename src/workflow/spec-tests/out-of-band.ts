// Changes the workspace outside of the state: objects of the world, and steps that create, change, and delete.

import { type Address, addressOf, memberOf, nameOf, parentOf } from "../../core/address.ts";
import { type Diagnostic, Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import { isObject, type Json } from "../../core/json.ts";
import { nearestHint } from "../../core/suggest.ts";
import { waitUntil } from "../../engine/apply/journaled-writer.ts";
import { isBlocked } from "../../planner/model/plan.ts";
import type { OperationWriter } from "../../resource/operations.ts";
import { locationOf, type Span } from "../../spec/model/source.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { escaped } from "../../spec/model/template.ts";
import {
  listAt,
  type MapMember,
  type MapNode,
  mapAt,
  type SpecNode,
  scalarAt,
} from "../../spec/model/tree.ts";
import { runApply } from "../reconcile/apply.ts";
import type { PlanOptions, Session } from "../session/session.ts";
import { type AddressedObject, type LiveObjects, specValuesOf } from "./live-objects.ts";
import { memoryState, type Sandbox } from "./sandbox.ts";

/** Applies without a question. `notes`: what was found before the plan; `failed`: what went wrong after it. */
export async function applyUnattended(session: Session, plan: PlanOptions, signal: AbortSignal) {
  let notes: readonly Diagnostic[] = [];
  const request = { plan, lockTimeout: 0, signal, origin: async () => ({}) };
  const result = await runApply(session, request, {
    planned: async (_, found) => {
      notes = found;
    },
    approve: () => Promise.resolve(true),
    changed: () => undefined,
    applied: () => Promise.resolve(),
  });
  const failed =
    result.status === "applied"
      ? [...result.outcome.diagnostics, ...result.outcome.changes.flatMap((one) => one.diagnostic ?? [])]
      : [];
  return { plan: result.plan, notes, failed };
}

/** Applies a spec with a state that is thrown away. Throws Failure with what prevented it. */
export async function makeObjects(
  sandbox: Sandbox,
  spec: Spec,
  only: readonly Address[] = [],
): Promise<ReadonlyMap<Address, string>> {
  const store = memoryState();
  try {
    const session = await sandbox.session(spec, store);
    const wish = { adopt: true, allowDuplicates: true, only };
    const { plan, failed } = await applyUnattended(session, wish, sandbox.signal);
    const blocking = [...plan.diagnostics, ...plan.guards.map(({ diagnostic }) => diagnostic)];
    const wrong = isBlocked(plan) ? [...blocking, ...failed] : failed;
    if (hasErrors(wrong)) throw new Failure(...wrong);
    const { state } = await store.read();
    return new Map([...state.records.values()].map(({ address, id }) => [address, id]));
  } finally {
    await store.close();
  }
}

export function objectAt(objects: LiveObjects, address: string, at: Span): AddressedObject {
  const found = objects.get(address as Address);
  if (found !== undefined) return found;
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
  const key = nameOf(addressIn(object));
  if (nested === undefined)
    return wrapped(change, [provider.kind, key], declared, [...importOf(object, change)]);
  return wrapped(change, [nested.kind, parentOf(live.name), nested.under, memberOf(live.name)], declared, []);
}

/** If names of the kind are not unique, the spec selects the object by its ID. */
function* importOf(object: AddressedObject, at: Span): Iterable<readonly [string, MapMember]> {
  if (object.provider.unique) return;
  const entry = nodeOf(at, { to: addressIn(object), id: object.live.id });
  yield ["import", { key: at, value: listAt(at, [entry]) }];
}

function wrapped(
  at: Span,
  path: readonly string[],
  inner: SpecNode,
  beside: readonly (readonly [string, MapMember])[],
): MapNode {
  const [first = "", ...rest] = path;
  const value = rest.length === 0 ? inner : wrapped(at, rest, inner, []);
  return mapAt(at, new Map([[first, { key: at, value }], ...beside]));
}

/** References to other live objects, which this spec does not declare, are IDs again. */
function withoutReferences(value: Json, objects: LiveObjects): Json {
  if (typeof value === "string") {
    const object = objects.get(/^\$\{(.+)\.\w+\}$/.exec(value)?.[1] as Address);
    return object?.live.id ?? value;
  }
  if (Array.isArray(value)) return value.map((one: Json) => withoutReferences(one, objects));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, withoutReferences(one, objects)]),
  );
}

const memberAt = (at: Span, value: Json): MapMember => ({ key: at, value: nodeOf(at, value) });

function nodeOf(at: Span, value: Json): SpecNode {
  if (Array.isArray(value))
    return listAt(
      at,
      value.map((one: Json) => nodeOf(at, one)),
    );
  if (!isObject(value)) return scalarAt(at, value as string | number | boolean | null);
  return mapAt(at, new Map(Object.entries(value).map(([key, one]) => [key, memberAt(at, one)])));
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
