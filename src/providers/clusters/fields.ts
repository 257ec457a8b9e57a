// The attributes of a cluster, as clusters and the `new_cluster` of jobs have them (contract B 2.4), and those of the Databricks
// dialect.

import { defined, isObject, type Json, omit } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { Annotations, FieldSchema, FieldTable, Values } from "../../resource/field-schema.ts";
import {
  anyAvailability,
  cloudSettings,
  localSsdCount,
  spotBidMaxPrice,
  spotBidPricePercent,
} from "../kit/cloud-fields.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  listField,
  mapField,
  required,
  scalarField,
  tags,
  textField,
} from "../kit/field-builders.ts";
import { fileAt, workspaceFileAt } from "../kit/library-fields.ts";

const CONTRACT = { dialect: "contract" } as const;

/** `mostTags`: how many a spec may use; the service allows 43 on a cluster and 45 in the description of a job cluster. */
export const clusterFields = ({ mostTags }: { readonly mostTags: number }): FieldTable => ({
  spark_version: required(
    textField({
      severity: "availability",
      minLength: 1,
      catalog: "spark_versions",
      description: "Runtime version, as listed by clusters/spark-versions.",
      examples: ["6.4.x-scala2.11"],
    }),
  ),
  node_type_id: textField({
    severity: "cost",
    minLength: 1,
    serverDefault: true,
    catalog: "node_types",
    description:
      "Machine type of the workers, as listed by clusters/list-node-types. Clusters in a pool always have the machine type of the pool.",
  }),
  driver_node_type_id: textField({
    severity: "cost",
    minLength: 1,
    catalog: "node_types",
    description: "Machine type of the driver (default: that of the workers).",
  }),
  num_workers: integerField({
    severity: "cost",
    minimum: 0,
    description: "Workers in addition to the driver. Set either this or autoscale.",
  }),
  autoscale: groupField(
    {
      min_workers: required(
        integerField({
          minimum: 0,
          description: "Minimum number of workers; the cluster starts with this number.",
        }),
      ),
      max_workers: required(
        integerField({
          minimum: 1,
          description: "Maximum number of workers; must be more than min_workers.",
        }),
      ),
    },
    { severity: "cost", description: "Range in which the service chooses the number of workers." },
  ),
  instance_pool_id: textField({
    severity: "cost",
    minLength: 1,
    refersTo: "pools",
    description: "Pool that provides the machines.",
  }),
  autotermination_minutes: integerField({
    severity: "cost",
    minimum: 0,
    maximum: 10_000,
    default: 0,
    description: "Minutes of inactivity before the cluster terminates: 10 to 10000, or 0 for never.",
  }),
  enable_elastic_disk: flagField({
    severity: "cost",
    serverDefault: true,
    description: "Machines get more disk space when they run low.",
  }),
  spark_conf: mapField(scalarField({ description: "Value; sent as a string." }), {
    severity: "other",
    addedByService: { "spark.databricks.delta.preview.enabled": "true" },
    description: "Spark configuration by key.",
  }),
  spark_env_vars: mapField(scalarField({ description: "Value of the variable." }), {
    severity: "other",
    description: "Environment variables of the driver and the workers.",
  }),
  custom_tags: tags({ most: mostTags, description: "Tags of the cluster's machines." }),
  cluster_log_conf: groupField(
    { fs: required(fileDestination("A folder in the file system.", CONTRACT)), ...databricksLogPlaces },
    {
      severity: "other",
      description: "Destination for logs of the driver and the workers, delivered every 5 minutes.",
    },
  ),
  init_scripts: listField(
    groupField(
      {
        fs: fileDestination("A script in the file system.", CONTRACT),
        file: fileDestination("A script on the machine itself.", {}),
        ...databricksScriptPlaces,
      },
      { description: "Location of a script; exactly one of these." },
    ),
    {
      severity: "security",
      list: "ordered",
      description: "Scripts that run on each machine when it starts, in this order.",
    },
  ),
  ...databricksClusterFields,
  ssh_public_keys: listField(textField({ minLength: 1, description: "One public key." }), {
    severity: "security",
    list: "set",
    maxItems: 10,
    description: "Public keys that may log in to the machines as user ubuntu on port 2200.",
  }),
});

export function clusterFiles(values: Values): readonly { readonly kind: string; readonly name: string }[] {
  const scripts = Array.isArray(values.init_scripts) ? values.init_scripts : [];
  return scripts.flatMap((script: Json) => {
    if (!isObject(script)) return [];
    const storage = script.fs ?? script.dbfs;
    if (isObject(storage)) return fileAt(storage.destination);
    return isObject(script.workspace) ? workspaceFileAt(script.workspace.destination) : [];
  });
}

/** A live cluster as a spec has it: usual words, nothing that follows from `is_single_node`, and no workers where services leave out a zero. */
export function clusterInSpecForm(live: Values): Values {
  const values = inUsualWords(withoutSingleNode(live));
  return values.num_workers === undefined && values.autoscale === undefined && values.is_single_node !== true
    ? { ...values, num_workers: 0 }
    : values;
}

/** What the service adds to a cluster that runs on the driver alone: it follows from `is_single_node`. */
function withoutSingleNode(values: Values): Values {
  if (values.is_single_node !== true) return values;
  const { num_workers: workers, spark_conf: conf, custom_tags: tags, ...rest } = values;
  const left = (map: Json | undefined, keys: readonly string[]) => {
    const members = isObject(map) ? omit(map, keys) : {};
    return Object.keys(members).length === 0 ? undefined : members;
  };
  return {
    ...rest,
    ...defined({
      num_workers: workers === 0 ? undefined : workers,
      spark_conf: left(conf, ["spark.databricks.cluster.profile", "spark.master"]),
      custom_tags: left(tags, ["ResourceClass"]),
    }),
  };
}

/** Newer names of modes, which the service answers by their older ones. */
const MODES: Readonly<Record<string, string>> = {
  DATA_SECURITY_MODE_STANDARD: "USER_ISOLATION",
  DATA_SECURITY_MODE_DEDICATED: "SINGLE_USER",
};
export const AUTO_MODE = "DATA_SECURITY_MODE_AUTO";

function inUsualWords(values: Values): Values {
  const mode = MODES[String(values.data_security_mode)];
  return mode === undefined ? values : { ...values, data_security_mode: mode };
}

/** The only part of the attributes of a cloud that a pool does not give to its clusters. */
export const OWN_IN_POOL = "instance_profile_arn";

/** What a cluster's values leave out because it follows from others: what a pool gives, and a driver like the workers. */
export function withoutInherited(desired: Values): Values {
  const values = inUsualWords(withoutSingleNode(desired));
  const { node_type_id: node, driver_node_type_id: driver, enable_elastic_disk: elastic, ...other } = values;
  const { azure_attributes: azure, aws_attributes: aws, gcp_attributes: gcp, ...rest } = other;
  if (values.instance_pool_id !== undefined) {
    const profile = isObject(aws) ? aws[OWN_IN_POOL] : undefined;
    return profile === undefined ? rest : { ...rest, aws_attributes: { [OWN_IN_POOL]: profile } };
  }
  return {
    ...rest,
    ...defined({ azure_attributes: azure, aws_attributes: aws, gcp_attributes: gcp, node_type_id: node }),
    ...(driver === undefined || driver === node ? {} : { driver_node_type_id: driver }),
    ...defined({ enable_elastic_disk: elastic }),
  };
}

const PLACES: Readonly<Record<string, string>> = {
  autoscale: "num_workers",
  current_num_workers: "num_workers",
  target_num_workers: "num_workers",
  driver_node_type_id: "node_type_id",
};

/** The size has several forms and is in events, too; the driver has the type of the workers unless it has another one. */
export function placeInCluster(path: Path): Path {
  const place = PLACES[String(path[0])];
  return place === undefined ? path : [place];
}

const only = { dialect: "databricks" } as const;
const decided = { ...only, serverDefault: true } as const;

/** A place that is named by one URI or path. */
const destination = (what: string): FieldSchema =>
  groupField(
    { destination: required(textField({ minLength: 1, description: "URI or path." })) },
    { ...only, description: what },
  );

/** A place in the file system of the workspace, in one dialect or in all. */
const fileDestination = (description: string, only: Pick<Annotations, "dialect">): FieldSchema =>
  groupField(
    {
      destination: required(
        textField({
          minLength: 1,
          mentions: ["files"],
          fileUri: true,
          description: "File-system URI, such as fs:/logs.",
        }),
      ),
    },
    { ...only, description },
  );

const databricksLogPlaces: FieldTable = {
  dbfs: fileDestination("A folder of the file system.", only),
  volumes: destination("A folder of a volume."),
  s3: groupField(
    {
      destination: required(textField({ minLength: 1, description: "S3 URI, such as s3://bucket/logs." })),
      region: textField({ serverDefault: true, description: "Region of the bucket." }),
      endpoint: textField({ serverDefault: true, description: "Endpoint to use instead of a region." }),
      enable_encryption: flagField({ serverDefault: true, description: "Encrypt the logs." }),
      encryption_type: textField({ serverDefault: true, description: "sse-s3 or sse-kms." }),
      kms_key: textField({ serverDefault: true, description: "Key for sse-kms." }),
      canned_acl: textField({ serverDefault: true, description: "Canned access list of the log objects." }),
    },
    { ...only, cloud: "aws", description: "A folder of a bucket." },
  ),
};

const databricksScriptPlaces: FieldTable = {
  dbfs: fileDestination("A script in the file system; deprecated by the service.", only),
  workspace: destination("A script among the workspace files, by its path."),
  volumes: destination("A script in a volume, by its path."),
  abfss: destination("A script in Azure storage, by its URI."),
  s3: destination("A script in a bucket, by its URI."),
  gcs: destination("A script in a Google bucket, by its URI."),
};

const workerAvailability = (kinds: readonly string[]): FieldSchema =>
  choiceField(kinds, {
    serverDefault: true,
    description: "Type of the machines after the first ones: spot or on-demand.",
  });

const firstOnDemand = integerField({
  minimum: 0,
  serverDefault: true,
  description: "Number of machines that are on-demand, counted from the first.",
});

function flexibility(of: string): FieldSchema {
  return groupField(
    {
      alternate_node_type_ids: required(
        listField(textField({ minLength: 1, catalog: "node_types", description: "A machine type." }), {
          list: "ordered",
          description: "Machine types to take if the first is out of stock.",
        }),
      ),
    },
    { ...decided, severity: "cost", description: `Other machine types for the ${of}.` },
  );
}

const databricksClusterFields: FieldTable = {
  policy_id: textField({
    ...decided,
    severity: "security",
    minLength: 1,
    refersTo: "cluster_policies",
    description: "Cluster policy. Values that it fixes or gives by default need not be in the spec.",
  }),
  apply_policy_default_values: flagField({
    ...only,
    writeOnly: true,
    requestOption: true,
    severity: "other",
    description:
      "Whether the service sets fields that are absent to the defaults of the policy. It never returns this.",
  }),
  data_security_mode: textField({
    ...decided,
    severity: "security",
    minLength: 1,
    description:
      "Isolation of users and data, such as SINGLE_USER or USER_ISOLATION; DATA_SECURITY_MODE_AUTO leaves it to the service.",
  }),
  kind: textField({
    ...decided,
    severity: "availability",
    minLength: 1,
    description: "CLASSIC_PREVIEW allows is_single_node and use_ml_runtime.",
  }),
  is_single_node: flagField({
    ...decided,
    severity: "cost",
    description: "Runs on the driver alone; the service adds the settings for it.",
  }),
  use_ml_runtime: flagField({
    ...decided,
    severity: "availability",
    description: "Runs the machine learning version of the runtime.",
  }),
  docker_image: groupField(
    { url: required(textField({ minLength: 1, description: "URL of the image." })) },
    { ...decided, severity: "security", description: "Container image of the machines." },
  ),
  workload_type: groupField(
    {
      clients: required(
        groupField(
          {
            jobs: flagField({ default: true, description: "Whether jobs may use the cluster." }),
            notebooks: flagField({ default: true, description: "Whether notebooks may use the cluster." }),
          },
          { description: "Kinds of work." },
        ),
      ),
    },
    { ...decided, severity: "availability", description: "Work that the cluster accepts." },
  ),
  driver_node_type_flexibility: flexibility("driver"),
  worker_node_type_flexibility: flexibility("workers"),
  single_user_name: textField({
    ...decided,
    severity: "security",
    minLength: 1,
    ignoreCase: true,
    description: "The user of a cluster whose data_security_mode is SINGLE_USER.",
  }),
  runtime_engine: choiceField(["STANDARD", "PHOTON", "NULL"], {
    ...decided,
    severity: "cost",
    description: "Engine that runs queries, such as PHOTON.",
  }),
  driver_instance_pool_id: textField({
    ...decided,
    severity: "cost",
    minLength: 1,
    refersTo: "pools",
    description: "Pool of the driver (default: the pool of the workers).",
  }),
  azure_attributes: cloudSettings("azure", {
    availability: workerAvailability(["ON_DEMAND_AZURE", "SPOT_AZURE", "SPOT_WITH_FALLBACK_AZURE"]),
    first_on_demand: firstOnDemand,
    spot_bid_max_price: spotBidMaxPrice,
  }),
  aws_attributes: cloudSettings("aws", {
    availability: workerAvailability(["ON_DEMAND", "SPOT", "SPOT_WITH_FALLBACK"]),
    first_on_demand: firstOnDemand,
    zone_id: textField({ serverDefault: true, description: "Availability zone, or auto." }),
    instance_profile_arn: textField({
      serverDefault: true,
      severity: "security",
      minLength: 1,
      refersTo: "instance_profiles",
      description: "Instance profile of the machines.",
    }),
    spot_bid_price_percent: spotBidPricePercent,
  }),
  gcp_attributes: cloudSettings("gcp", {
    availability: anyAvailability,
    use_preemptible_executors: flagField({
      serverDefault: true,
      description: "Whether workers can be preempted.",
    }),
    local_ssd_count: localSsdCount,
    zone_id: textField({ serverDefault: true, description: "Zone, or auto." }),
  }),
};
