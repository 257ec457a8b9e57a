// The types of objects that have an access list: their names, levels, owners, and the folders that they inherit from. The contract has no access lists; a dialect has.

import type { JsonObject } from "../../../core/json.ts";
import { userById } from "../../world/directory.ts";
import { invalidValue, notFound } from "../../world/errors.ts";
import type { World } from "../../world/world.ts";
import { policyOr404 } from "../admin/cluster-policies.ts";
import { warehouseOr404 } from "../admin/warehouses.ts";
import { clusterOr400 } from "../clusters/cluster.ts";
import { jobOr400 } from "../jobs/job.ts";
import { activePool } from "../pools/pool.ts";
import { objectsOf, type WorkspaceEntry, type WorkspaceNode } from "../workspace/objects.ts";

export interface AccessEntry {
  readonly user_name?: string;
  readonly group_name?: string;
  readonly service_principal_name?: string;
  readonly permission_level: string;
}

export interface AccessType {
  /** The `object_type` of an answer. */
  readonly answers: string;
  /** From the lowest to the highest. */
  readonly levels: readonly string[];
  /** How a message names the object, if it always has exactly one owner. */
  readonly owned?: string;
  /** Of several levels of a principal in a request, the highest counts; elsewhere they are an error. */
  readonly takesHighest?: true;
  /** Where the management of `admins` is inherited from; undefined if it is not inherited. */
  readonly root: string | undefined;
  /** A list must contain the management of `admins`. */
  readonly needsAdmins?: true;
  /** The direct entries of a list that was never written. Throws the service's error for an object that does not exist. */
  initial(world: World, id: string): readonly AccessEntry[];
  /** The folders around the object, the innermost first. */
  folders?(world: World, id: string): readonly WorkspaceNode[];
}

const IN_TREE = ["CAN_READ", "CAN_RUN", "CAN_EDIT", "CAN_MANAGE"];
const POOL_LEVELS = ["CAN_ATTACH_TO", "CAN_MANAGE"];
const CLUSTER_LEVELS = ["CAN_ATTACH_TO", "CAN_RESTART", "CAN_MANAGE"];
const JOB_LEVELS = ["CAN_VIEW", "CAN_MANAGE_RUN", "CAN_MANAGE", "IS_OWNER"];

/** The entry of a creator; nothing if that user was deleted. */
export function ofCreator(name: string | undefined, level: string): readonly AccessEntry[] {
  return name === undefined ? [] : [{ user_name: name, permission_level: level }];
}

function nodeOr404(world: World, id: string): WorkspaceNode {
  const node = objectsOf(world).byId(id === "0" ? "1" : id);
  if (node === undefined) throw notFound(`Node ID ${id} does not exist.`);
  return node;
}

const ofTree = (answers: string, type: WorkspaceEntry["object_type"]): AccessType => ({
  answers,
  levels: IN_TREE,
  root: "/directories/",
  initial(world, id) {
    const { entry } = nodeOr404(world, id);
    if (entry.object_type !== type) throw invalidValue(`${id} is not a ${answers}`);
    return [];
  },
  folders: (world, id) => objectsOf(world).above(nodeOr404(world, id)),
});

const setting = (answers: string, levels: readonly string[]): AccessType => ({
  answers,
  levels,
  root: undefined,
  initial: () => [{ group_name: "admins", permission_level: levels.at(-1) ?? "" }],
});

/** By the part of the path that names the type. */
export const ACCESS_TYPES: Readonly<Record<string, AccessType>> = {
  clusters: {
    answers: "cluster",
    levels: CLUSTER_LEVELS,
    root: "/clusters/",
    initial: (world, id) => ofCreator(clusterOr400(world, id).creator_user_name, "CAN_MANAGE"),
  },
  "instance-pools": {
    answers: "instance-pool",
    levels: POOL_LEVELS,
    root: "/instance-pools/",
    initial: (world, id) =>
      ofCreator(userById(world, activePool(world, id).creator_user_id)?.userName, "CAN_MANAGE"),
  },
  "cluster-policies": {
    answers: "cluster-policy",
    levels: ["CAN_USE"],
    root: "/cluster-policies/",
    initial(world, policy_id) {
      policyOr404(world, { policy_id });
      return [];
    },
  },
  warehouses: {
    answers: "warehouses",
    levels: ["CAN_VIEW", "CAN_MONITOR", "CAN_USE", "CAN_MANAGE", "IS_OWNER"],
    owned: "warehouse",
    takesHighest: true,
    root: "/sql/",
    initial: (world, id) => ofCreator(warehouseOr404(world, id).creator_name, "IS_OWNER"),
  },
  jobs: {
    answers: "job",
    levels: JOB_LEVELS,
    owned: "job",
    root: "/jobs/",
    initial: (world, id) =>
      ofCreator(userById(world, jobOr400(world, id).creator_user_id)?.userName, "IS_OWNER"),
  },
  notebooks: ofTree("notebook", "NOTEBOOK"),
  directories: ofTree("directory", "DIRECTORY"),
  files: ofTree("file", "FILE"),
  repos: ofTree("repo", "REPO"),
};

/** Settings of the workspace with an access list. Requests name them where other objects have an ID. */
export const AUTHORIZATIONS: Readonly<Record<string, AccessType>> = {
  tokens: { ...setting("tokens", ["CAN_USE", "CAN_MANAGE"]), needsAdmins: true },
  passwords: setting("passwords", ["CAN_USE"]),
};

/** What `permissionLevels` says of each level. */
export const describeLevels = ({ levels }: AccessType): JsonObject => ({
  permission_levels: levels.map((level) => ({
    permission_level: level,
    description: level.toLowerCase().replaceAll("_", " "),
  })),
});
