// The kinds of the program, in the order in which plans show them, and the catalogs that specs choose values from: the only lists.

import type { Catalogs } from "../resource/compute.ts";
import { type Registry, registryOf } from "../resource/kind.ts";
import { assignments } from "./access/assignments.ts";
import { authorizations } from "./access/authorizations.ts";
import { ACCESS_RULES } from "./access/rules.ts";
import { withAccess } from "./access/with-access.ts";
import { acls } from "./acls.ts";
import { clusterPolicies } from "./admin/cluster-policies.ts";
import { gitCredentials } from "./admin/git-credentials.ts";
import { repos } from "./admin/git-folders.ts";
import { initScriptOrder } from "./admin/init-script-order.ts";
import { initScripts } from "./admin/init-scripts.ts";
import { instanceProfiles } from "./admin/instance-profiles.ts";
import { ipAccessLists } from "./admin/ip-access-lists.ts";
import { notificationDestinations } from "./admin/notification-destinations.ts";
import { workspaceConf } from "./admin/workspace-conf.ts";
import { clusters } from "./clusters/clusters.ts";
import { directories } from "./directories.ts";
import { files } from "./files.ts";
import { groups } from "./groups.ts";
import { jobs } from "./jobs/jobs.ts";
import { objectsIn, responseText } from "./kit/responses.ts";
import { notebooks } from "./notebooks.ts";
import { pools } from "./pools.ts";
import { scopes } from "./scopes.ts";
import { secrets } from "./secrets.ts";
import { principals } from "./service-principals.ts";
import { users } from "./users.ts";
import { warehouses } from "./warehouses.ts";
import { workspaceFiles } from "./workspace-files.ts";

export const registry: Registry = registryOf([
  users,
  groups,
  principals,
  assignments,
  scopes,
  acls,
  secrets,
  workspaceConf,
  withAccess(authorizations, ACCESS_RULES.authorizations),
  ipAccessLists,
  notificationDestinations,
  gitCredentials,
  initScripts,
  initScriptOrder,
  instanceProfiles,
  withAccess(pools, ACCESS_RULES.pools),
  withAccess(clusterPolicies, ACCESS_RULES.cluster_policies),
  withAccess(clusters, ACCESS_RULES.clusters),
  withAccess(warehouses, ACCESS_RULES.warehouses),
  withAccess(jobs, ACCESS_RULES.jobs),
  withAccess(directories, ACCESS_RULES.directories),
  withAccess(repos, ACCESS_RULES.repos),
  withAccess(notebooks, ACCESS_RULES.notebooks),
  withAccess(workspaceFiles, ACCESS_RULES.workspace_files),
  files,
]);

export const catalogs: Catalogs = {
  spark_versions: {
    singular: "Spark version",
    operation: "clusters/spark-versions",
    values: (answer) => objectsIn(answer, "versions").flatMap((entry) => responseText(entry, "key") ?? []),
  },
  node_types: {
    singular: "node type",
    operation: "clusters/list-node-types",
    values: (answer) =>
      objectsIn(answer, "node_types").flatMap((entry) => responseText(entry, "node_type_id") ?? []),
    sizes: (answer) =>
      new Map(
        objectsIn(answer, "node_types").flatMap((entry) => {
          const { node_type_id: id, num_cores: cores, memory_mb: memoryMb } = entry;
          const isWhole = typeof id === "string" && typeof cores === "number" && typeof memoryMb === "number";
          return isWhole ? [[id, { cores, memoryMb }] as const] : [];
        }),
      ),
  },
};
