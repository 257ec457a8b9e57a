// Compares the effective rights of every principal on every object before and after. Pure.

import { compareTexts } from "../../core/json.ts";
import { type AccessTarget, ADMINISTRATION } from "../../resource/access.ts";
import type { AccessDiff, AccessRight } from "../model/plan.ts";
import {
  type AccessState,
  ADMINS_KEY,
  EVERYONE_KEY,
  isHigher,
  type LevelGrant,
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
  readonly before: LevelGrant | undefined;
  readonly after: LevelGrant | undefined;
}

interface ComparedRights extends Pick<AccessDiff, "gained" | "lost"> {
  /** Whether anyone but administrators comes, goes, or joins or leaves a group. */
  readonly hasMoves: boolean;
}

/** Rights that differ are shown once: of a group for its members, and of a folder for what is in it. */
export function compareRights(states: AccessStates): ComparedRights {
  const comparison = new Comparison(states);
  const differences = new Map<string, ReadonlyMap<PrincipalKey, Difference>>();
  const targets = new Map([...states.before.objects, ...states.after.objects]);
  for (const [key, target] of targets) {
    const own = comparison.differencesOn(target);
    if (own.length > 0) differences.set(key, new Map(own.map((difference) => [difference.key, difference])));
  }
  const rights: Rights = { gained: [], lost: [] };
  for (const [key, own] of differences) {
    const target = targets.get(key);
    if (target === undefined) continue;
    const shown = [...own.values()].filter(
      (difference) => !isOfFolder(states, differences, target, difference),
    );
    addRights(comparison, target, shown, rights);
  }
  return {
    gained: rights.gained.sort(byPrincipal),
    lost: rights.lost.sort(byPrincipal),
    hasMoves: comparison.hasMoves(),
  };
}

interface Rights {
  readonly gained: AccessRight[];
  readonly lost: AccessRight[];
}

/**
 * Compares levels for all users and service principals at once, by number: most workspaces have many of them, and few grants on an
 * object.
 */
class Comparison {
  readonly states: AccessStates;
  /** Every user and service principal of both states. */
  readonly #individuals: readonly PrincipalKey[];
  readonly #numbers: ReadonlyMap<PrincipalKey, number>;
  readonly #groups: readonly PrincipalKey[];
  /** Groups that may have more members than are known: those that were not read, those without members, and that of all users. */
  readonly #open: readonly PrincipalKey[];
  readonly #movedGroups: ReadonlySet<PrincipalKey>;
  /** Groups whose members differ. */
  readonly #changedGroups = new Set<PrincipalKey>();
  /** By number: whether the groups of an individual differ. */
  readonly #moved: Uint8Array;
  /** By number: administrators, who can do everything in any case. */
  readonly #exempt: Uint8Array;
  readonly #members = {
    before: new Map<PrincipalKey, Int32Array>(),
    after: new Map<PrincipalKey, Int32Array>(),
  };
  readonly #levels: { readonly before: Uint16Array; readonly after: Uint16Array };

  constructor(states: AccessStates) {
    const { before, after } = states;
    this.states = states;
    this.#individuals = [...new Set([...before.individuals.keys(), ...after.individuals.keys()])];
    this.#numbers = new Map(this.#individuals.map((key, at) => [key, at]));
    this.#groups = [...new Set([...before.groups.keys(), ...after.groups.keys()])];
    this.#open = this.#groups.filter((key) => isOpen(states, key));
    const { length } = this.#individuals;
    this.#levels = { before: new Uint16Array(length), after: new Uint16Array(length) };
    this.#moved = new Uint8Array(length);
    for (const group of this.#groups) this.#compareMembers(group);
    this.#movedGroups = new Set(this.#groups.filter((key) => isMoved(states, key)));
    this.#exempt = new Uint8Array(length);
    for (const side of ["before", "after"] as const)
      for (const member of this.#membersOf(side, ADMINS_KEY)) this.#exempt[member] = 1;
  }

  #compareMembers(group: PrincipalKey): void {
    const [old, now] = [this.#membersOf("before", group), this.#membersOf("after", group)];
    const sides = new Uint8Array(this.#individuals.length);
    for (const member of old) sides[member] = 1;
    for (const member of now) sides[member] = (sides[member] ?? 0) + 2;
    for (const member of [...old, ...now])
      if (sides[member] !== 3) {
        this.#moved[member] = 1;
        this.#changedGroups.add(group);
      }
  }

  #membersOf(side: keyof AccessStates, group: PrincipalKey): Int32Array {
    const cached = this.#members[side].get(group);
    if (cached !== undefined) return cached;
    const within = this.states[side].individualsIn(group);
    const members = new Int32Array(within.size);
    let at = 0;
    for (const key of within) members[at++] = this.#numbers.get(key) ?? 0;
    this.#members[side].set(group, members);
    return members;
  }

  /** How many of a group's members have a difference, or are administrators. */
  affected(side: keyof AccessStates, group: PrincipalKey, own: ReadonlyMap<PrincipalKey, unknown>): number {
    let affected = 0;
    for (const member of this.#membersOf(side, group))
      if (this.#exempt[member] === 1 || own.has(this.#individuals[member] ?? "")) affected += 1;
    return affected;
  }

  hasMoves(): boolean {
    const { before, after } = this.states;
    return this.#individuals.some(
      (key, at) => this.#moved[at] === 1 && !(before.isAdministrator(key) && after.isAdministrator(key)),
    );
  }

  differencesOn(target: AccessTarget): readonly Difference[] {
    const hasChanged = haveGrantsChanged(this.states, target);
    const open = this.#open.filter((key) => hasChanged || this.#movedGroups.has(key));
    const ofGroups = open.flatMap((key) => differenceOf(this.states, key, target) ?? []);
    if (!hasChanged && !this.#hasChangedGrantee(target)) return ofGroups;
    const grants = this.#rankedGrants(target);
    const [old, now] = [this.#fill("before", target, grants), this.#fill("after", target, grants)];
    const isRole = target.kind === ADMINISTRATION.kind;
    const own: Difference[] = [];
    for (const [at, key] of this.#individuals.entries()) {
      if (old[at] === now[at] || (!isRole && this.#exempt[at] === 1)) continue;
      own.push({ key, before: grants[(old[at] ?? 0) - 1], after: grants[(now[at] ?? 0) - 1] });
    }
    return [...ofGroups, ...own];
  }

  /** The groups whose own right differs. */
  groupDifferences(target: AccessTarget): readonly Difference[] {
    const hasChanged = haveGrantsChanged(this.states, target);
    const groups = hasChanged ? this.#groups : [...this.#movedGroups];
    return groups.flatMap((key) => differenceOf(this.states, key, target) ?? []);
  }

  /** Of grants that are the same before and after. */
  #hasChangedGrantee(target: AccessTarget): boolean {
    const { before } = this.states;
    return before
      .around(target)
      .some((on) =>
        [...before.grantsOn(targetKey(on)).keys()].some((grantee) => this.#changedGroups.has(grantee)),
      );
  }

  /** One grant for each level on an object or a folder around it, from the lowest. */
  #rankedGrants(target: AccessTarget): readonly LevelGrant[] {
    const levels = new Map<string, LevelGrant>();
    for (const state of [this.states.before, this.states.after])
      for (const on of state.around(target))
        for (const grant of state.grantsOn(targetKey(on)).values()) levels.set(grant.level, grant);
    return [...levels.values()].sort((a, b) => (isHigher(a, b) ? 1 : -1));
  }

  /** By number: the highest level of each individual, as its rank among the grants counted from 1; 0 without one. */
  #fill(side: keyof AccessStates, target: AccessTarget, ranked: readonly LevelGrant[]): Uint16Array {
    const ranks = new Map(ranked.map(({ level }, at) => [level, at + 1]));
    const levels = this.#levels[side].fill(0);
    const state = this.states[side];
    for (const on of state.around(target))
      for (const [grantee, { level }] of state.grantsOn(targetKey(on))) {
        const rank = ranks.get(level) ?? 0;
        const number = this.#numbers.get(grantee);
        const members = number === undefined ? this.#membersOf(side, grantee) : [number];
        for (const member of members) if ((levels[member] ?? 0) < rank) levels[member] = rank;
      }
    return levels;
  }
}

function isOpen({ before, after }: AccessStates, group: PrincipalKey): boolean {
  if (group === EVERYONE_KEY || before.lacksMembers(group) || after.lacksMembers(group)) return true;
  return [before, after].every((state) => {
    for (const key of state.individualsIn(group)) if (!state.isAdministrator(key)) return false;
    return true;
  });
}

/** Whether the groups of a group differ. */
function isMoved({ before, after }: AccessStates, key: PrincipalKey): boolean {
  if (before.has(key) !== after.has(key)) return true;
  const [old, now] = [before.closure(key), after.closure(key)];
  return old.size !== now.size || [...old].some((group) => !now.has(group));
}

function haveGrantsChanged({ before, after }: AccessStates, target: AccessTarget): boolean {
  return before.around(target).some((on) => {
    const key = targetKey(on);
    const [old, now] = [before.grantsOn(key), after.grantsOn(key)];
    return (
      old.size !== now.size || [...old].some(([grantee, { level }]) => now.get(grantee)?.level !== level)
    );
  });
}

/** An administrator has every right, so only that role is compared. */
function differenceOf(states: AccessStates, key: PrincipalKey, target: AccessTarget): Difference | undefined {
  const { before, after } = states;
  if (target.kind !== ADMINISTRATION.kind && isExempt(states, key)) return undefined;
  const [old, now] = [before.levelOn(key, target), after.levelOn(key, target)];
  return old?.level === now?.level ? undefined : { key, before: old, after: now };
}

/** Whether the same right on a folder around the object differs likewise: it covers everything in the folder. */
function isOfFolder(
  states: AccessStates,
  differences: ReadonlyMap<string, ReadonlyMap<PrincipalKey, Difference>>,
  target: AccessTarget,
  difference: Difference,
): boolean {
  const [, ...folders] = states.before.around(target);
  const isGained = isGain(difference);
  return folders.some((folder) => {
    const outer = differences.get(targetKey(folder))?.get(difference.key);
    if (outer === undefined || isGain(outer) !== isGained) return false;
    return levelOf(outer, isGained) === levelOf(difference, isGained);
  });
}

const isGain = ({ before, after }: Difference): boolean =>
  (after?.rank ?? Number.NEGATIVE_INFINITY) >= (before?.rank ?? Number.NEGATIVE_INFINITY);

function addRights(
  comparison: Comparison,
  target: AccessTarget,
  differences: readonly Difference[],
  { gained, lost }: Rights,
): void {
  if (differences.length === 0) return;
  const { states } = comparison;
  const ofGroups = comparison.groupDifferences(target);
  for (const isGained of [true, false]) {
    const own = differences.filter((difference) => isGain(difference) === isGained);
    const groups = ofGroups.filter((difference) => isGain(difference) === isGained);
    const alike = Map.groupBy(own, (difference) => levelOf(difference, isGained));
    for (const [level, list] of alike) {
      const candidates = groups.filter((difference) => levelOf(difference, isGained) === level);
      for (const shown of withGroups(comparison, { isGained, own: list, candidates }))
        (isGained ? gained : lost).push(...rightOf(states, target, shown, isGained));
    }
  }
}

const levelOf = ({ before, after }: Difference, isGained: boolean): string =>
  (isGained ? after?.level : before?.level) ?? "";

/** Differences by which a level is gained, or lost. */
interface AlikeDifferences {
  readonly isGained: boolean;
  readonly own: readonly Difference[];
  /** Groups whose own right differs likewise. */
  readonly candidates: readonly Difference[];
}

interface ShownDifference extends Difference {
  /** Of a group: the principals in it whose right differs likewise. */
  readonly affected?: number;
}

/** The largest groups whose own right differs likewise, and the principals that are in none of them. */
function withGroups(
  comparison: Comparison,
  { isGained, own, candidates }: AlikeDifferences,
): readonly ShownDifference[] {
  const side = isGained ? "after" : "before";
  const state = comparison.states[side];
  const all = new Map(own.map((difference) => [difference.key, difference]));
  const left = new Map(all);
  const sized = candidates
    .map((difference) => ({
      difference,
      members: state.individualsIn(difference.key),
      depth: state.closure(difference.key).size,
    }))
    .sort(
      (a, b) =>
        b.members.size - a.members.size ||
        a.depth - b.depth ||
        (a.difference.key < b.difference.key ? -1 : 1),
    );
  const shown: ShownDifference[] = [];
  for (const { difference: group, members } of sized) {
    if (left.size === 0) break;
    const covered = inBoth(left, members);
    if (left.has(group.key)) covered.push(group.key);
    if (covered.length === 0) continue;
    const affected = comparison.affected(side, group.key, all);
    for (const key of covered) left.delete(key);
    // An inner group without members is part of the outer one.
    for (const key of left.keys())
      if (state.groups.has(key) && state.closure(key).has(group.key)) left.delete(key);
    shown.push({ ...group, affected });
  }
  return [...shown, ...left.values()];
}

function inBoth(
  left: ReadonlyMap<PrincipalKey, unknown>,
  members: ReadonlySet<PrincipalKey>,
): PrincipalKey[] {
  const [few, many] = left.size < members.size ? [left, members] : [members, left];
  return [...few.keys()].filter((key) => many.has(key));
}

/** An administrator can do everything in any case. */
const isExempt = ({ before, after }: AccessStates, key: PrincipalKey): boolean =>
  before.isAdministrator(key) || after.isAdministrator(key);

function rightOf(
  { before, after }: AccessStates,
  target: AccessTarget,
  difference: ShownDifference,
  isGained: boolean,
): readonly AccessRight[] {
  const state = isGained ? after : before;
  const principal = state.principal(difference.key);
  const held = state.held(difference.key, target);
  if (principal === undefined || held === undefined) return [];
  const right = heldRight(state, principal, target, held);
  const affected = right.people === undefined ? undefined : difference.affected;
  return [{ ...right, affected, instead: (isGained ? difference.before : difference.after)?.level }];
}

/** Groups come first, because they stand for most people. */
function byPrincipal(a: AccessRight, b: AccessRight): number {
  return (
    Number(isIndividual(a)) - Number(isIndividual(b)) ||
    compareTexts(a.principal, b.principal) ||
    compareTexts(a.kind, b.kind) ||
    compareTexts(a.object, b.object) ||
    compareTexts(a.level, b.level)
  );
}

const isIndividual = ({ principalKind }: AccessRight): boolean => principalKind !== "group";
