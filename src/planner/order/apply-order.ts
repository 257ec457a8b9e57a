// The order in which an apply runs the changes of a plan, as a graph: an object is created after those that it needs, and deleted after
// those that used it. It has one node per change, and two for a replacement. `dependencies.ts` finds what each change waits for.

import type { Address } from "../../core/address.ts";
import { type Change, changeKey, type NameSource, nameSourceOf, type Replace } from "../model/change.ts";
import { objectKey } from "../model/context.ts";

/** One piece of work of a plan. A replacement has two: it makes the new object, and removes the old one last. */
export interface WorkItem {
  readonly key: string;
  readonly change: Change;
  readonly phase: "whole" | "make" | "remove";
  readonly after: readonly string[];
}

const OLD = "#old";

/** The key of the part after which the name of an object is free. */
export function freeingKey(holder: Change, freedWhen: NameSource["freedWhen"]): string {
  const key = changeKey(holder);
  return freedWhen === "removed" ? key + OLD : key;
}

/** The parts in the plan's order. Changes that touch nothing have none; a comparison has one, since its result is reported. */
export function workGraph(changes: readonly Change[]): readonly WorkItem[] {
  const byAddress = currentChanges(changes);
  /** Dependencies of a creation: the new object exists. */
  const created = (addresses: readonly Address[]): readonly string[] =>
    addresses.filter((address) => byAddress.has(address));
  /** Dependencies of a deletion: the old object that used it was deleted too. */
  const gone = (address: Address): readonly string[] => {
    const change = byAddress.get(address);
    if (change === undefined) return [];
    return change.action === "replace" && change.replacing !== "delete-first"
      ? [address, address + OLD]
      : [address];
  };
  const holderOf = nameHolders(changes);
  return changes.flatMap((change) => {
    const parts = workOf(change, created, gone, byAddress);
    const [first, ...rest] = parts;
    if (first === undefined) return parts;
    const [holder, source] = [holderOf(change), nameSourceOf(change)];
    if (holder === undefined || source === undefined) return parts;
    const freed = freeingKey(holder, source.freedWhen);
    return [{ ...first, after: [...first.after, freed] }, ...rest];
  });
}

/** By address, without the changes of replaced objects. */
export function currentChanges(changes: readonly Change[]): ReadonlyMap<Address, Change> {
  const byAddress = new Map<Address, Change>();
  for (const change of changes)
    if (changeKey(change) === change.address) byAddress.set(change.address, change);
  return byAddress;
}

/** The change of the object whose name a change takes. */
export function nameHolders(changes: readonly Change[]): (change: Change) => Change | undefined {
  const byObject = changesByObject(changes);
  return (change) => {
    const source = nameSourceOf(change);
    return source && byObject.get(objectKey(change.kind, source.id));
  };
}

function workOf(
  change: Change,
  created: (addresses: readonly Address[]) => readonly string[],
  gone: Before,
  byAddress: ReadonlyMap<Address, Change>,
): readonly WorkItem[] {
  const key = changeKey(change);
  switch (change.action) {
    case "create":
    case "update":
    case "compare":
    case "adopt":
    case "import":
    case "move":
      return [{ key, change, phase: "whole", after: created(change.dependsOn) }];
    case "delete":
    case "forget":
      return [{ key, change, phase: "whole", after: change.dependsOn.flatMap(gone) }];
    case "replace":
      return phasesOf(change, created, gone, byAddress);
    case "noop":
      return change.compared === true ? [{ key, change, phase: "whole", after: [] }] : [];
    case "report":
      return [];
    default:
      return change satisfies never;
  }
}

type Before = (address: Address) => readonly string[];

function phasesOf(
  change: Replace,
  created: (addresses: readonly Address[]) => readonly string[],
  gone: Before,
  byAddress: ReadonlyMap<Address, Change>,
): readonly WorkItem[] {
  const { address } = change;
  const after = created(change.dependsOn);
  if (change.replacing === "delete-first") {
    // Objects that are deleted themselves release it first; all others move to the replacement afterwards.
    const leaving = change.removeAfter.filter((address) => byAddress.get(address)?.action === "delete");
    return [{ key: address, change, phase: "whole", after: [...after, ...leaving.flatMap(gone)] }];
  }
  if (change.keepsOld === true) return [{ key: address, change, phase: "whole", after }];
  return [
    { key: address, change, phase: "make", after },
    { key: address + OLD, change, phase: "remove", after: [address, ...change.removeAfter.flatMap(gone)] },
  ];
}

/** The changes of live objects, by kind and ID. */
export function changesByObject(changes: readonly Change[]): ReadonlyMap<string, Change> {
  const byObject = new Map<string, Change>();
  for (const change of changes) if ("id" in change) byObject.set(objectKey(change.kind, change.id), change);
  return byObject;
}
