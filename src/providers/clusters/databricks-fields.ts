// Attributes of a cluster that only the Databricks dialect has, for clusters and the `new_cluster` of jobs.

import type { Annotations, FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  numberField,
  required,
  textField,
} from "../kit/field-builders.ts";

const only = { dialect: "databricks" } as const;
const decided = { ...only, serverDefault: true } as const;

/** A place that is named by one URI or path. */
const destination = (what: string): FieldSchema =>
  groupField(
    { destination: required(textField({ minLength: 1, description: "URI or path." })) },
    { ...only, description: what },
  );

/** A place in the file system of the workspace, in one dialect or in all. */
export const fileDestination = (description: string, only: Pick<Annotations, "dialect">): FieldSchema =>
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

export const databricksLogPlaces: FieldTable = {
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

export const databricksScriptPlaces: FieldTable = {
  dbfs: fileDestination("A script in the file system; deprecated by the service.", only),
  workspace: destination("A script among the workspace files, by its path."),
  volumes: destination("A script in a volume, by its path."),
  abfss: destination("A script in Azure storage, by its URI."),
  s3: destination("A script in a bucket, by its URI."),
  gcs: destination("A script in a Google bucket, by its URI."),
};

const availability = (kinds: readonly string[]): FieldSchema =>
  choiceField(kinds, {
    serverDefault: true,
    description: "Type of the machines after the first ones: spot or on-demand.",
  });

const firstOnDemand = integerField({
  minimum: 0,
  serverDefault: true,
  description: "Number of machines that are on-demand, counted from the first.",
});

export const databricksClusterFields: FieldTable = {
  policy_id: textField({
    ...decided,
    severity: "security",
    minLength: 1,
    description: "ID of the cluster policy.",
  }),
  data_security_mode: textField({
    ...decided,
    severity: "security",
    minLength: 1,
    description: "Isolation of users and data, such as SINGLE_USER or USER_ISOLATION.",
  }),
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
  azure_attributes: groupField(
    {
      availability: availability(["ON_DEMAND_AZURE", "SPOT_AZURE", "SPOT_WITH_FALLBACK_AZURE"]),
      first_on_demand: firstOnDemand,
      spot_bid_max_price: numberField({
        serverDefault: true,
        description: "Maximum price of a spot machine; -1 is the on-demand price.",
      }),
    },
    { ...decided, cloud: "azure", severity: "cost", description: "Settings of the machines on Azure." },
  ),
  aws_attributes: groupField(
    {
      availability: availability(["ON_DEMAND", "SPOT", "SPOT_WITH_FALLBACK"]),
      first_on_demand: firstOnDemand,
      zone_id: textField({ serverDefault: true, description: "Availability zone, or auto." }),
      instance_profile_arn: textField({
        serverDefault: true,
        severity: "security",
        description: "Instance profile of the machines.",
      }),
      spot_bid_price_percent: integerField({
        minimum: 0,
        serverDefault: true,
        description: "Maximum price of a spot machine, in percent of the on-demand price.",
      }),
    },
    { ...decided, cloud: "aws", severity: "cost", description: "Settings of the machines on AWS." },
  ),
  gcp_attributes: groupField(
    {
      availability: textField({
        serverDefault: true,
        description: "Type of the machines: spot or on-demand.",
      }),
      use_preemptible_executors: flagField({
        serverDefault: true,
        description: "Whether workers can be preempted.",
      }),
      local_ssd_count: integerField({
        minimum: 0,
        serverDefault: true,
        description: "Number of local disks of each machine.",
      }),
      zone_id: textField({ serverDefault: true, description: "Zone, or auto." }),
    },
    { ...decided, cloud: "gcp", severity: "cost", description: "Settings of the machines on Google Cloud." },
  ),
};
