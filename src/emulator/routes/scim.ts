// SCIM users and groups (A 4.1).

import type { Area } from "../call.ts";
import {
  ADMINS,
  administratorName,
  ensureAdministrator,
  newPrincipalId,
  PURGE,
  purgeUser,
  putGroup,
  USERS,
} from "../directory.ts";
import type { World } from "../world.ts";

export const scimArea: Area = {
  operations: {},
  timers: { [PURGE]: (world, payload) => purgeUser(world, String(payload.name)) },
  seed,
};

/** The built-in groups and the administrator. */
function seed(world: World): void {
  for (const displayName of [ADMINS, USERS]) {
    putGroup(world, { id: newPrincipalId(world), displayName, entitlements: [], roles: [], members: [] });
  }
  ensureAdministrator(world, administratorName(world));
}
