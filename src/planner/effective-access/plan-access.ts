// The access diff of a plan: which of its changes change access, the workspace before and after them, and what is not known. And the access of a whole workspace, live or after a plan. Pure.

import { type Address, kindOf, parentOf } from "../../core/address.ts";
import { canonicalJson } from "../../core/digest.ts";
import { omit } from "../../core/json.ts";
import { count, listed } from "../../core/sentences.ts";
import {
  type AccessContribution,
  type AccessPlanning,
  type AccessTarget,
  type Grant,
  PRINCIPAL_KINDS,
  type PrincipalKind,
  type RightsHolder,
} from "../../resource/access.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { principalKey } from "../../resource/names.ts";
import { type Change, removes, touches } from "../model/change.ts";
import { objectKey, type PlanContext } from "../model/context.ts";
import type { PlanFacts } from "../model/input.ts";
import type { AccessDiff } from "../model/plan.ts";
import { markedResult, withReferenceTexts } from "../model/planned-workspace.ts";
import { AccessState, type EndedMembership } from "./access-state.ts";
import { type AccessStates, compareRights } from "./compare-rights.ts";

interface Sides {
  readonly before: AccessContribution | undefined;
  readonly after: AccessContribution | undefined;
}

/** The contribution of an object. A principal whose activity is sensitive counts as active. */
function contributionOf(
  access: AccessPlanning,
  { isSensitive }: Pick<PlanContext["input"], "isSensitive">,
  address: Address | undefined,
  object: RightsHolder,
): AccessContribution {
  const { activity } = access;
  const isHidden =
    activity !== undefined && address !== undefined && isSensitive?.(address, [activity]) === true;
  if (!isHidden) return access.contribution(object);
  const { principal, ...rest } = access.contribution({ ...object, values: omit(object.values, [activity]) });
  return principal === undefined ? rest : { ...rest, principal: { ...principal, isActivityHidden: true } };
}

/** What an object adds to access before and after a change. */
function sidesOf(
  { input }: PlanContext,
  change: Change,
  { access, fields }: { readonly access: AccessPlanning } & Pick<PlannedKind, "fields">,
  live: LiveObject | undefined,
): Sides {
  const of = (object: RightsHolder): AccessContribution =>
    contributionOf(access, input, change.address, object);
  const reached = markedResult(change, fields);
  const isNew = change.action === "create" || change.action === "replace";
  const isKept = change.action === "forget";
  const old =
    "before" in change
      ? { id: change.id, name: live?.name ?? change.name, values: change.before, facts: live?.facts ?? {} }
      : live;
  const before = old && of({ ...old, isNew: false });
  if (isKept) return { before, after: before };
  const after =
    reached &&
    of({
      id: isNew ? undefined : old?.id,
      name: change.name,
      values: withReferenceTexts(reached) as LiveObject["values"],
      facts: isNew ? {} : (old?.facts ?? {}),
      isNew,
    });
  return { before, after };
}

const rightsOfContribution = (contribution: AccessContribution | undefined): string => {
  const { isUnread: _, creatorLevel: __, ...rights } = contribution ?? {};
  const isEmpty = rights.principal === undefined && (rights.grants ?? []).length === 0;
  return isEmpty ? "" : canonicalJson(JSON.parse(JSON.stringify(rights)));
};

interface ChangedSides extends Sides {
  readonly differs: boolean;
}

interface ChangedAccess {
  /** What each object adds to access before and after its change; both can be equal. */
  readonly sides: ReadonlyMap<Change, ChangedSides>;
  /** The keys of objects that are deleted with their parent, such as the access list of a scope. */
  readonly gone: ReadonlySet<string>;
  /** Whether rights or memberships differ, and not only lists that were not read. */
  readonly isCertain: boolean;
}

export function changedAccess(context: PlanContext, changes: readonly Change[]): ChangedAccess {
  const { input, liveIndex } = context;
  const sides = new Map<Change, ChangedSides>();
  for (const change of changes) {
    const { planning, fields } = input.registry.get(change.kind);
    const { access } = planning;
    if (access === undefined || !touches(change)) continue;
    const live = "id" in change ? liveIndex.byId(change.kind, change.id) : undefined;
    const both = sidesOf(context, change, { access, fields }, live);
    const differs = rightsOfContribution(both.before) !== rightsOfContribution(both.after);
    sides.set(change, { ...both, differs });
  }
  const gone = deletedWithParents(context, changes);
  return { sides, gone, isCertain: gone.size > 0 || [...sides.values()].some(({ differs }) => differs) };
}

/** The plan has no change of a member that it does not record. */
function deletedWithParents(
  { input, liveIndex }: PlanContext,
  changes: readonly Change[],
): ReadonlySet<string> {
  const leaving = changes.filter((change) => removes(change) && !("keepsOld" in change && change.keepsOld));
  const parents = new Set(leaving.map(({ kind, name }) => objectKey(kind, name)));
  const gone = new Set<string>();
  for (const { kind, nested, planning } of input.registry.kinds)
    if (nested !== undefined && planning.access !== undefined)
      for (const { id, name } of liveIndex.all(kind))
        if (parents.has(objectKey(nested.kind, parentOf(name)))) gone.add(objectKey(kind, id));
  return gone;
}

/**
 * What an object adds to the access of others: rights on objects, and members. A user and its entitlements concern no others, and
 * neither does an empty group.
 */
function reachOf(contribution: AccessContribution | undefined): string {
  const { principal, members = [], memberOf = [], grants = [], lacksMembers } = contribution ?? {};
  const isGroup = principal?.kind === "group";
  const reach = principal === undefined || isGroup ? [...members, ...grants] : memberOf;
  const isEmpty = reach.length === 0 || (isGroup && members.length === 0 && lacksMembers !== true);
  return isEmpty ? "" : JSON.stringify(reach);
}

const concernsOthers = ({ sides }: ChangedAccess): boolean =>
  [...sides.values()].some(({ before, after }) => reachOf(before) !== reachOf(after));

/** The only right that is deleted with a parent may be that of its creator, who can be an administrator. */
const mayConcernOthers = (changed: ChangedAccess): boolean =>
  changed.gone.size > 0 || concernsOthers(changed);

/** The kinds of principals that a comparison of access needs and the plan did not read. A plan that changes the access of no others needs none. */
export function unreadPrincipals(context: PlanContext, changes: readonly Change[]): ReadonlySet<string> {
  const { registry, live } = context.input;
  const kinds = registry.kinds.filter(
    ({ kind, planning }) => PRINCIPAL_KINDS[kind] !== undefined && planning.access !== undefined,
  );
  const unread = kinds.filter(({ kind }) => !live.has(kind)).map(({ kind }) => kind);
  if (unread.length === 0) return new Set();
  if (!mayConcernOthers(changedAccess(context, changes))) return new Set();
  // Members are known by name only if users and groups are read together.
  return new Set(kinds.map(({ kind }) => kind));
}

/** Undefined if the plan does not change access. */
export function accessOfPlan(
  context: PlanContext,
  facts: Pick<PlanFacts, "caller" | "principals">,
  changes: readonly Change[],
): AccessDiff | undefined {
  const changed = changedAccess(context, changes);
  const { sides } = changed;
  if (!changed.isCertain) return undefined;
  const world = accessWorld(context, facts.principals);
  // A plan that concerns no others reads no principals, so whether the creator is an administrator is unknown.
  const isWide = mayConcernOthers(changed);
  const creators = isWide ? creatorsIn(sides) : [];
  const states = statesOf(context, facts, world, changed, creators);
  const { hasMoves, ...diff } = compareRights(states);
  const isOfOthers = diff.gained.length + diff.lost.length > 0 || concernsOthers(changed);
  const lists = isWide && isOfOthers ? unreadLists(context, world, sides, hasMoves) : [];
  if (diff.gained.length + diff.lost.length + lists.length === 0) return undefined;
  const isCallerUnknown = facts.caller === undefined && creators.length > 0;
  const creations = isCallerUnknown ? ["what the caller may do with objects that it creates"] : [];
  const notCompared = [...world.notes, ...lists, ...creations];
  return { ...diff, notCompared };
}

interface Creator {
  readonly change: Change;
  readonly level: string;
}

const creatorsIn = (sides: ChangedAccess["sides"]): readonly Creator[] =>
  [...sides].flatMap(([change, { after }]) =>
    after?.creatorLevel === undefined ? [] : [{ change, level: after.creatorLevel }],
  );

/** `creators`: changes whose object gives the caller a right as its creator. */
export function statesOf(
  { input }: PlanContext,
  { caller }: Pick<PlanFacts, "caller">,
  { objects, unread }: AccessWorld,
  { sides, gone }: Pick<ChangedAccess, "sides" | "gone">,
  creators: readonly Creator[] = creatorsIn(sides),
): AccessStates {
  const changed = new Map(
    [...sides].flatMap(([change, both]) =>
      "id" in change ? [[objectKey(change.kind, change.id), both]] : [],
    ),
  );
  const created = [...sides].flatMap(([change, { after }]) => ("id" in change ? [] : (after ?? [])));
  const { registry } = input;
  const of = (side: keyof Sides) =>
    objects.flatMap(({ key, contribution }) => {
      if (side === "after" && gone.has(key)) return [];
      const both = changed.get(key);
      return both === undefined ? [contribution] : (both[side] ?? []);
    });
  const creatorGrants =
    caller === undefined
      ? []
      : creators.map(({ change: { kind, name }, level }): Grant => {
          return { on: { kind, name }, to: { kind: "user", name: caller }, level };
        });
  const before = new AccessState({ registry, contributions: of("before"), unread });
  const after = new AccessState({
    registry,
    contributions: [...of("after"), ...created],
    creatorGrants,
    unread,
    ended: [...sides.values()].flatMap(endedMemberships),
  });
  return { before, after };
}

/** Those that a changed list of a group or of a user no longer has. */
function endedMemberships({ before, after }: Sides): readonly EndedMembership[] {
  const principal = after?.principal;
  if (before?.principal === undefined || principal === undefined) return [];
  const stay = new Set((after?.members ?? []).map(principalKey));
  const groups = new Set(after?.memberOf ?? before.memberOf);
  return [
    ...(before.members ?? [])
      .filter((member) => !stay.has(principalKey(member)))
      .map((member) => ({ group: principal.name, member })),
    ...(before.memberOf ?? [])
      .filter((group) => !groups.has(group))
      .map((group) => ({ group, member: principal })),
  ];
}

/** The objects of a workspace that decide its access. */
interface AccessContext {
  readonly input: Pick<PlanContext["input"], "registry" | "live" | "partial" | "isSensitive">;
  readonly liveIndex: PlanContext["liveIndex"];
  readonly owners: PlanContext["owners"];
}

/** The contributions of all objects that were read. */
interface AccessWorld {
  readonly objects: readonly {
    readonly key: string;
    readonly kind: string;
    readonly name: string;
    readonly contribution: AccessContribution;
  }[];
  readonly unread: ReadonlySet<PrincipalKind>;
  /** Unread parts, as sentences. */
  readonly notes: readonly string[];
}

export function accessWorld({ input, liveIndex, owners }: AccessContext, principals?: Live): AccessWorld {
  const unread = new Set<PrincipalKind>();
  const objects = input.registry.kinds.flatMap(({ kind, planning: { access } }) => {
    if (access === undefined) return [];
    const principal = PRINCIPAL_KINDS[kind];
    const read = principal === undefined ? undefined : principals?.get(kind);
    const isRead = read?.readable === true || input.live.get(kind)?.readable === true;
    if (principal !== undefined && (!isRead || input.partial === true)) unread.add(principal);
    const live = read?.readable === true ? withLive(read.objects, liveIndex.all(kind)) : liveIndex.all(kind);
    return live.map((object) => {
      const holder = { ...object, isNew: false };
      const contribution = contributionOf(access, input, owners.get(kind, object.id), holder);
      return { key: objectKey(kind, object.id), kind, name: object.name, contribution };
    });
  });
  const missing = Object.keys(PRINCIPAL_KINDS).filter(
    (kind) =>
      input.registry.find(kind)?.planning.access !== undefined && unread.has(PRINCIPAL_KINDS[kind] ?? "user"),
  );
  const notes =
    missing.length === 0
      ? []
      : [
          input.partial === true
            ? "principals that the state does not record"
            : `${listed(missing)}: not read`,
        ];
  return { objects, unread, notes };
}

/** An inactive user that the spec names is not in a list of all users. */
function withLive(all: readonly LiveObject[], observed: readonly LiveObject[]): readonly LiveObject[] {
  const ids = new Set(all.map(({ id }) => id));
  return [...all, ...observed.filter(({ id }) => !ids.has(id))];
}

/** Lists that were not read matter where an object goes, or where anyone joins or leaves a group. */
function unreadLists(
  { input, liveIndex }: PlanContext,
  { objects }: AccessWorld,
  sides: ChangedAccess["sides"],
  isMoved: boolean,
): readonly string[] {
  const { registry, spec, state } = input;
  const going = [...sides].filter(
    ([, { before, after }]) => before?.isUnread === true && after?.isUnread !== true,
  );
  const unread = new Map<string, number>();
  const add = (kind: string): unknown => unread.set(kind, (unread.get(kind) ?? 0) + 1);
  if (isMoved) {
    for (const { kind, contribution } of objects) if (contribution.isUnread === true) add(kind);
    const managed = new Set(
      [...spec.resources.values(), ...state.records.values()].map(({ address, name }) =>
        objectKey(kindOf(address), name),
      ),
    );
    for (const { nested, planning } of registry.kinds)
      if (nested !== undefined && planning.access !== undefined && input.live.has(nested.kind))
        for (const parent of liveIndex.all(nested.kind))
          if (!managed.has(objectKey(nested.kind, parent.name))) add(nested.kind);
  } else for (const [change] of going) add(change.kind);
  return [...unread].map(([kind, number]) => {
    return `${accessLists(number, registry.get(kind))} ${isMoved ? "that this plan does not read" : "that the plan deletes or replaces"}`;
  });
}

/** `the access lists of 3 clusters`. */
export function accessLists(number: number, { singular }: Pick<PlannedKind, "singular">): string {
  return `${number === 1 ? "the access list" : "the access lists"} of ${count(number, singular)}`;
}

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
    notRead: [...notes, ...unreadKinds(context), ...unreadAskedLists(context, objects, isAsked)],
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
    notRead: [...world.notes, ...unreadKinds(context), ...unreadAskedLists(context, staying, isAsked)],
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

function unreadAskedLists(
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
