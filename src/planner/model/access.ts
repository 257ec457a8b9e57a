// What principals can do after a plan that they could not before, and what they lose: plain data, so that a saved plan keeps it.

import { defined, type JsonObject } from "../../core/json.ts";
import type { PrincipalKind } from "../../resource/access.ts";

/** A right of one principal, gained or lost as a whole or by a level. */
export interface AccessRight {
  readonly principal: string;
  readonly principalKind: PrincipalKind;
  /** Of a group: how many users and service principals it has; absent if its members are not known. */
  readonly people?: number;
  /** How many of these gain or lose it: the others have it in another way. Administrators, who can do everything, are counted. */
  readonly affected?: number;
  /** The level that is gained or lost. */
  readonly level: string;
  /** The lower level that a principal had before, or keeps. */
  readonly instead?: string;
  readonly kind: string;
  readonly object: string;
  /** Groups from the principal to the one that has the right; empty for a direct right. */
  readonly through: readonly string[];
  /** The folder whose list has the right. */
  readonly inheritedFrom?: string;
  /** The service gives the right to the creator of the object. */
  readonly asCreator?: true;
}

/** Present if the plan changes access, or if a part of that is not known. */
export interface AccessDiff {
  readonly gained: readonly AccessRight[];
  readonly lost: readonly AccessRight[];
  /** Access that may change too and was not compared, as sentences. */
  readonly notCompared: readonly string[];
}

/** For machines and for rules. */
export function accessJson({ gained, lost, notCompared }: AccessDiff): JsonObject {
  return {
    gained: gained.map((right) => rightJson(right, "before")),
    lost: lost.map((right) => rightJson(right, "after")),
    not_compared: notCompared,
  };
}

/** `side`: whether the other level is the one before or after. */
export function rightJson(right: AccessRight, side: "before" | "after" = "before"): JsonObject {
  return defined({
    principal: right.principal,
    principal_kind: right.principalKind,
    people: right.people,
    affected: right.affected,
    level: right.level,
    [side]: right.instead,
    kind: right.kind,
    object: right.object,
    through: right.through,
    inherited_from: right.inheritedFrom,
    as_creator: right.asCreator,
  }) as JsonObject;
}
