// Compares the access of a workspace before and after: the effective rights of every principal on every object. Pure.

import { type AccessTarget, ADMINISTRATION } from "../../resource/access.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { foldersAbove } from "../../resource/names.ts";
import type { AccessDiff, AccessRight } from "../model/access.ts";
import {
  type AccessState,
  EVERYONE_KEY,
  type HeldRight,
  isInTree,
  type PrincipalKey,
  targetKey,
} from "./access-state.ts";
import { heldRight } from "./held-rights.ts";

export interface AccessStates {
  readonly before: AccessState;
  readonly after: AccessState;
}

/** A principal whose right on an object differs. */
interface Difference {
  readonly key: PrincipalKey;
  readonly before: HeldRight | undefined;
  readonly after: HeldRight | undefined;
}

export interface ComparedAccess extends Pick<AccessDiff, "gained" | "lost"> {
  /** Whether anyone but administrators comes, goes, or joins or leaves a group. */
  readonly hasMoves: boolean;
}

/** Rights that differ are shown once: of a group for its members, and of a folder for what is in it. */
export function compareAccess(states: AccessStates, registry: PlanningRegistry): ComparedAccess {
  const targets = comparedTargets(states);
  const everyone = comparedPrincipals(states);
  const moved = everyone.filter((key) => isMoved(states, key));
  const differences = new Map<string, readonly Difference[]>();
  for (const [key, target] of targets) {
    const principals = haveGrantsChanged(states, registry, target) ? everyone : moved;
    const own = principals.flatMap((principal) => differenceOf(states, principal, target) ?? []);
    if (own.length > 0) differences.set(key, own);
  }
  const rights: Rights = { gained: [], lost: [] };
  for (const [key, own] of differences) {
    const target = targets.get(key);
    if (target === undefined) continue;
    const shown = own.filter((difference) => !isOfFolder(differences, registry, target, difference));
    addRights(states, target, shown, rights);
  }
  const hasMoves = moved.some((key) => {
    const isGroup = states.before.groups.has(key) || states.after.groups.has(key);
    return !isGroup && !(states.before.isAdministrator(key) && states.after.isAdministrator(key));
  });
  return { gained: rights.gained.sort(byPrincipal), lost: rights.lost.sort(byPrincipal), hasMoves };
}

interface Rights {
  readonly gained: AccessRight[];
  readonly lost: AccessRight[];
}

/** Folders come before what is in them. */
function comparedTargets({ before, after }: AccessStates): ReadonlyMap<string, AccessTarget> {
  const targets = new Map([...before.objects, ...after.objects]);
  return new Map([...targets].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Every user and service principal, and groups that may have more members than are known: those that were not read, those without
 * members, and the group of all users.
 */
function comparedPrincipals(states: AccessStates): readonly PrincipalKey[] {
  const { before, after } = states;
  const individuals = new Set([...before.individuals.keys(), ...after.individuals.keys()]);
  const groups = new Set([...before.groups.keys(), ...after.groups.keys()]);
  return [...individuals, ...[...groups].filter((key) => isOpen(states, key))].sort();
}

export function isOpen({ before, after }: AccessStates, group: PrincipalKey): boolean {
  if (group === EVERYONE_KEY || before.lacksMembers(group) || after.lacksMembers(group)) return true;
  return [before, after].every(
    (state) => ![...state.individualsIn(group)].some((key) => !state.isAdministrator(key)),
  );
}

/** Whether the groups of a principal differ. */
function isMoved({ before, after }: AccessStates, key: PrincipalKey): boolean {
  if (before.has(key) !== after.has(key)) return true;
  const [old, now] = [before.closure(key), after.closure(key)];
  return old.size !== now.size || [...old].some((group) => !now.has(group));
}

function haveGrantsChanged(
  { before, after }: AccessStates,
  registry: PlanningRegistry,
  target: AccessTarget,
): boolean {
  return aroundOf(registry, target).some((on) => {
    const key = targetKey(on);
    const [old, now] = [before.grantsOn(key), after.grantsOn(key)];
    return (
      old.size !== now.size || [...old].some(([grantee, { level }]) => now.get(grantee)?.level !== level)
    );
  });
}

function aroundOf(registry: PlanningRegistry, target: AccessTarget): readonly AccessTarget[] {
  return [target, ...foldersOf(registry, target)];
}

function foldersOf(registry: PlanningRegistry, { kind, name }: AccessTarget): readonly AccessTarget[] {
  return isInTree(registry, kind)
    ? foldersAbove(name).map((folder) => ({ kind: "directories", name: folder }))
    : [];
}

/** An administrator has every right, so only that role is compared. */
function differenceOf(states: AccessStates, key: PrincipalKey, target: AccessTarget): Difference | undefined {
  const { before, after } = states;
  const isRole = target.kind === ADMINISTRATION.kind;
  const hasRole = (state: AccessState): boolean => !isRole && state.isAdministrator(key);
  if (hasRole(before) || hasRole(after)) return undefined;
  const [old, now] = [before.held(key, target), after.held(key, target)];
  return old?.level === now?.level ? undefined : { key, before: old, after: now };
}

/** Whether the same right on a folder around the object differs likewise: it covers everything in the folder. */
function isOfFolder(
  differences: ReadonlyMap<string, readonly Difference[]>,
  registry: PlanningRegistry,
  target: AccessTarget,
  { key, before, after }: Difference,
): boolean {
  return foldersOf(registry, target).some((folder) =>
    (differences.get(targetKey(folder)) ?? []).some((outer) =>
      outer.key !== key || isGain(outer) !== isGain({ before, after })
        ? false
        : isGain(outer)
          ? outer.after?.level === after?.level
          : outer.before?.level === before?.level,
    ),
  );
}

function isGain({ before, after }: Pick<Difference, "before" | "after">): boolean {
  return (
    (after?.rank ?? Number.NEGATIVE_INFINITY) >= (before?.rank ?? Number.NEGATIVE_INFINITY) &&
    after !== undefined
  );
}

function addRights(
  states: AccessStates,
  target: AccessTarget,
  differences: readonly Difference[],
  { gained, lost }: Rights,
): void {
  for (const isGained of [true, false]) {
    const own = differences.filter((difference) => isGain(difference) === isGained);
    const alike = Map.groupBy(own, (difference) => levelOf(difference, isGained));
    for (const [level, group] of alike)
      for (const shown of withGroups(states, target, { level, isGained, own: group }))
        (isGained ? gained : lost).push(...rightOf(states, target, shown, isGained));
  }
}

const levelOf = ({ before, after }: Difference, isGained: boolean): string =>
  (isGained ? after?.level : before?.level) ?? "";

/** Differences by which a level is gained, or lost. */
interface AlikeDifferences {
  readonly level: string;
  readonly isGained: boolean;
  readonly own: readonly Difference[];
}

interface ShownDifference extends Difference {
  /** Of a group: the principals in it whose right differs likewise. */
  readonly affected?: number;
}

/** The largest groups whose own right differs likewise, and the principals that are in none of them. */
function withGroups(
  states: AccessStates,
  target: AccessTarget,
  { level, isGained, own }: AlikeDifferences,
): readonly ShownDifference[] {
  const state = isGained ? states.after : states.before;
  const left = new Map(own.map((difference) => [difference.key, difference]));
  const candidates = [...state.groups.keys()].flatMap((key) => {
    const difference = differenceOf(states, key, target);
    if (difference === undefined || isGain(difference) !== isGained) return [];
    return levelOf(difference, isGained) === level ? [difference] : [];
  });
  const size = ({ key }: Difference): number => state.individualsIn(key).size;
  candidates.sort(
    (a, b) => size(b) - size(a) || depth(state, a) - depth(state, b) || (a.key < b.key ? -1 : 1),
  );
  const shown: ShownDifference[] = [];
  for (const group of candidates) {
    const members = [...state.individualsIn(group.key)];
    const covered = [...members, group.key].filter((key) => left.has(key));
    if (covered.length === 0) continue;
    const all = new Set(own.map(({ key }) => key));
    const affected = members.filter((key) => all.has(key) || isExempt(states, key)).length;
    for (const key of covered) left.delete(key);
    // An inner group without members is part of the outer one.
    for (const key of left.keys())
      if (state.groups.has(key) && state.closure(key).has(group.key)) left.delete(key);
    shown.push({ ...group, affected });
  }
  return [...shown, ...left.values()];
}

/** An administrator can do everything in any case. */
const isExempt = ({ before, after }: AccessStates, key: PrincipalKey): boolean =>
  before.isAdministrator(key) || after.isAdministrator(key);

const depth = (state: AccessState, { key }: Difference): number => state.closure(key).size;

function rightOf(
  { before, after }: AccessStates,
  target: AccessTarget,
  difference: ShownDifference,
  isGained: boolean,
): readonly AccessRight[] {
  const state = isGained ? after : before;
  const principal = state.principal(difference.key);
  const held = isGained ? difference.after : difference.before;
  if (principal === undefined || held === undefined) return [];
  const right = heldRight(state, principal, target, held);
  const affected = right.people === undefined ? undefined : difference.affected;
  return [{ ...right, affected, instead: (isGained ? difference.before : difference.after)?.level }];
}

function byPrincipal(a: AccessRight, b: AccessRight): number {
  return compareTexts(
    [isIndividual(a), a.principal, a.kind, a.object, a.level],
    [isIndividual(b), b.principal, b.kind, b.object, b.level],
  );
}

/** Groups come first, because they stand for most people. */
const isIndividual = ({ principalKind }: AccessRight): string => (principalKind === "group" ? "0" : "1");

function compareTexts(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((text, index) => text !== b[index]);
  return at < 0 ? 0 : (a[at] ?? "") < (b[at] ?? "") ? -1 : 1;
}
