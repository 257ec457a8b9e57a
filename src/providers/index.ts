// The kinds of the program, in the order in which plans show them: the only list of them.

import { type Registry, registryOf } from "../resource/registry.ts";
import { acls } from "./acls.ts";
import { clusters } from "./clusters/clusters.ts";
import { directories } from "./directories.ts";
import { files } from "./files.ts";
import { groups } from "./groups.ts";
import { jobs } from "./jobs/jobs.ts";
import { notebooks } from "./notebooks/notebooks.ts";
import { pools } from "./pools.ts";
import { scopes } from "./scopes.ts";
import { secrets } from "./secrets.ts";
import { users } from "./users/users.ts";

export const registry: Registry = registryOf([
  users,
  groups,
  scopes,
  acls,
  secrets,
  pools,
  clusters,
  jobs,
  directories,
  notebooks,
  files,
]);
