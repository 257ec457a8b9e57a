// Secret scopes as kept, and what a caller may do with them (contract A 2.3, contract A 4.3).

import { principalsOf } from "../../world/directory.ts";
import { invalidValue, notFound, permissionDenied } from "../../world/errors.ts";
import { SECRETS } from "../../world/limits.ts";
import type { Call } from "../../world/operation.ts";
import type { Collection, World } from "../../world/world.ts";

export type Permission = "READ" | "WRITE" | "MANAGE";

export interface AclItem {
  readonly principal: string;
  readonly permission: Permission;
}

export interface SecretScope {
  readonly name: string;
  readonly backend_type: "PLATFORM" | "CLOUD_KEYVAULT";
  readonly keyvault_metadata?: { readonly resource_id: string; readonly dns_name: string };
  readonly acls: readonly AclItem[];
}

/** A secret at rest. `sealed` is absent in a world restored from a snapshot, which has only digests. */
export interface StoredSecret {
  readonly key: string;
  readonly sealed?: string;
  readonly bytes: boolean;
  readonly last_updated_timestamp: number;
}

export const scopesOf = (world: World): Collection<SecretScope> => world.collection("secrets.scopes");
export const secretsOf = (world: World, scope: string): Collection<StoredSecret> =>
  world.collection(`secrets/${scope}`);

/** The alphabet of scope names and secret keys (contract A 8). */
export function checkName(name: string, what: string, pattern = /^[\w.-]+$/): void {
  if (pattern.test(name) && name.length <= SECRETS.name_length) return;
  throw invalidValue(
    `Invalid ${what}: it has 1 to ${SECRETS.name_length} characters, only alphanumerics, dashes, underscores and periods.`,
  );
}

const RANK: Readonly<Record<Permission, number>> = { READ: 1, WRITE: 2, MANAGE: 3 };

/** The scope of a call. The caller's most powerful permission by name or by group counts; administrators may do everything. */
export function allowedScope({ input, caller }: Call, world: World, wanted: Permission): SecretScope {
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
