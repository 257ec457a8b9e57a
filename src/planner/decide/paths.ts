// Paths in a tree: folders that stay because they contain declared resources, and creations that depend on the deletions that free their path.

import { type Address, addressOf } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import { foldersAbove } from "../../resource/names.ts";
import { type Change, type Delete, deletesCurrent } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { PlanInput } from "../model/input.ts";
import { withNeeds } from "../order/dependencies.ts";
import { transitiveClosure } from "../order/graph.ts";

/** The folders above the declared resources, by address, with the first such resource. */
export function occupiedFolders({ registry, spec, destroy }: PlanInput): ReadonlyMap<Address, Address> {
  const occupied = new Map<Address, Address>();
  if (destroy === true) return occupied;
  const kinds = registry.kinds.filter(({ tree }) => tree?.folders === true);
  for (const { address, kind, name } of spec.resources.values())
    for (const folder of kinds) {
      if (folder.tree?.root !== registry.get(kind).tree?.root) continue;
      for (const path of foldersAbove(name)) {
        const above = addressOf(folder.kind, path);
        const first = occupied.get(above);
        if (first === undefined || address < first) occupied.set(above, address);
      }
    }
  return occupied;
}

/** A creation depends on the deletions that free its path. Users of the deleted objects are deleted before, or move afterwards. */
export function withPathsFreedFirst(
  { input: { registry } }: PlanContext,
  changes: readonly Change[],
): readonly Change[] {
  const deletes = changes.filter(deletesCurrent);
  const paths = indexDeletes(registry, deletes);
  const blockers = new Map<Change, readonly Address[]>();
  for (const change of changes) {
    const { tree } = registry.get(change.kind);
    if (change.action !== "create" || tree === undefined) continue;
    const addresses = blockersOf(paths, tree, change.name);
    if (addresses.length > 0) blockers.set(change, addresses);
  }
  const byAddress = new Map(deletes.map((deletion) => [deletion.address, deletion]));
  const amongDeletes = (address: Address): readonly Address[] =>
    (byAddress.get(address)?.dependsOn ?? []).filter((address) => byAddress.has(address));
  const first = transitiveClosure([...blockers.values()].flat(), amongDeletes);
  return changes.map((change) => {
    const blocking = blockers.get(change);
    if (blocking !== undefined) return withNeeds(change, blocking);
    return deletesCurrent(change) && first.has(change.address)
      ? { ...change, dependsOn: amongDeletes(change.address) }
      : change;
  });
}

/**
 * Errors for creations at the path of an object of another kind, or below one, that the plan does not delete. Nothing overwrites a content
 * of another kind, such as a notebook at the path of a file, and no adoption can manage it.
 */
export function takenPaths({ input }: PlanContext, changes: readonly Change[]): readonly Diagnostic[] {
  const { registry, spec, live } = input;
  const blocked = changes.flatMap(({ action, address, kind, name }) => {
    const liveKind = action === "create" ? live.get(kind) : undefined;
    const other = liveKind?.readable === true ? liveKind.others?.get(name) : undefined;
    return other === undefined ? [] : [{ address, kind, name, other }];
  });
  const deletes = indexDeletes(registry, changes.filter(deletesCurrent));
  return blocked.flatMap(({ address, kind, name, other: { path, type } }) => {
    const { tree, singular } = registry.get(kind);
    if (tree === undefined || (deletes.get(keyOf(tree, path))?.at.length ?? 0) > 0) return [];
    const contents = type === "folder" ? " and everything in it" : "";
    const isContent = path === name && !tree.folders && type !== "folder";
    const [code, message] = isContent
      ? ([
          "PLAN_UNMANAGEABLE",
          `${address} cannot manage ${path}: it is a ${type}, not a ${singular}`,
        ] as const)
      : (["PLAN_ALREADY_EXISTS", `${address} cannot be created: ${path} is a ${type}`] as const);
    return error(code, message, {
      address,
      at: spec.resources.get(address)?.at,
      hint: `choose another path, or delete the ${type} ${path}${contents}, then plan again`,
    });
  });
}

type Tree = NonNullable<PlannedKind["tree"]>;

/** The deletions at a path, and those below it. */
interface Going {
  readonly at: Address[];
  readonly below: Address[];
}

const keyOf = ({ root }: Tree, path: string): string => `${root}\n${path}`;

function indexDeletes(registry: PlanningRegistry, deletes: readonly Delete[]): ReadonlyMap<string, Going> {
  const paths = new Map<string, Going>();
  const going = (key: string): Going => {
    const going = paths.get(key) ?? { at: [], below: [] };
    paths.set(key, going);
    return going;
  };
  for (const { kind, name, address } of deletes) {
    const { tree } = registry.get(kind);
    if (tree === undefined) continue;
    going(keyOf(tree, name)).at.push(address);
    for (const folder of foldersAbove(name)) going(keyOf(tree, folder)).below.push(address);
  }
  return paths;
}

/** Objects below a new folder do not block it. A folder above stays, because it is occupied. */
function blockersOf(paths: ReadonlyMap<string, Going>, tree: Tree, path: string): readonly Address[] {
  const here = paths.get(keyOf(tree, path));
  const above = foldersAbove(path).flatMap((folder) => paths.get(keyOf(tree, folder))?.at ?? []);
  return [...(here?.at ?? []), ...above, ...(tree.folders ? [] : (here?.below ?? []))];
}
