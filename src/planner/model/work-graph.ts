// The graph of an apply: one node per change, two for a replacement, and one more for a temporary name.

import type { Address } from "../../core/address.ts";
import type { Change, NameSource, Replace } from "./change.ts";
import { objectKey } from "./context.ts";
import { changeKey, changesByObject } from "./order.ts";

/** One piece of work of a plan: a replacement has two, and an object may first get a temporary name ("aside"). */
export interface WorkItem {
  readonly key: string;
  readonly change: Change;
  readonly half: "aside" | "whole" | "make" | "remove";
  readonly after: readonly string[];
}

const OLD = "#old";
const ASIDE = "#aside";

/** The key of the part that gives the object of a change its temporary name. */
export function asideKey(change: Change): string {
  return changeKey(change) + ASIDE;
}

/** The key of the part after which the name of an object is free. */
export function freeingKey(holder: Change, once: NameSource["once"]): string {
  const key = changeKey(holder);
  return once === "aside" ? key + ASIDE : once === "removed" ? key + OLD : key;
}

/** The parts in the plan's order. Changes that touch nothing have none; a comparison has one, since its result is reported. */
export function workGraph(changes: readonly Change[]): readonly WorkItem[] {
  const byAddress = new Map<Address, Change>();
  for (const change of changes)
    if (changeKey(change) === change.address) byAddress.set(change.address, change);
  /** Dependencies of a creation: the new object exists. */
  const made = (addresses: readonly Address[]): readonly string[] =>
    addresses.filter((address) => byAddress.has(address));
  /** Dependencies of a deletion: the old object that used it was deleted too. */
  const gone = (address: Address): readonly string[] => {
    const change = byAddress.get(address);
    if (change === undefined) return [];
    return change.action === "replace" && change.replacing !== "delete-first"
      ? [address, address + OLD]
      : [address];
  };
  const named = namesFreed(changes);
  return changes.flatMap((change) => {
    const parts = workOf(change, made, gone, byAddress);
    const [first, ...rest] = parts;
    if (first === undefined) return parts;
    const aside: WorkItem | undefined =
      "temporaryName" in change ? { key: asideKey(change), change, half: "aside", after: [] } : undefined;
    const after = [...first.after, ...(aside === undefined ? [] : [aside.key]), ...named(change)];
    return [...(aside === undefined ? [] : [aside]), { ...first, after }, ...rest];
  });
}

function namesFreed(changes: readonly Change[]): (change: Change) => readonly string[] {
  const byId = changesByObject(changes);
  return (change) => {
    const source = "nameFrom" in change ? change.nameFrom : undefined;
    const holder = source === undefined ? undefined : byId.get(objectKey(change.kind, source.id));
    return source === undefined || holder === undefined ? [] : [freeingKey(holder, source.once)];
  };
}

function workOf(
  change: Change,
  made: (addresses: readonly Address[]) => readonly string[],
  gone: Before,
  byAddress: ReadonlyMap<Address, Change>,
): readonly WorkItem[] {
  const key = changeKey(change);
  switch (change.action) {
    case "create":
    case "update":
    case "compare":
    case "adopt":
      return [{ key, change, half: "whole", after: made(change.dependsOn) }];
    case "delete":
    case "forget":
      return [{ key, change, half: "whole", after: change.dependsOn.flatMap(gone) }];
    case "replace":
      return halves(change, made, gone, byAddress);
    case "noop":
      return change.compared === true ? [{ key, change, half: "whole", after: [] }] : [];
    case "report":
      return [];
    default:
      return change satisfies never;
  }
}

type Before = (address: Address) => readonly string[];

function halves(
  change: Replace,
  made: (addresses: readonly Address[]) => readonly string[],
  gone: Before,
  byAddress: ReadonlyMap<Address, Change>,
): readonly WorkItem[] {
  const { address } = change;
  const after = made(change.dependsOn);
  if (change.replacing === "delete-first") {
    // Objects that are deleted themselves release it first; all others move to the replacement afterwards.
    const leaving = change.removeAfter.filter((one) => byAddress.get(one)?.action === "delete");
    return [{ key: address, change, half: "whole", after: [...after, ...leaving.flatMap(gone)] }];
  }
  if (change.keepsOld === true) return [{ key: address, change, half: "whole", after }];
  return [
    { key: address, change, half: "make", after },
    { key: address + OLD, change, half: "remove", after: [address, ...change.removeAfter.flatMap(gone)] },
  ];
}
