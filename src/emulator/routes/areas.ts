// The only list of the areas that make up the service.

import type { Area } from "../world/world.ts";
import { clustersArea } from "./clusters/clusters.ts";
import { fsArea } from "./fs.ts";
import { jobsArea } from "./jobs/jobs.ts";
import { poolsArea } from "./pools/pools.ts";
import { scimArea } from "./scim/groups.ts";
import { groupsArea } from "./scim/legacy-groups.ts";
import { secretsArea } from "./secrets.ts";
import { workspaceArea } from "./workspace/workspace.ts";

export const areas: readonly Area[] = [
  scimArea,
  groupsArea,
  secretsArea,
  workspaceArea,
  fsArea,
  poolsArea,
  clustersArea,
  jobsArea,
];
