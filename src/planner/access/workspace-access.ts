// The access of a whole workspace, live or after a plan, for questions about a principal or an object. Pure.

import { listed } from "../../core/sentences.ts";
import type { AccessTarget } from "../../resource/access.ts";
import { type Change, touches } from "../model/change.ts";
import { objectKey, type PlanContext } from "../model/context.ts";
import type { PlanFacts } from "../model/input.ts";
import { AccessState } from "./access-state.ts";
import {
  type AccessContext,
  type AccessWorld,
  accessLists,
  accessWorld,
  changedAccess,
  statesOf,
} from "./plan-access.ts";

export interface WorkspaceAccess {
  readonly state: AccessState;
  /** Every object that can have rights, also without any. */
  readonly targets: readonly AccessTarget[];
  /** Unread parts, as sentences. */
  readonly notRead: readonly string[];
}

/** Whether a question is about an object, so that its access list matters. */
export type IsAsked = (kind: string, name: string) => boolean;

/** The access that all objects give which were read. */
export function accessOfLive(context: AccessContext, isAsked: IsAsked): WorkspaceAccess {
  const { objects, unread, notes } = accessWorld(context);
  const contributions = objects.map(({ contribution }) => contribution);
  return {
    state: new AccessState({ registry: context.input.registry, contributions, unread }),
    targets: objects.flatMap((object) => targetOf(context, object)),
    notRead: [...notes, ...unreadKinds(context), ...unreadLists(context, objects, isAsked)],
  };
}

/** The access after a plan. A change of other fields keeps the access list that the object has. */
export function accessAfter(
  context: PlanContext,
  facts: Pick<PlanFacts, "caller">,
  changes: readonly Change[],
  isAsked: IsAsked,
): WorkspaceAccess {
  const world = accessWorld(context);
  const { gone, ...access } = changedAccess(context, changes);
  const sides = new Map(
    [...access.sides].filter(
      ([{ action }, { differs }]) =>
        differs || action === "create" || action === "delete" || action === "replace",
    ),
  );
  const changed = new Set(
    [...sides.keys()].flatMap((change) => ("id" in change ? objectKey(change.kind, change.id) : [])),
  );
  const staying = world.objects.filter(({ key }) => !changed.has(key));
  const planned = changes.filter((change) => touches(change) && "after" in change);
  return {
    state: statesOf(context, facts, world, { sides, gone }).after,
    targets: [...staying, ...planned].flatMap((object) => targetOf(context, object)),
    notRead: [...world.notes, ...unreadKinds(context), ...unreadLists(context, staying, isAsked)],
  };
}

/** An ACL or a group gives rights and has none. */
function targetOf({ input }: AccessContext, { kind, name }: AccessTarget): readonly AccessTarget[] {
  return (input.registry.get(kind).planning.access?.levels ?? []).length === 0 ? [] : [{ kind, name }];
}

function unreadKinds({ input }: AccessContext): readonly string[] {
  return input.registry.kinds.flatMap(({ kind, planning }) => {
    const read = planning.access === undefined ? undefined : input.live.get(kind);
    if (read?.readable === false) return [`${kind}: ${read.diagnostic.message}`];
    return read?.readable === true && read.unreadableParents.size > 0
      ? [`${kind} of ${listed([...read.unreadableParents.keys()])}`]
      : [];
  });
}

function unreadLists(
  { input }: AccessContext,
  objects: AccessWorld["objects"],
  isAsked: IsAsked,
): readonly string[] {
  const unread = objects.filter(
    ({ kind, name, contribution }) => contribution.isUnread === true && isAsked(kind, name),
  );
  return [...Map.groupBy(unread, ({ kind }) => kind)].map(([kind, { length }]) =>
    accessLists(length, input.registry.get(kind)),
  );
}
