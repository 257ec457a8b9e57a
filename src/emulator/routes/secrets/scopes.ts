// The calls on secret scopes (A 4.3).

import { type JsonObject, objectIn } from "../../../core/json.ts";
import type { Call, Operations, Reply } from "../../call.ts";
import { USERS } from "../../directory.ts";
import { ApiError } from "../../errors.ts";
import { SECRETS } from "../../limits.ts";
import type { World } from "../../world.ts";
import { type AclItem, checkName, demand, existingScope, type Scope, scopesOf, secretsOf } from "./access.ts";

export const scopeOperations: Operations = {
  "secrets/scopes/create": createScope,
  "secrets/scopes/delete": deleteScope,
  "secrets/scopes/list": listScopes,
};

/** Rule 1: the given principal (only `users` may be given), else the caller, manages the new scope. */
function createScope(call: Call, world: World): Reply {
  const name = String(call.input.scope);
  checkName(name, "scope name");
  const initial = call.input.initial_manage_principal;
  if (initial !== undefined && initial !== USERS) {
    throw new ApiError("BAD_REQUEST", `Cannot specify ${String(initial)} as initial_manage_principal.`);
  }
  if (scopesOf(world).has(name))
    throw new ApiError("RESOURCE_ALREADY_EXISTS", `Scope ${name} already exists!`);
  if (scopesOf(world).size >= SECRETS.scopes) {
    throw new ApiError(
      "RESOURCE_LIMIT_EXCEEDED",
      `The limit of ${SECRETS.scopes} secret scopes has been reached.`,
    );
  }
  const acls: AclItem[] = [
    { principal: initial === USERS ? USERS : call.caller.userName, permission: "MANAGE" },
  ];
  scopesOf(world).set(name, { name, acls, ...backendOf(call.input) });
  return { json: {} };
}

/** Clients ask for a vault by the name of their cloud's; the contract lists it as CLOUD_KEYVAULT. */
function backendOf(input: JsonObject): Pick<Scope, "backend_type" | "keyvault_metadata"> {
  const { scope_backend_type: type, backend_azure_keyvault: azure, backend_keyvault: cloud } = input;
  if (type === undefined || type === "PLATFORM" || type === "DATABRICKS") return { backend_type: "PLATFORM" };
  const { resource_id: id, dns_name: dns } = objectIn(azure ?? cloud);
  if (typeof id !== "string" || typeof dns !== "string") {
    throw new ApiError(
      "INVALID_PARAMETER_VALUE",
      "A key vault scope needs resource_id and dns_name of its vault.",
    );
  }
  return { backend_type: "CLOUD_KEYVAULT", keyvault_metadata: { resource_id: id, dns_name: dns } };
}

function deleteScope(call: Call, world: World): Reply {
  const scope = existingScope(world, call.input.scope);
  demand(world, call, scope, "MANAGE");
  const secrets = secretsOf(world, scope.name);
  for (const [key] of [...secrets.entries()]) secrets.delete(key);
  scopesOf(world).delete(scope.name);
  return { json: {} };
}

function listScopes(_call: Call, world: World): Reply {
  const scopes = [...scopesOf(world).values()].map(({ acls: _acls, ...shown }) => shown);
  return { json: scopes.length === 0 ? {} : { scopes } };
}
