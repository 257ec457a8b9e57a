// Secret scopes, secrets, and their access lists (contract A 2.3, contract A 4.3). Values are encrypted at rest and never returned.

import { type JsonObject, objectIn } from "../../core/json.ts";
import { principalName, principalsOf, USERS } from "../world/directory.ts";
import { notBase64 } from "../world/encoding.ts";
import {
  ApiError,
  alreadyExists,
  invalidState,
  invalidValue,
  notFound,
  permissionDenied,
} from "../world/errors.ts";
import { SECRETS } from "../world/limits.ts";
import type { Area, Call, Collection, Reply, World } from "../world/world.ts";

export const secretsArea: Area = {
  operations: {
    "secrets/scopes/create": createScope,
    "secrets/scopes/delete": deleteScope,
    "secrets/scopes/list": listScopes,
    "secrets/acls/put": putAcl,
    "secrets/acls/delete": deleteAcl,
    "secrets/acls/get": getAcl,
    "secrets/acls/list": listAcls,
    "secrets/put": putSecret,
    "secrets/delete": deleteSecret,
    "secrets/list": listSecrets,
  },
};

type Permission = "READ" | "WRITE" | "MANAGE";

interface AclItem {
  readonly principal: string;
  readonly permission: Permission;
}

interface SecretScope {
  readonly name: string;
  readonly backend_type: "PLATFORM" | "CLOUD_KEYVAULT";
  readonly keyvault_metadata?: { readonly resource_id: string; readonly dns_name: string };
  readonly acls: readonly AclItem[];
}

/** A secret at rest. `sealed` is absent in a world restored from a snapshot, which has only digests. */
interface StoredSecret {
  readonly key: string;
  readonly sealed?: string;
  readonly bytes: boolean;
  readonly last_updated_timestamp: number;
}

const scopesOf = (world: World): Collection<SecretScope> => world.collection("secrets.scopes");
const secretsOf = (world: World, scope: string): Collection<StoredSecret> =>
  world.collection(`secrets/${scope}`);

/** The alphabet of scope names and secret keys (contract A 8). */
function checkName(name: string, what: string, pattern = /^[\w.-]+$/): void {
  if (pattern.test(name) && name.length <= SECRETS.name_length) return;
  throw invalidValue(
    `Invalid ${what}: it has 1 to ${SECRETS.name_length} characters, only alphanumerics, dashes, underscores and periods.`,
  );
}

const RANK: Readonly<Record<Permission, number>> = { READ: 1, WRITE: 2, MANAGE: 3 };

/** The scope of a call. The caller's most powerful permission by name or by group counts; administrators may do everything. */
function allowedScope({ input, caller }: Call, world: World, wanted: Permission): SecretScope {
  const scope = scopesOf(world).get(String(input.scope));
  if (scope === undefined) throw notFound(`Scope ${String(input.scope)} does not exist!`);
  if (caller.admin) return scope;
  const principals = principalsOf(world, caller);
  if (scope.acls.some((acl) => principals.has(acl.principal) && RANK[acl.permission] >= RANK[wanted]))
    return scope;
  throw permissionDenied(
    `User ${caller.userName} does not have ${wanted} permission on scope ${scope.name} to perform this action.`,
  );
}

/** Rule 1: the given principal (only `users` may be given), else the caller, manages the new scope. */
function createScope(call: Call, world: World): void {
  const name = String(call.input.scope);
  checkName(name, "scope name", call.allows?.scopeNames);
  const initial = call.input.initial_manage_principal;
  if (initial !== undefined && initial !== USERS)
    throw new ApiError("BAD_REQUEST", `Cannot specify ${String(initial)} as initial_manage_principal.`);
  if (scopesOf(world).has(name)) throw alreadyExists(`Scope ${name} already exists!`);
  if (scopesOf(world).size >= SECRETS.scopes)
    throw new ApiError(
      "RESOURCE_LIMIT_EXCEEDED",
      `The limit of ${SECRETS.scopes} secret scopes has been reached.`,
    );
  const acls: AclItem[] = [{ principal: initial ?? call.caller.userName, permission: "MANAGE" }];
  scopesOf(world).set(name, { name, acls, ...backendOf(call.input) });
}

/** Clients ask for a vault by the name of their cloud's; the contract lists it as CLOUD_KEYVAULT. */
function backendOf(input: JsonObject): Pick<SecretScope, "backend_type" | "keyvault_metadata"> {
  const { scope_backend_type: type, backend_azure_keyvault: azure, backend_keyvault: cloud } = input;
  if (type === undefined || type === "PLATFORM" || type === "DATABRICKS") return { backend_type: "PLATFORM" };
  const { resource_id: id, dns_name: dns } = objectIn(azure ?? cloud);
  if (typeof id !== "string" || typeof dns !== "string")
    throw invalidValue("A key vault scope needs resource_id and dns_name of its vault.");
  return { backend_type: "CLOUD_KEYVAULT", keyvault_metadata: { resource_id: id, dns_name: dns } };
}

function deleteScope(call: Call, world: World): void {
  const scope = allowedScope(call, world, "MANAGE");
  const secrets = secretsOf(world, scope.name);
  for (const [key] of [...secrets.entries()]) secrets.delete(key);
  scopesOf(world).delete(scope.name);
}

function listScopes(_call: Call, world: World): Reply {
  const scopes = [...scopesOf(world).values()].map(({ acls: _acls, ...shown }) => shown);
  return { json: scopes.length === 0 ? {} : { scopes } };
}

/** Rule 5: creates or overwrites; the principal must exist. A user's name is kept as the user has it. */
function putAcl(call: Call, world: World): void {
  const scope = allowedScope(call, world, "MANAGE");
  const principal = principalName(world, String(call.input.principal));
  if (principal === undefined)
    throw notFound(`User or group ${String(call.input.principal)} does not exist.`);
  const item: AclItem = { principal, permission: call.input.permission as Permission };
  const at = scope.acls.findIndex((acl) => acl.principal === principal);
  const acls = at < 0 ? [...scope.acls, item] : scope.acls.with(at, item);
  scopesOf(world).set(scope.name, { ...scope, acls });
}

function deleteAcl(call: Call, world: World): void {
  const scope = allowedScope(call, world, "MANAGE");
  const item = existingAcl(world, scope, String(call.input.principal));
  scopesOf(world).set(scope.name, { ...scope, acls: scope.acls.filter((acl) => acl !== item) });
}

function getAcl(call: Call, world: World): Reply {
  const scope = allowedScope(call, world, "MANAGE");
  return { json: { ...existingAcl(world, scope, String(call.input.principal)) } };
}

function listAcls(call: Call, world: World): Reply {
  const { acls } = allowedScope(call, world, "MANAGE");
  return { json: acls.length === 0 ? {} : { items: acls.map((acl) => ({ ...acl })) } };
}

/** The entry stays when its user or group is deleted, so it is looked up by the name given, too. */
function existingAcl(world: World, scope: SecretScope, name: string): AclItem {
  const principal = principalName(world, name) ?? name;
  const aclItem = scope.acls.find((acl) => acl.principal === principal);
  if (aclItem === undefined)
    throw notFound(`Failed to get secret acl for principal ${name} for scope ${scope.name}.`);
  return aclItem;
}

/** Rule 2: put overwrites; the value is encrypted before it is stored. */
function putSecret(call: Call, world: World): void {
  const scope = allowedScope(call, world, "WRITE");
  refuseVault(scope);
  const key = String(call.input.key);
  checkName(key, "secret key");
  const { string_value: text, bytes_value: bytes } = call.input;
  if ((text === undefined) === (bytes === undefined))
    throw invalidValue("Give exactly one of string_value and bytes_value.");
  const value = text === undefined ? checkedBase64(String(bytes)) : String(text);
  const size =
    text === undefined ? Math.floor((value.replaceAll("=", "").length * 3) / 4) : Buffer.byteLength(value);
  if (size > SECRETS.value_bytes)
    throw invalidValue(
      `The value of a secret has at most ${SECRETS.value_bytes} bytes. Found: ${size} bytes.`,
    );
  const secrets = secretsOf(world, scope.name);
  if (!secrets.has(key) && secrets.size >= SECRETS.secrets_per_scope)
    throw new ApiError(
      "RESOURCE_LIMIT_EXCEEDED",
      `The limit of ${SECRETS.secrets_per_scope} secrets in scope ${scope.name} has been reached.`,
    );
  secrets.set(key, {
    key,
    sealed: world.seal(value),
    bytes: text === undefined,
    last_updated_timestamp: call.now,
  });
}

/** Rule 4: secrets of a vault are written and deleted through the vault itself. */
function refuseVault(scope: SecretScope): void {
  if (scope.backend_type === "CLOUD_KEYVAULT")
    throw new ApiError(
      "BAD_REQUEST",
      `Scope ${scope.name} is kept in a key vault: its secrets are written and deleted through the vault.`,
    );
}

function checkedBase64(text: string): string {
  const plain = text.replaceAll("-", "+").replaceAll("_", "/").replaceAll(/\s/g, "");
  try {
    atob(plain);
  } catch {
    throw notBase64("bytes_value");
  }
  return plain;
}

function deleteSecret(call: Call, world: World): void {
  const scope = allowedScope(call, world, "WRITE");
  refuseVault(scope);
  const key = String(call.input.key);
  if (!secretsOf(world, scope.name).delete(key)) throw missingSecret(scope, key);
}

const missingSecret = ({ name }: SecretScope, key: string) =>
  notFound(`Secret does not exist with scope: ${name} and key: ${key}`);

/** The value, in base64, for those who may read. The contract has no such call; a dialect has. */
export function getSecret(call: Call, world: World): Reply {
  const scope = allowedScope(call, world, "READ");
  const key = String(call.input.key);
  const secret = secretsOf(world, scope.name).get(key);
  if (secret === undefined) throw missingSecret(scope, key);
  if (secret.sealed === undefined) throw invalidState(`The value of ${key} is not in this snapshot.`);
  const value = world.unseal(secret.sealed);
  return { json: { key, value: secret.bytes ? value : Buffer.from(value).toString("base64") } };
}

function listSecrets(call: Call, world: World): Reply {
  const scope = allowedScope(call, world, "READ");
  const storedSecrets = [...secretsOf(world, scope.name).values()];
  const secrets = storedSecrets.map(({ key, last_updated_timestamp }) => ({ key, last_updated_timestamp }));
  return { json: secrets.length === 0 ? {} : { secrets } };
}
