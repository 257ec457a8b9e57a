// Attributes of a cluster that only the Databricks dialect has, for clusters and the `new_cluster` of jobs.

import type { FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  numberField,
  optional,
  textField,
} from "../kit/field-builders.ts";

const only = { dialect: "databricks" } as const;
const decided = { ...only, serverDefault: true } as const;

/** A place that is named by one URI or path. */
const destination = (what: string): FieldSchema =>
  optional(
    groupField(
      { destination: textField({ minLength: 1, description: "URI or path." }) },
      { ...only, description: what },
    ),
  );

const onDbfs = (what: string): FieldSchema =>
  optional(
    groupField(
      {
        destination: textField({
          minLength: 1,
          mentions: ["files"],
          fileUri: true,
          description: "File-system URI, such as fs:/logs.",
        }),
      },
      { ...only, description: what },
    ),
  );

export const databricksLogPlaces: FieldTable = {
  dbfs: onDbfs("A folder of the file system."),
  volumes: destination("A folder of a volume."),
  s3: optional(
    groupField(
      {
        destination: textField({ minLength: 1, description: "S3 URI, such as s3://bucket/logs." }),
        region: optional(textField({ serverDefault: true, description: "Region of the bucket." })),
        endpoint: optional(
          textField({ serverDefault: true, description: "Endpoint to use instead of a region." }),
        ),
        enable_encryption: optional(flagField({ serverDefault: true, description: "Encrypt the logs." })),
        encryption_type: optional(textField({ serverDefault: true, description: "sse-s3 or sse-kms." })),
        kms_key: optional(textField({ serverDefault: true, description: "Key for sse-kms." })),
        canned_acl: optional(
          textField({ serverDefault: true, description: "Canned access list of the log objects." }),
        ),
      },
      { ...only, cloud: "aws", description: "A folder of a bucket." },
    ),
  ),
};

export const databricksScriptPlaces: FieldTable = {
  dbfs: onDbfs("A script in the file system; deprecated by the service."),
  workspace: destination("A script among the workspace files, by its path."),
  volumes: destination("A script in a volume, by its path."),
  abfss: destination("A script in Azure storage, by its URI."),
  s3: destination("A script in a bucket, by its URI."),
  gcs: destination("A script in a Google bucket, by its URI."),
};

const availability = (kinds: readonly string[]): FieldSchema =>
  optional(
    choiceField(kinds, {
      serverDefault: true,
      description: "Type of the machines after the first ones: spot or on-demand.",
    }),
  );

const firstOnDemand = optional(
  integerField({
    minimum: 0,
    serverDefault: true,
    description: "Number of machines that are on-demand, counted from the first.",
  }),
);

export const databricksClusterFields: FieldTable = {
  policy_id: optional(
    textField({
      ...decided,
      severity: "security",
      minLength: 1,
      description: "ID of the cluster policy.",
    }),
  ),
  data_security_mode: optional(
    textField({
      ...decided,
      severity: "security",
      minLength: 1,
      description: "Isolation of users and data, such as SINGLE_USER or USER_ISOLATION.",
    }),
  ),
  single_user_name: optional(
    textField({
      ...decided,
      severity: "security",
      minLength: 1,
      ignoreCase: true,
      description: "The user of a cluster whose data_security_mode is SINGLE_USER.",
    }),
  ),
  runtime_engine: optional(
    choiceField(["STANDARD", "PHOTON", "NULL"], {
      ...decided,
      severity: "cost",
      description: "Engine that runs queries, such as PHOTON.",
    }),
  ),
  driver_instance_pool_id: optional(
    textField({
      ...decided,
      severity: "cost",
      minLength: 1,
      refersTo: "pools",
      description: "Pool of the driver (default: the pool of the workers).",
    }),
  ),
  azure_attributes: optional(
    groupField(
      {
        availability: availability(["ON_DEMAND_AZURE", "SPOT_AZURE", "SPOT_WITH_FALLBACK_AZURE"]),
        first_on_demand: firstOnDemand,
        spot_bid_max_price: optional(
          numberField({
            serverDefault: true,
            description: "Maximum price of a spot machine; -1 is the on-demand price.",
          }),
        ),
      },
      { ...decided, cloud: "azure", severity: "cost", description: "Settings of the machines on Azure." },
    ),
  ),
  aws_attributes: optional(
    groupField(
      {
        availability: availability(["ON_DEMAND", "SPOT", "SPOT_WITH_FALLBACK"]),
        first_on_demand: firstOnDemand,
        zone_id: optional(textField({ serverDefault: true, description: "Availability zone, or auto." })),
        instance_profile_arn: optional(
          textField({
            serverDefault: true,
            severity: "security",
            description: "Instance profile of the machines.",
          }),
        ),
        spot_bid_price_percent: optional(
          integerField({
            minimum: 0,
            serverDefault: true,
            description: "Maximum price of a spot machine, in percent of the on-demand price.",
          }),
        ),
      },
      { ...decided, cloud: "aws", severity: "cost", description: "Settings of the machines on AWS." },
    ),
  ),
  gcp_attributes: optional(
    groupField(
      {
        availability: optional(
          textField({ serverDefault: true, description: "Type of the machines: spot or on-demand." }),
        ),
        use_preemptible_executors: optional(
          flagField({ serverDefault: true, description: "Whether workers can be preempted." }),
        ),
        local_ssd_count: optional(
          integerField({
            minimum: 0,
            serverDefault: true,
            description: "Number of local disks of each machine.",
          }),
        ),
        zone_id: optional(textField({ serverDefault: true, description: "Zone, or auto." })),
      },
      {
        ...decided,
        cloud: "gcp",
        severity: "cost",
        description: "Settings of the machines on Google Cloud.",
      },
    ),
  ),
};
