// The calls on access lists of scopes (A 4.3).

import type { Call, Operations, Reply } from "../../call.ts";
import { principalName } from "../../directory.ts";
import { ApiError } from "../../errors.ts";
import type { World } from "../../world.ts";
import { type AclItem, demand, existingScope, type Permission, type Scope, scopesOf } from "./access.ts";

export const aclOperations: Operations = {
  "secrets/acls/put": putAcl,
  "secrets/acls/delete": deleteAcl,
  "secrets/acls/get": getAcl,
  "secrets/acls/list": listAcls,
};

/** The scope, once the caller may manage it. */
function managed(call: Call, world: World): Scope {
  const scope = existingScope(world, call.input.scope);
  demand(world, call, scope, "MANAGE");
  return scope;
}

/** Rule 5: creates or overwrites; the principal must exist. A user's name is kept as the user has it. */
function putAcl(call: Call, world: World): Reply {
  const scope = managed(call, world);
  const principal = principalName(world, String(call.input.principal));
  if (principal === undefined) {
    throw new ApiError(
      "RESOURCE_DOES_NOT_EXIST",
      `User or group ${String(call.input.principal)} does not exist.`,
    );
  }
  const item: AclItem = { principal, permission: call.input.permission as Permission };
  const has = scope.acls.some((acl) => acl.principal === principal);
  const acls = has
    ? scope.acls.map((acl) => (acl.principal === principal ? item : acl))
    : [...scope.acls, item];
  scopesOf(world).set(scope.name, { ...scope, acls });
  return { json: {} };
}

function deleteAcl(call: Call, world: World): Reply {
  const scope = managed(call, world);
  const item = existingAcl(world, scope, String(call.input.principal));
  scopesOf(world).set(scope.name, { ...scope, acls: scope.acls.filter((acl) => acl !== item) });
  return { json: {} };
}

function getAcl(call: Call, world: World): Reply {
  const scope = managed(call, world);
  return { json: { ...existingAcl(world, scope, String(call.input.principal)) } };
}

function listAcls(call: Call, world: World): Reply {
  const { acls } = managed(call, world);
  return { json: acls.length === 0 ? {} : { items: acls.map((acl) => ({ ...acl })) } };
}

/** The entry stays when its user or group is deleted, so it is looked up by the name given, too. */
function existingAcl(world: World, scope: Scope, name: string): AclItem {
  const principal = principalName(world, name) ?? name;
  const found = scope.acls.find((acl) => acl.principal === principal);
  if (found === undefined) {
    throw new ApiError(
      "RESOURCE_DOES_NOT_EXIST",
      `Failed to get secret acl for principal ${name} for scope ${scope.name}.`,
    );
  }
  return found;
}
