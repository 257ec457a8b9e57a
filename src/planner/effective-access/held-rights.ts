// The rights of a workspace at one time: those of one principal, and those on one object, each with its path. Pure.

import { kindOf, nameOf, parseAddress } from "../../core/address.ts";
import { compareKeys } from "../../core/json.ts";
import {
  type AccessTarget,
  ADMINISTRATION,
  PRINCIPAL_KINDS,
  type PrincipalKind,
} from "../../resource/access.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { isSameName } from "../../resource/names.ts";
import type { AccessRight } from "../model/plan.ts";
import {
  type AccessState,
  type HeldRight,
  type PrincipalKey,
  type PrincipalOfState,
  targetKey,
} from "./access-state.ts";

/** A group of a principal, and the groups between them, the nearest first. */
export interface Membership {
  readonly group: string;
  readonly through: readonly string[];
}

export interface PrincipalAccess {
  readonly subject: "principal";
  readonly name: string;
  readonly kind: PrincipalKind;
  /** Of a group: its users and service principals; absent if its members are not known. */
  readonly people?: number;
  /** Undefined if it is sensitive: the rights are those of an active principal. */
  readonly isActive: boolean | undefined;
  readonly isAdministrator: boolean;
  readonly memberOf: readonly Membership[];
  /** The highest right on each object. What is in a folder is listed only if the right there is not that of the folder. */
  readonly rights: readonly AccessRight[];
}

export interface ObjectAccess {
  readonly subject: "object";
  readonly target: AccessTarget;
  /** Who can do everything, in the same form as `rights`. */
  readonly administrators: readonly AccessRight[];
  /** Groups that a list names, and every user and service principal, each with its highest right; the highest level first. */
  readonly rights: readonly AccessRight[];
}

export function heldRight(
  state: AccessState,
  principal: PrincipalOfState,
  target: AccessTarget,
  held: HeldRight,
): AccessRight {
  return {
    principal: principal.name,
    principalKind: principal.kind,
    people: peopleIn(state, principal),
    level: held.level,
    kind: target.kind,
    object: target.name,
    through: namesOf(state, state.way(principal.key, held.grantee)),
    inheritedFrom: targetKey(held.on) === targetKey(target) ? undefined : held.on.name,
    asCreator: held.asCreator ? (true as const) : undefined,
  };
}

function peopleIn(state: AccessState, { key, kind }: PrincipalOfState): number | undefined {
  return kind === "group" && !state.lacksMembers(key) ? state.individualsIn(key).size : undefined;
}

const namesOf = (state: AccessState, keys: readonly PrincipalKey[]): readonly string[] =>
  keys.flatMap((key) => state.principal(key)?.name ?? []);

export function accessOfPrincipal(state: AccessState, principal: PrincipalOfState): PrincipalAccess {
  const { key, name, kind } = principal;
  const groups = [...state.closure(key)].filter((group) => group !== key);
  const memberOf = groups.map((group) => ({
    group: state.principal(group)?.name ?? "",
    through: namesOf(state, state.way(key, group).slice(0, -1)),
  }));
  const rights = sortedTargets(state).flatMap((target): readonly AccessRight[] => {
    const held = state.held(key, target);
    const isOwn = held !== undefined && targetKey(held.on) === targetKey(target);
    return isOwn ? [heldRight(state, principal, target, held)] : [];
  });
  return {
    subject: "principal",
    ...{ name, kind, people: peopleIn(state, principal), isActive: state.isActive(key) },
    isAdministrator: state.isAdministrator(key),
    memberOf: memberOf.sort((a, b) => a.through.length - b.through.length || (a.group < b.group ? -1 : 1)),
    rights: rights.filter((right) => right.kind !== ADMINISTRATION.kind),
  };
}

export function accessOfObject(state: AccessState, target: AccessTarget): ObjectAccess {
  return {
    subject: "object",
    target,
    administrators: holdersOf(state, ADMINISTRATION),
    rights: holdersOf(state, target),
  };
}

/** The highest level first, and of each the groups first. */
function holdersOf(state: AccessState, target: AccessTarget): readonly AccessRight[] {
  const holders: { readonly rank: number; readonly right: AccessRight }[] = [];
  for (const principals of [state.groups, state.individuals])
    for (const key of [...principals.keys()].sort()) {
      const held = state.held(key, target);
      const principal = state.principal(key);
      if (held === undefined || principal === undefined) continue;
      if (principal.kind === "group" && held.grantee !== key) continue;
      holders.push({ rank: held.rank, right: heldRight(state, principal, target, held) });
    }
  return holders.sort((a, b) => b.rank - a.rank).map(({ right }) => right);
}

function sortedTargets(state: AccessState): readonly AccessTarget[] {
  return [...state.objects].sort(compareKeys).map(([, target]) => target);
}

const PREFIXES: Readonly<Record<string, PrincipalKind>> = {
  user: "user",
  group: "group",
  sp: "service_principal",
  ...PRINCIPAL_KINDS,
};

/** The principals with a name: `ada@example.com`, `group:data-eng`, `sp:deployer`, or an address such as `groups.data-eng`. */
export function principalsNamed(state: AccessState, text: string): readonly PrincipalOfState[] {
  const [, prefix = "", rest = ""] = /^(\w+)[:.](.+)$/s.exec(text) ?? [];
  const kind = PREFIXES[prefix];
  const plain = state.named(text);
  return plain.length > 0 || kind === undefined ? plain : state.named(rest, kind);
}

/** The kind and the name of an object that is written as `kind.name`; else undefined. */
export function targetOfAddress(text: string): AccessTarget | undefined {
  const address = parseAddress(text);
  return address && { kind: kindOf(address), name: nameOf(address) };
}

/** The object with a name of the form `kind.name`. */
export function targetNamed(
  targets: readonly AccessTarget[],
  registry: PlanningRegistry,
  text: string,
): AccessTarget | undefined {
  if (text === ADMINISTRATION.kind) return ADMINISTRATION;
  const { kind, name } = targetOfAddress(text) ?? { kind: "", name: "" };
  const own = targets.filter((target) => target.kind === kind);
  const provider = registry.find(kind) ?? {};
  return (
    own.find((target) => target.name === name) ??
    own.find((target) => isSameName(provider, target.name, name))
  );
}

/** What a question can name: every principal, and every object as `kind.name`. */
export function namesOfState(state: AccessState): readonly string[] {
  const principals = [...state.individuals.values(), ...state.groups.values()].map(({ name }) => name);
  const objects = [...state.objects.values()].map(({ kind, name }) =>
    name === "" ? kind : `${kind}.${name}`,
  );
  return [...principals, ...objects];
}
