// Part B of the contract about instance pools.

import { section } from "./section.ts";

const PURPOSE = section(
  "B1",
  "What pools do",
  {
    pools: {
      "idle instances are allocated to attached clusters": /idle instances first/,
      "a released instance returns to the pool": /released/,
      "without an idle instance the pool requests a new one": /requests new ones/,
    },
  },
  { told: { billing: ["idle instances are billed by the provider alone", "nothing is billed here"] } },
);

const POOL = section(
  "B2.1",
  "Instance pool",
  {
    instance_pool_id: "assigned on create",
    instance_pool_name: {
      "required on create and edit": /instance_pool_name is required/,
      unique: /unique/,
      "not empty, fewer than 100 characters": /fewer than 100/,
    },
    min_idle_instances: "idle instances kept in addition to those in use",
    max_capacity: {
      "idle and in use together": /stay within/,
      "at the maximum no new cluster comes up from the pool": /no new cluster/,
      "and attached clusters cannot scale up until instances become idle": /cannot scale up/,
    },
    node_type_id: "node type of all instances; attached clusters inherit it",
    custom_tags: "at most 6, in addition to default_tags",
    idle_instance_autotermination_minutes: {
      "from 0 to 10000": /between 0 and 10000/,
      "idle instances beyond the minimum are kept so long": /are kept for/,
      "0: at once": /with 0/,
      "unset: a default": /unset/,
    },
    enable_elastic_disk: "instances acquire more disk as they run low",
    disk_spec: "initial remote storage of an instance",
    preloaded_spark_versions: "runtime versions installed on each instance",
    default_tags: "Vendor, PlatformInstancePoolCreatorId, PlatformInstancePoolId; read-only",
    state: "ACTIVE or DELETED; read-only",
    stats: "used_count, idle_count, pending_used_count, pending_idle_count; read-only",
    DiskSpec: {
      "disk_type PREMIUM_LRS or STANDARD_LRS": /one of two types/,
      "disk_count up to the limit of the node type": /limited by the node type/,
      "at least one for types without a local disk": /without local disk/,
      "disk_size 1 to 1023": /1 to 1023/,
    },
    types: "a value of another type is refused",
  },
  {
    open: {
      ClusterTag: [
        "shape of a tag",
        "{key, value} in a list, as the tables say; requests may write a map too; keys and values as the cloud allows",
      ],
      defaults: ["defaults", "0 idle instances, no capacity limit, 60 minutes, elastic disk"],
      "unknown values": ["unknown node types and runtime versions", "INVALID_PARAMETER_VALUE"],
      "capacity below minimum": ["max_capacity below min_idle_instances", "INVALID_PARAMETER_VALUE"],
    },
  },
);

const STATES = section(
  "B3.1",
  "States of a pool",
  {
    create: "a pool is ACTIVE",
    delete: {
      "the pool is deleted permanently": /no longer exists for/,
      "new clusters cannot attach": /cannot attach/,
      "running attached clusters keep running": /keeps running/,
      "they cannot scale up": /cannot scale up/,
      "terminated attached clusters fail to start until they are edited off the pool": /fails to start/,
    },
  },
  {
    open: {
      DELETED: ["reading a deleted pool", "RESOURCE_DOES_NOT_EXIST; it is not listed, its name is free"],
    },
    told: {
      asynchronous: ["idle instances end asynchronously", "no request shows them after the pool is deleted"],
    },
  },
);

const CALLS = section(
  "B4.1",
  "Instance pools",
  {
    create: {
      "answers instance_pool_id": /answers the id/,
      "instance_pool_name is required": /instance_pool_name is required/,
    },
    edit: {
      "instance_pool_id, instance_pool_name and node_type_id are required": /required/,
      "node_type_id equals the original": /must equal/,
    },
    delete: "instance_pool_id",
    get: { "instance_pool_id is required": /an id is required/, "all fields of 2.1": /every field/ },
    list: "instance_pools, with the fields of get",
    "rule 1": {
      "idle instances are provisioned in the background": /background/,
      "ready once stats.idle_count equals the minimum": /equals the minimum/,
    },
    "rule 2": {
      "name, minimum, capacity and idle minutes can be edited": /can be edited/,
      "nothing else can": /cannot be edited/,
    },
  },
  {
    open: {
      answers: ["answers of edit and delete", "200 with an empty object; a list that is empty is left out"],
      missing: ["a pool that is missing", "404 RESOURCE_DOES_NOT_EXIST"],
      "edit left out": ["an editable field that an edit leaves out", "goes back to its default"],
      "edit fixed": ["a fixed field in an edit, save node_type_id", "is ignored"],
      "node_type_id on create": ["whether create needs node_type_id", "it does"],
    },
    told: {
      shortage: ["some requested idle instances may not be obtained", "the provider here always has some"],
    },
  },
);

export const pools = [PURPOSE, POOL, STATES, CALLS];
