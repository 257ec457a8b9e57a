// Instance pools (contract B 2.1 and contract B 4.1): fields, also those that only the Databricks dialect has, planning rules, and requests.
// `index.ts` adds their access lists.

import { remoteId } from "../core/address.ts";
import { canonicalJson } from "../core/digest.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { hasDigest } from "../core/sensitive/digests.ts";
import type { FieldTable } from "../resource/field-schema.ts";
import type { LiveObject } from "../resource/live.ts";
import {
  anyAvailability,
  availabilityOf,
  cloudSettings,
  localSsdCount,
  spotBidMaxPrice,
  spotBidPricePercent,
} from "./kit/cloud-fields.ts";
import {
  choiceField,
  defineProvider,
  flagField,
  groupField,
  integerField,
  listField,
  required,
  tags,
  textField,
} from "./kit/field-builders.ts";
import { preservedIn, preservedPaths, unsetFieldsLost, withPreserved } from "./kit/preserved-fields.ts";
import { effectOn, losesId, problem, removesObject } from "./kit/problems.ts";
import {
  clustersOn,
  createdId,
  dependentsOfId,
  ignoreMissing,
  jobsOn,
  keyIn,
  liveIfPresent,
  namesOf,
  objectsIn,
  responseText,
} from "./kit/responses.ts";
import { normalizeDesired, normalizeLive } from "./kit/spec-form.ts";
import { unknownFieldsLost, withUnknownFields } from "./kit/unknown-fields.ts";

const databricksOnly = { dialect: "databricks" } as const;

const databricksDiskTypes: FieldTable = {
  azure_disk_volume_type: choiceField(["PREMIUM_LRS", "STANDARD_LRS"], {
    ...databricksOnly,
    cloud: "azure",
    description: "PREMIUM_LRS is backed by SSD, STANDARD_LRS by HDD.",
  }),
  ebs_volume_type: choiceField(["GENERAL_PURPOSE_SSD", "THROUGHPUT_OPTIMIZED_HDD"], {
    ...databricksOnly,
    cloud: "aws",
    description: "Type of the volumes.",
  }),
};

const replacesPool = { onChange: "replace" } as const;

/** `cloudSettings` makes each a field of one cloud of Databricks. */
const databricksPoolFields: FieldTable = {
  azure_attributes: cloudSettings(
    "azure",
    { availability: availabilityOf(["ON_DEMAND_AZURE", "SPOT_AZURE"]), spot_bid_max_price: spotBidMaxPrice },
    replacesPool,
  ),
  aws_attributes: cloudSettings(
    "aws",
    {
      availability: availabilityOf(["ON_DEMAND", "SPOT"]),
      zone_id: textField({ serverDefault: true, description: "Availability zone." }),
      spot_bid_price_percent: spotBidPricePercent,
    },
    replacesPool,
  ),
  gcp_attributes: cloudSettings(
    "gcp",
    {
      gcp_availability: anyAvailability,
      local_ssd_count: localSsdCount,
      zone_id: textField({ serverDefault: true, description: "Zone." }),
    },
    replacesPool,
  ),
};

/** The disks of an instance (contract B 2.1 DiskSpec). */
const diskSpec = groupField(
  {
    disk_type: groupField(
      {
        cloud_disk_volume_type: required(
          choiceField(["PREMIUM_LRS", "STANDARD_LRS"], {
            dialect: "contract",
            description: "PREMIUM_LRS is backed by SSD, STANDARD_LRS by HDD.",
          }),
        ),
        ...databricksDiskTypes,
      },
      { serverDefault: true, description: "Type of the disks." },
    ),
    disk_count: integerField({
      minimum: 0,
      serverDefault: true,
      description:
        "Disks of each instance, up to the limit of the node type; at least 1 if the node type has no local disks.",
    }),
    disk_size: integerField({
      minimum: 1,
      maximum: 1023,
      serverDefault: true,
      description: "Size of each disk in GiB.",
    }),
  },
  {
    severity: "cost",
    onChange: "replace",
    serverDefault: true,
    description: "Remote storage of each instance.",
  },
);

const fields: FieldTable = {
  // Optional: the key of the resource otherwise.
  instance_pool_name: textField({
    severity: "other",
    minLength: 1,
    maxLength: 99,
    description: "Unique display name.",
  }),
  node_type_id: required(
    textField({
      severity: "cost",
      minLength: 1,
      onChange: "replace",
      catalog: "node_types",
      description: "Machine type of every instance; clusters of the pool inherit it.",
    }),
  ),
  min_idle_instances: integerField({
    severity: "cost",
    minimum: 0,
    default: 0,
    description: "Minimum number of idle instances, in addition to those in use.",
  }),
  max_capacity: integerField({
    severity: "cost",
    minimum: 0,
    description: "Maximum number of instances, idle and in use; if absent, the pool sets no limit.",
  }),
  idle_instance_autotermination_minutes: integerField({
    severity: "cost",
    minimum: 0,
    maximum: 10_000,
    serverDefault: true,
    description: "Minutes to keep idle instances beyond min_idle_instances; 0 removes them immediately.",
  }),
  enable_elastic_disk: flagField({
    severity: "cost",
    onChange: "replace",
    serverDefault: true,
    description: "Instances get more disk space when they run low.",
  }),
  disk_spec: diskSpec,
  preloaded_spark_versions: listField(
    textField({ minLength: 1, catalog: "spark_versions", description: "A runtime version." }),
    {
      severity: "availability",
      list: "set",
      onChange: "replace",
      description: "Runtime versions installed on each instance, so that clusters start faster.",
    },
  ),
  ...databricksPoolFields,
  custom_tags: tags({
    most: 6,
    onChange: "replace",
    inPlaceIn: "databricks",
    description: "Tags of the pool's instances.",
  }),
};

/** The fields that are changed in place in both dialects, the name among them. */
const EDITABLE = Object.keys(fields).filter((field) => fields[field]?.onChange === undefined);

/** What an export omits, because the service sets it in a new pool if the spec does not. */
const OMITTED_BY_EXPORT = { idle_instance_autotermination_minutes: 60, enable_elastic_disk: true };

/** What each new pool has, so a replacement loses none of it. The service also chooses disks and a zone, but not always the same. */
const NEW_POOL_VALUES = {
  ...OMITTED_BY_EXPORT,
  azure_attributes: { availability: "ON_DEMAND_AZURE", spot_bid_max_price: -1 },
};

/** Members of an answer that no request sets. */
const READ_ONLY = new Set(["instance_pool_id", "default_tags", "state", "stats", "status"]);

function toLive(answer: JsonObject): LiveObject | undefined {
  const id = keyIn(answer, "instance_pool_id");
  if (answer.state === "DELETED") return undefined;
  const values = normalizeLive(fields, answer);
  const name = responseText(answer, "instance_pool_name") ?? "";
  return withUnknownFields({ id: remoteId(id), name, values, facts: {} }, fields, answer, READ_ONLY);
}

/**
 * An edit must repeat the node type, which it cannot change (contract B 4.1 rule 2). It has the tags only if they differ, because
 * only the Databricks dialect changes them in place. By contract, a pool has a node type: `""` is only for the types.
 */
function editBody(id: string, before: JsonObject, after: JsonObject): { [field: string]: Json } {
  const body: { [field: string]: Json } = {
    instance_pool_id: id,
    node_type_id: before.node_type_id ?? after.node_type_id ?? "",
  };
  for (const field of EDITABLE) if (after[field] !== undefined) body[field] = after[field];
  const { custom_tags: tagsAfter = {} } = after;
  if (canonicalJson(tagsAfter) !== canonicalJson(before.custom_tags ?? {})) body.custom_tags = tagsAfter;
  return body;
}

export const pools = defineProvider({
  kind: "pools",
  singular: "instance pool",
  description: "Instance pools: idle machines that let clusters start faster.",
  fields,
  severity: "availability",
  nameField: "instance_pool_name",
  unique: true,
  idAttribute: "instance_pool_id",
  creationRecovery: "client-named",
  replaceStrategy: "rename-aside",
  usedBy: ["clusters", "jobs"],

  planning: {
    /** Only idle instances: others are part of the clusters that use them. */
    machines: ({ node_type_id: name, min_idle_instances: idle = 0 }) => ({
      parts: [{ item: { list: "node_types", name }, least: idle, most: idle }],
      isAlwaysOn: true,
    }),
    validate(values) {
      const { min_idle_instances: least, max_capacity: most } = values;
      if (typeof least !== "number" || typeof most !== "number" || least <= most) return [];
      const message = `min_idle_instances (${least}) is more than max_capacity (${most})`;
      return [problem("SPEC_COMBINATION", ["min_idle_instances"], message)];
    },
    normalize: (values) => normalizeDesired(fields, values),
    omittedByExport: () => OMITTED_BY_EXPORT,
    // An edit resets editable fields that it does not repeat, so it repeats those that the spec does not set.
    steps: (diffs, live, after) => [
      { operation: "edit", detail: { keep: preservedPaths(fields, live.values, after, diffs) } },
    ],
    // `keptWhileUsedBy` keeps a replaced pool, `harms` ends a saved plan that harms one more, and `consequences` are for readers.
    keptWhileUsedBy: ({ id }, workspace) => dependentsOfId(id, workspace),
    // Whatever their state is: a stopped cluster cannot start. A replaced pool stays while it is used.
    harms: ({ action, live }, workspace) =>
      action === "delete" && live !== undefined
        ? dependentsOfId(live.id, workspace).map((user) => `${user} loses its pool`)
        : [],
    consequences(change, workspace) {
      const { action, live } = change;
      if (!removesObject(change) || live === undefined) return [];
      if (action === "replace")
        return [
          ...losesId(change, "pool"),
          ...effectOn(
            "the old pool is kept under another name while it is in use",
            dependentsOfId(live.id, workspace),
          ),
          ...unsetFieldsLost(change, fields, "pool", { ofNewObject: NEW_POOL_VALUES }),
          ...unknownFieldsLost(change, "pool"),
        ];
      // In a plan of an untrusted spec, a state that equals a sensitive value is a digest. A cluster may take only its driver from the pool.
      const byState = Object.groupBy(clustersOn(live.id, workspace), (cluster) => {
        const { run_state: state } = cluster.values;
        if (hasDigest(state)) return "hidden";
        if (state !== "RUNNING") return "stopped";
        const { instance_pool_id: workers, driver_instance_pool_id: driver } =
          workspace.valuesAfter("clusters", cluster) ?? {};
        return String(driver) === live.id && String(workers) !== live.id ? "onlyDriver" : "workers";
      });
      const { workers = [], onlyDriver = [], stopped = [], hidden = [] } = byState;
      const until = "until they leave the pool";
      return [
        ...effectOn(`running clusters cannot grow ${until}`, namesOf(workers)),
        ...effectOn(`running clusters cannot restart ${until}`, namesOf(onlyDriver)),
        ...effectOn(`stopped clusters cannot start ${until}`, namesOf(stopped)),
        ...effectOn(`clusters cannot grow or start ${until}`, namesOf(hidden)),
        ...effectOn("jobs cannot create their clusters in it", namesOf(jobsOn(live.id, workspace))),
      ];
    },
  },

  operations: {
    list: async (api) =>
      objectsIn(await api.read("instance-pools/list"), "instance_pools").flatMap(
        (answer) => toLive(answer) ?? [],
      ),
    read: (api, id) => liveIfPresent(() => api.read("instance-pools/get", { instance_pool_id: id }), toLive),
    async create(api, task) {
      const answer = await api.write("instance-pools/create", { ...task.values });
      return createdId(answer, "instance_pool_id");
    },
    async update(api, task) {
      const [edit] = task.steps;
      const after = withPreserved(task.values, task.before, preservedIn(edit?.detail));
      await api.write("instance-pools/edit", editBody(task.id, task.before, after));
    },
    delete: (api, task) =>
      ignoreMissing(() => api.write("instance-pools/delete", { instance_pool_id: task.id })),
    async rename(api, { id, live, name }) {
      await api.write(
        "instance-pools/edit",
        editBody(id, live.values, { ...live.values, instance_pool_name: name }),
      );
    },
  },
});
