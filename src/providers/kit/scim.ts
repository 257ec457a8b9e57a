// SCIM requests and answers that users, groups, and service principals share (contract A 4.1).

import type { Json, JsonObject } from "../../core/json.ts";
import type { OperationWriter } from "../../resource/operations.ts";

export const CORE_USER = "urn:ietf:params:scim:schemas:core:2.0:User";
export const CORE_GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group";
const SCIM_PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/** Members and entitlements in requests: `[{value}]`. */
export const asValues = (texts: readonly string[]): Json => texts.map((value) => ({ value }));

export const scimValues = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];

export interface Delta {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

const NONE: Delta = { added: [], removed: [] };

export function deltaOf(before: Json | undefined, after: Json | undefined): Delta {
  if (after === undefined) return NONE;
  const had = new Set(scimValues(before));
  const wanted = new Set(scimValues(after));
  return {
    added: [...wanted].filter((name) => !had.has(name)),
    removed: [...had].filter((name) => !wanted.has(name)),
  };
}

export function joinedDeltas(...deltas: readonly Delta[]): Delta {
  return {
    added: deltas.flatMap((delta) => delta.added),
    removed: deltas.flatMap((delta) => delta.removed),
  };
}

/** Operations that add to and remove from an attribute; a concurrent change of others stays (facts 4.3). */
export function operationsFor(attribute: string, delta: Delta): readonly Json[] {
  const removed: readonly Json[] = delta.removed.map((value) => ({
    op: "remove",
    path: `${attribute}[value eq ${JSON.stringify(value)}]`,
  }));
  if (delta.added.length === 0) return removed;
  const add: JsonObject =
    attribute === "members"
      ? { op: "add", value: { members: asValues(delta.added) } }
      : { op: "add", path: attribute, value: asValues(delta.added) };
  return [...removed, add];
}

/** The operation that renames a group; none if the name does not change. */
export const nameOperations = (value: string | undefined): readonly Json[] =>
  value === undefined ? [] : [{ op: "replace", path: "displayName", value }];

export async function patchScim(
  api: OperationWriter,
  kind: "users" | "groups" | "service-principals",
  id: string,
  operations: readonly Json[],
): Promise<void> {
  if (operations.length === 0) return;
  await api.write(`scim/${kind}/patch`, { id, schemas: [SCIM_PATCH], Operations: operations });
}

/** The type of a group member, from its reference, or from the IDs of all groups; undefined if neither is known. */
export function memberKind(
  member: JsonObject,
  groupIds: ReadonlySet<string>,
): "users" | "groups" | undefined {
  const reference = typeof member.$ref === "string" ? member.$ref : "";
  if (reference.includes("Groups/")) return "groups";
  if (reference.includes("Users/")) return "users";
  if (typeof member.value === "string" && groupIds.has(member.value)) return "groups";
  return undefined;
}
