// SCIM users and groups (contract A 4.1): the calls, background work, and the content of a new workspace.

import {
  ADMINS,
  administratorName,
  ensureAdministrator,
  newPrincipalId,
  PURGE,
  purgeUser,
  putGroup,
  USERS,
} from "../../world/directory.ts";
import type { Area, World } from "../../world/world.ts";
import { groupOperations } from "./groups.ts";
import { userOperations } from "./users.ts";

export const scimArea: Area = {
  operations: { ...userOperations, ...groupOperations },
  timers: { [PURGE]: (world, payload) => purgeUser(world, String(payload.name)) },
  seed,
};

/** The built-in groups and the administrator. */
function seed(world: World): void {
  for (const displayName of [ADMINS, USERS])
    putGroup(world, { id: newPrincipalId(world), displayName, entitlements: [], roles: [], members: [] });
  ensureAdministrator(world, administratorName(world));
}
