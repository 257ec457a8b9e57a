// The only list of the areas that make up the service.

import { clustersArea } from "./routes/clusters/clusters.ts";
import { fsArea } from "./routes/fs/fs.ts";
import { jobsArea } from "./routes/jobs/jobs.ts";
import { poolsArea } from "./routes/pools/pools.ts";
import { groupsArea } from "./routes/scim/legacy-groups.ts";
import { scimArea } from "./routes/scim/scim.ts";
import { secretsArea } from "./routes/secrets/secrets.ts";
import { workspaceArea } from "./routes/workspace/workspace.ts";
import type { Area } from "./world/operation.ts";

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
