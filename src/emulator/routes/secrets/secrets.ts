// Secret scopes, secrets and their access lists (contract A 4.3). Values are encrypted at rest and never returned.

import { notBase64 } from "../../world/encoding.ts";
import { ApiError, invalidValue, notFound } from "../../world/errors.ts";
import { SECRETS } from "../../world/limits.ts";
import type { Area, Call, Operations, Reply } from "../../world/operation.ts";
import type { World } from "../../world/world.ts";
import {
  aclOperations,
  allowedScope,
  checkName,
  type SecretScope,
  scopeOperations,
  secretsOf,
} from "./scopes.ts";

const valueOperations: Operations = {
  "secrets/put": putSecret,
  "secrets/delete": deleteSecret,
  "secrets/list": listSecrets,
};

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
  const size = text === undefined ? base64Size(value) : Buffer.byteLength(value);
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

function base64Size(text: string): number {
  return Math.floor((text.replaceAll("=", "").length * 3) / 4);
}

function deleteSecret(call: Call, world: World): void {
  const scope = allowedScope(call, world, "WRITE");
  refuseVault(scope);
  const key = String(call.input.key);
  if (!secretsOf(world, scope.name).delete(key))
    throw notFound(`Secret does not exist with scope: ${scope.name} and key: ${key}`);
}

function listSecrets(call: Call, world: World): Reply {
  const scope = allowedScope(call, world, "READ");
  const kept = [...secretsOf(world, scope.name).values()];
  const secrets = kept.map(({ key, last_updated_timestamp }) => ({ key, last_updated_timestamp }));
  return { json: secrets.length === 0 ? {} : { secrets } };
}

export const secretsArea: Area = {
  operations: { ...scopeOperations, ...valueOperations, ...aclOperations },
};
