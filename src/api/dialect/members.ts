// Groups of a workspace that belongs to an account: groups of the account, and members that are neither users nor groups.

import { isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import type { OperationName } from "../contract/operations.ts";

/** An answer about groups without members that this program does not manage, so that no patch removes them. */
export function workspaceGroup(operation: OperationName, answer: JsonObject): JsonObject {
  if (operation === "scim/groups/get") return shown(answer);
  if (operation !== "scim/groups/list" || !Array.isArray(answer.Resources)) return answer;
  return {
    ...answer,
    Resources: answer.Resources.map((group: Json) => (isObject(group) ? shown(group) : group)),
  };
}

function shown(group: JsonObject): JsonObject {
  const { members } = group;
  const ofAccount = objectIn(group.meta).resourceType === "Group";
  return {
    ...group,
    ...(Array.isArray(members)
      ? { members: members.filter((one: Json) => !isPrincipal(objectIn(one))) }
      : {}),
    ...(ofAccount ? { unmanageable: "it belongs to the account" } : {}),
  };
}

const isPrincipal = ({ $ref: reference }: JsonObject): boolean =>
  typeof reference === "string" && reference.includes("ServicePrincipals/");
