// The live objects of a test's workspace by address: managed ones by the address in the spec, others by that of an export.

import type { Reader } from "../../api/contract/reader.ts";
import { type Address, addressOf, kindOf, parentOf } from "../../core/address.ts";
import { Failure } from "../../core/diagnostic.ts";
import { isObject, type Json } from "../../core/json.ts";
import { setMember } from "../../core/pointer.ts";
import { DEFAULT_ADMIN } from "../../emulator/embedded.ts";
import { listKinds } from "../../engine/observe/list-kinds.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { isBuiltIn } from "../../resource/names.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import { addressObjects } from "../../spec/export/addresses.ts";
import { writtenValues } from "../../spec/export/values.ts";
import type { State } from "../../state/model/record.ts";
import { inOrderOf, partOf, type StepComparison } from "./expectations.ts";
import type { Sandbox } from "./sandbox.ts";

export interface AddressedObject {
  readonly address: Address;
  readonly provider: Provider;
  readonly live: LiveObject;
}

export type LiveObjects = ReadonlyMap<Address, AddressedObject>;

/** `kind id` of the objects that a new workspace has. */
export async function initialObjects({ registry, connection }: Sandbox): Promise<ReadonlySet<string>> {
  const live = await listAll(registry, connection.reader);
  return new Set(
    [...live].flatMap(([kind, found]) =>
      found.readable ? found.objects.map(({ id }) => `${kind} ${id}`) : [],
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
    const found = live.get(provider.kind);
    if (found === undefined) continue;
    if (!found.readable) throw new Failure(found.diagnostic);
    const others = found.objects.filter((one) => {
      const address = managed.get(`${provider.kind} ${one.id}`);
      if (address !== undefined) objects.set(address, { address, provider, live: one });
      const isInitial = initial.has(`${provider.kind} ${one.id}`);
      return address === undefined && !isInitial && !isIgnored(provider, one, records);
    });
    for (const one of addressObjects(provider, others)) {
      const address = freeAddress(provider.kind, one.key, objects);
      objects.set(address, { address, provider, live: one.live });
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

function freeAddress(kind: string, key: string, taken: LiveObjects): Address {
  for (let number = 1; ; number++) {
    const address = addressOf(kind, number === 1 ? key : `${key}-${number}`);
    if (!taken.has(address)) return address;
  }
}

/** The fields of an object as a spec writes them, with the addresses of other objects instead of their IDs. */
export function specValuesOf(
  { provider, live }: AddressedObject,
  objects: LiveObjects,
  full: boolean,
): Readonly<Record<string, Json>> {
  return writtenValues(provider, live.values, {
    full,
    reference(kind, id) {
      const other = [...objects.values()].find((one) => one.provider.kind === kind && one.live.id === id);
      return other === undefined ? undefined : `\${${other.address}.${other.provider.idAttribute}}`;
    },
    isWrittenAt: () => false,
  });
}

/** A kind that is named is compared whole; of an object, the fields that are expected. */
export function compareLive(expected: Json, objects: LiveObjects): StepComparison {
  const wanted = isObject(expected) ? expected : {};
  const kinds = new Set(Object.keys(wanted).map((address) => kindOf(address as Address)));
  const found = new Map<string, Json>();
  for (const [address, value] of Object.entries(wanted)) {
    const object = objects.get(address as Address);
    if (object !== undefined) found.set(address, comparedValue(object, objects, value));
    else if (value === null) found.set(address, null);
  }
  for (const [address, object] of objects)
    if (!(address in wanted) && kinds.has(kindOf(address)))
      found.set(address, shorthand(object, specValuesOf(object, objects, false)));
  if (found.size === 0) for (const address of Object.keys(wanted)) found.set(address, null);
  return { what: "live", expected, actual: inOrderOf(expected, found) };
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
