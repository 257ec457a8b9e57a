// The only list of the areas that make up the service.

import type { Area } from "./call.ts";
import { clustersArea } from "./routes/clusters.ts";
import { fsArea } from "./routes/fs.ts";
import { groupsArea } from "./routes/groups.ts";
import { jobsArea } from "./routes/jobs.ts";
import { poolsArea } from "./routes/pools.ts";
import { scimArea } from "./routes/scim.ts";
import { secretsArea } from "./routes/secrets.ts";
import { workspaceArea } from "./routes/workspace.ts";

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
