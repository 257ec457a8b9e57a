// The kinds whose objects have access lists: types, levels, and IDs (see docs/databricks.md for what was never seen on the real service).

import type { Reader } from "../../api/contract/reader.ts";
import { keyIn } from "../kit/responses.ts";
import type { AccessRules } from "./with-access.ts";

const IN_TREE = ["CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE"];

/** The number by which the service knows an object at a path. */
const numberAt = async (api: Reader, path: string): Promise<string> =>
  keyIn(await api.read("workspace/get-status", { path }), "object_id");

export const ACCESS_RULES = {
  clusters: { type: "clusters", levels: ["CAN_ATTACH_TO", "CAN_RESTART", "CAN_MANAGE"] },
  pools: { type: "instance-pools", levels: ["CAN_ATTACH_TO", "CAN_MANAGE"] },
  cluster_policies: { type: "cluster-policies", levels: ["CAN_USE"] },
  warehouses: {
    type: "warehouses",
    levels: ["CAN_VIEW", "CAN_MONITOR", "CAN_USE", "CAN_MANAGE"],
    owned: true,
  },
  jobs: { type: "jobs", levels: ["CAN_VIEW", "CAN_MANAGE_RUN", "CAN_MANAGE"], owned: true },
  directories: { type: "directories", levels: IN_TREE, idOf: numberAt },
  repos: { type: "repos", levels: IN_TREE },
  authorizations: {
    type: "authorization",
    levels: ["CAN_USE", "CAN_MANAGE"],
    fewer: { passwords: ["CAN_USE"] },
  },
  notebooks: { type: "notebooks", levels: IN_TREE, idOf: numberAt },
  workspace_files: { type: "files", levels: IN_TREE, idOf: numberAt },
} as const satisfies Readonly<Record<string, AccessRules>>;
