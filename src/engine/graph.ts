// The graph of an apply: a node for each change, two for a replacement, so that dependents move between its halves.

import type { Address } from "../core/address.ts";
import type { Change, Replace } from "../planner/change.ts";
import { changeKey } from "../planner/order.ts";

/** One piece of work of a plan. A replacement is made first and its old object removed after its dependents have moved. */
export interface Part {
  readonly key: string;
  readonly change: Change;
  readonly half: "whole" | "make" | "remove";
  readonly after: readonly string[];
}

const OLD = "#old";

/** The parts in the plan's order. Changes that touch nothing have none. */
export function partsOf(changes: readonly Change[]): readonly Part[] {
  const byAddress = new Map<Address, Change>();
  for (const change of changes)
    if (changeKey(change) === change.address) byAddress.set(change.address, change);
  /** What comes before something that is made: the new object is there. */
  const made = (address: Address): readonly string[] => (byAddress.has(address) ? [address] : []);
  /** What comes before something that goes: the old object that held it has gone too. */
  const gone = (address: Address): readonly string[] => {
    const change = byAddress.get(address);
    if (change === undefined) return [];
    return change.action === "replace" && change.replacing !== "delete-first"
      ? [address, address + OLD]
      : [address];
  };
  return changes.flatMap((change): readonly Part[] => {
    const key = changeKey(change);
    switch (change.action) {
      case "create":
      case "update":
      case "adopt":
        return [{ key, change, half: "whole", after: change.dependsOn.flatMap(made) }];
      case "delete":
      case "forget":
        return [{ key, change, half: "whole", after: change.dependsOn.flatMap(gone) }];
      case "replace":
        return halves(change, made, gone, byAddress);
      case "noop":
      case "report":
        return [];
      default:
        return change satisfies never;
    }
  });
}

type Before = (address: Address) => readonly string[];

function halves(
  change: Replace,
  made: Before,
  gone: Before,
  byAddress: ReadonlyMap<Address, Change>,
): readonly Part[] {
  const { address } = change;
  const after = change.dependsOn.flatMap(made);
  if (change.replacing === "delete-first") {
    // What is deleted itself lets go first; everything else moves to the successor afterwards.
    const leaving = change.removeAfter.filter((one) => byAddress.get(one)?.action === "delete");
    return [{ key: address, change, half: "whole", after: [...after, ...leaving.flatMap(gone)] }];
  }
  if (change.keepsOld === true) return [{ key: address, change, half: "whole", after }];
  return [
    { key: address, change, half: "make", after },
    { key: address + OLD, change, half: "remove", after: [address, ...change.removeAfter.flatMap(gone)] },
  ];
}
