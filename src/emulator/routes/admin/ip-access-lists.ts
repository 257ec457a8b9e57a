// IP access lists: addresses that may reach the workspace. The contract has none of these calls; a dialect has.

import { defined, type JsonObject, listIn } from "../../../core/json.ts";
import { ApiError, invalidState, invalidValue, notFound } from "../../world/errors.ts";
import type { Call, Collection, Operations, World } from "../../world/world.ts";
import { settingOf } from "./workspace-conf.ts";

interface IpAccessList {
  readonly list_id: string;
  readonly label: string;
  readonly list_type: string;
  readonly ip_addresses: readonly string[];
  readonly enabled: boolean;
  readonly created_at: number;
  readonly updated_at: number;
}

const listsOf = (world: World): Collection<IpAccessList> => world.collection("ip-access-lists");

const MOST_ENTRIES = 1000;
/** The address of every caller of the emulator. */
const CALLER = "127.0.0.1";

export const ipAccessListOperations: Operations = {
  "ip-access-lists/create": (call, world) => {
    const hex = (length: number): string => world.hex(length);
    const list_id = `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`;
    const head = { list_id, created_at: call.now, updated_at: call.now, enabled: true };
    return { json: { ip_access_list: write(world, { ...head, ...fieldsIn(call.input) } as IpAccessList) } };
  },
  "ip-access-lists/replace": (call, world) => ({ json: change(call, world) }),
  "ip-access-lists/update": (call, world) => ({ json: change(call, world) }),
  "ip-access-lists/get": ({ params }, world) => ({
    json: { ip_access_list: shown(existing(world, params.id)) },
  }),
  "ip-access-lists/delete": ({ params }, world) => {
    const { list_id } = existing(world, params.id);
    checkCaller(
      world,
      [...listsOf(world).values()].filter((other) => other.list_id !== list_id),
    );
    listsOf(world).delete(list_id);
  },
  "ip-access-lists/list": (_call, world) => {
    const lists = [...listsOf(world).values()].map(shown);
    return { json: lists.length === 0 ? {} : { ip_access_lists: lists } };
  },
};

function existing(world: World, id = ""): IpAccessList {
  const list = listsOf(world).get(id);
  if (list === undefined) throw notFound(`IP access list ${id.slice(0, 100)} does not exist.`);
  return list;
}

function change({ input, params, now }: Call, world: World): JsonObject {
  const enabled = typeof input.enabled === "boolean" ? { enabled: input.enabled } : {};
  const changed = { ...existing(world, params.id), ...fieldsIn(input), ...enabled, updated_at: now };
  return { ip_access_list: write(world, changed) };
}

function fieldsIn({ label, list_type, ip_addresses }: JsonObject): Partial<IpAccessList> {
  return defined({
    label: label === undefined ? undefined : String(label),
    list_type: list_type === undefined ? undefined : String(list_type),
    ip_addresses: ip_addresses === undefined ? undefined : listIn(ip_addresses).map(String),
  });
}

function write(world: World, list: IpAccessList): JsonObject {
  for (const address of list.ip_addresses)
    if (rangeOf(address) === undefined)
      throw invalidValue(`${address.slice(0, 100)} is not a valid IP address or CIDR`);
  const others = [...listsOf(world).values()].filter((other) => other.list_id !== list.list_id);
  const entries = [...others, list].reduce((sum, { ip_addresses }) => sum + ip_addresses.length, 0);
  if (entries > MOST_ENTRIES)
    throw new ApiError("QUOTA_EXCEEDED", `All IP access lists together may have ${MOST_ENTRIES} entries.`);
  checkCaller(world, [...others, list]);
  listsOf(world).set(list.list_id, list);
  return shown(list);
}

/** A write that would lock its caller out is refused, once the lists are in force. */
function checkCaller(world: World, lists: readonly IpAccessList[]): void {
  if (settingOf(world, "enableIpAccessLists") !== "true") return;
  const covers = (type: string): boolean =>
    lists.some(
      ({ list_type, enabled, ip_addresses }) =>
        list_type === type && enabled && ip_addresses.some((address) => contains(address, CALLER)),
    );
  const isLimited = lists.some(({ list_type, enabled }) => list_type === "ALLOW" && enabled);
  if (covers("BLOCK") || (isLimited && !covers("ALLOW")))
    throw invalidState(`The IP access list would block your current IP ${CALLER}.`);
}

interface Range {
  readonly from: number;
  readonly size: number;
}

function rangeOf(text: string): Range | undefined {
  const [, address = "", bits = "32"] = /^(\d+\.\d+\.\d+\.\d+)(?:\/(\d+))?$/.exec(text) ?? [];
  const parts = address.split(".").map(Number);
  if (address === "" || parts.some((part) => part > 255) || Number(bits) > 32) return undefined;
  const size = 2 ** (32 - Number(bits));
  const number = parts.reduce((sum, part) => sum * 256 + part, 0);
  return { from: number - (number % size), size };
}

function contains(range: string, address: string): boolean {
  const [outer, inner] = [rangeOf(range), rangeOf(address)];
  return (
    outer !== undefined &&
    inner !== undefined &&
    inner.from >= outer.from &&
    inner.from < outer.from + outer.size
  );
}

function shown(list: IpAccessList): JsonObject {
  return { ...list, ip_addresses: [...list.ip_addresses], address_count: list.ip_addresses.length };
}
