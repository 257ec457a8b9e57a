// What an object adds to the access of a workspace: an identity, memberships, and rights. A kind declares it in `PlanningRules.access`.

import type { JsonObject } from "../core/json.ts";
import type { FieldDialect, Values } from "./field-schema.ts";

export type PrincipalKind = "user" | "group" | "service_principal";

/** Kinds of principals by the kind whose objects they are. */
export const PRINCIPAL_KINDS: Readonly<Record<string, PrincipalKind>> = {
  users: "user",
  groups: "group",
  service_principals: "service_principal",
};

/** A principal as a list names it. Without a kind, the name decides: secret scopes name principals so. */
export interface PrincipalName {
  readonly kind?: PrincipalKind;
  readonly name: string;
}

/** The object of a right. `kind`: a kind of the registry, `entitlements`, or `workspace` for administrators. */
export interface AccessTarget {
  readonly kind: string;
  readonly name: string;
}

export interface Grant {
  readonly on: AccessTarget;
  readonly to: PrincipalName;
  readonly level: string;
}

export interface AccessContribution {
  /** Present if the object is a principal. `aliases`: further names and IDs that lists use. */
  readonly principal?: {
    readonly kind: PrincipalKind;
    readonly name: string;
    readonly aliases: readonly string[];
    readonly isActive: boolean;
    /** Its activity is sensitive: it counts as active. */
    readonly isActivityHidden?: true;
  };
  /** Of a group. */
  readonly members?: readonly PrincipalName[];
  /** Of a group: not every member was read. */
  readonly lacksMembers?: boolean;
  /** Groups that a user joins and leaves by its own list; absent if the lists of the groups decide. */
  readonly memberOf?: readonly string[];
  readonly grants?: readonly Grant[];
  /** The level that the service gives the creator of the object. */
  readonly creatorLevel?: string;
  /** The object has an access list, which was not read. */
  readonly isUnread?: boolean;
}

/** An object before or after a plan. */
export interface RightsHolder {
  readonly id: string | undefined;
  readonly name: string;
  readonly values: Values;
  readonly facts: JsonObject;
  /** The plan creates it. */
  readonly isNew: boolean;
}

export interface AccessPlanning {
  /** The only dialect in which objects of the kind have an access list. */
  readonly dialect?: FieldDialect["dialect"];
  /** Levels of rights on objects of the kind, from the lowest to the highest. */
  readonly levels: readonly string[];
  /** The field that says whether the principal is active; false gives it no rights. */
  readonly activity?: string;
  /** Pure. */
  contribution(object: RightsHolder): AccessContribution;
}

/** The right of administrators, which includes every other one. */
export const ADMINISTRATION: AccessTarget = { kind: "workspace", name: "" };
export const ENTITLEMENTS = "entitlements";
export const EVERYONE = "users";
export const ADMINISTRATORS = "admins";

/** Entitlements as rights. */
export function entitlementGrants(to: PrincipalName, values: Values): readonly Grant[] {
  const { entitlements } = values;
  if (!Array.isArray(entitlements)) return [];
  return entitlements.flatMap((name) =>
    typeof name === "string" ? [{ on: { kind: ENTITLEMENTS, name }, to, level: "granted" }] : [],
  );
}
