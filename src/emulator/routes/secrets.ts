// Secret scopes, secrets and their access lists (A 4.3). Values are sealed at rest and never returned.

import type { JsonObject } from "../../core/json.ts";
import type { Area, Call, Reply } from "../call.ts";
import { principalName, USERS } from "../directory.ts";
import { ApiError } from "../errors.ts";
import { SECRETS } from "../limits.ts";
import type { World } from "../world.ts";
import {
  type AclItem,
  checkName,
  demand,
  existingScope,
  type Permission,
  type Scope,
  scopesOf,
  secretsOf,
} from "./secrets/scopes.ts";

export const secretsArea: Area = {
  operations: {
    "secrets/scopes/create": createScope,
    "secrets/scopes/delete": deleteScope,
    "secrets/scopes/list": listScopes,
    "secrets/put": putSecret,
    "secrets/delete": deleteSecret,
    "secrets/list": listSecrets,
    "secrets/acls/put": putAcl,
    "secrets/acls/delete": deleteAcl,
    "secrets/acls/get": getAcl,
    "secrets/acls/list": listAcls,
  },
};

const DONE: Reply = { json: {} };

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
  return DONE;
}

/** Clients ask for a vault by the name of their cloud's; the contract lists it as CLOUD_KEYVAULT. */
function backendOf(input: JsonObject): Pick<Scope, "backend_type" | "keyvault_metadata"> {
  const { scope_backend_type: type, backend_azure_keyvault: azure, backend_keyvault: cloud } = input;
  if (type === undefined || type === "PLATFORM" || type === "DATABRICKS") return { backend_type: "PLATFORM" };
  const vault = azure ?? cloud;
  const { resource_id: id, dns_name: dns } =
    vault !== null && typeof vault === "object" && !Array.isArray(vault) ? (vault as JsonObject) : {};
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
  return DONE;
}

function listScopes(_call: Call, world: World): Reply {
  const scopes = [...scopesOf(world).values()].map(({ acls: _acls, ...shown }) => shown);
  return { json: scopes.length === 0 ? {} : { scopes } };
}

/** Rule 2: put overwrites; the value is sealed before it is stored. */
function putSecret(call: Call, world: World): Reply {
  const scope = existingScope(world, call.input.scope);
  demand(world, call, scope, "WRITE");
  refuseVault(scope);
  const key = String(call.input.key);
  checkName(key, "secret key");
  const { string_value: text, bytes_value: bytes } = call.input;
  if ((text === undefined) === (bytes === undefined)) {
    throw new ApiError("INVALID_PARAMETER_VALUE", "Give exactly one of string_value and bytes_value.");
  }
  const value = text === undefined ? checkedBase64(String(bytes)) : String(text);
  const size = text === undefined ? base64Size(value) : new TextEncoder().encode(value).length;
  if (size > SECRETS.value_bytes) {
    throw new ApiError(
      "INVALID_PARAMETER_VALUE",
      `The value of a secret has at most ${SECRETS.value_bytes} bytes. Found: ${size} bytes.`,
    );
  }
  const secrets = secretsOf(world, scope.name);
  if (!secrets.has(key) && secrets.size >= SECRETS.secrets_per_scope) {
    throw new ApiError(
      "RESOURCE_LIMIT_EXCEEDED",
      `The limit of ${SECRETS.secrets_per_scope} secrets in scope ${scope.name} has been reached.`,
    );
  }
  secrets.set(key, {
    key,
    sealed: world.seal(value),
    bytes: text === undefined,
    last_updated_timestamp: call.now,
  });
  return DONE;
}

/** Rule 4: secrets of a vault are written and deleted through the vault itself. */
function refuseVault(scope: Scope): void {
  if (scope.backend_type === "CLOUD_KEYVAULT") {
    throw new ApiError(
      "BAD_REQUEST",
      `Scope ${scope.name} is kept in a key vault: its secrets are written and deleted through the vault.`,
    );
  }
}

function checkedBase64(text: string): string {
  const plain = text.replaceAll("-", "+").replaceAll("_", "/").replaceAll(/\s/g, "");
  try {
    atob(plain);
  } catch {
    throw new ApiError(
      "MALFORMED_REQUEST",
      "Could not parse request object: Expected base64 for field 'bytes_value'",
    );
  }
  return plain;
}

function base64Size(text: string): number {
  return Math.floor((text.replaceAll("=", "").length * 3) / 4);
}

function deleteSecret(call: Call, world: World): Reply {
  const scope = existingScope(world, call.input.scope);
  demand(world, call, scope, "WRITE");
  refuseVault(scope);
  const key = String(call.input.key);
  if (!secretsOf(world, scope.name).delete(key)) {
    throw new ApiError(
      "RESOURCE_DOES_NOT_EXIST",
      `Secret does not exist with scope: ${scope.name} and key: ${key}`,
    );
  }
  return DONE;
}

function listSecrets(call: Call, world: World): Reply {
  const scope = existingScope(world, call.input.scope);
  demand(world, call, scope, "READ");
  const secrets = [...secretsOf(world, scope.name).values()].map(({ key, last_updated_timestamp }) => ({
    key,
    last_updated_timestamp,
  }));
  return { json: secrets.length === 0 ? {} : { secrets } };
}

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
  return DONE;
}

function deleteAcl(call: Call, world: World): Reply {
  const scope = managed(call, world);
  const item = existingAcl(world, scope, String(call.input.principal));
  scopesOf(world).set(scope.name, { ...scope, acls: scope.acls.filter((acl) => acl !== item) });
  return DONE;
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
