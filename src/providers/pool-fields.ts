// The fields of an instance pool (contract B 2.1), and those that only the Databricks dialect has, by cloud.

import type { FieldTable } from "../resource/field-schema.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  listField,
  numberField,
  required,
  tags,
  textField,
} from "./kit/field-builders.ts";

const only = { dialect: "databricks" } as const;
const decided = { ...only, serverDefault: true, onChange: "replace", severity: "cost" } as const;

const databricksDiskTypes: FieldTable = {
  azure_disk_volume_type: choiceField(["PREMIUM_LRS", "STANDARD_LRS"], {
    ...only,
    cloud: "azure",
    description: "PREMIUM_LRS is backed by SSD, STANDARD_LRS by HDD.",
  }),
  ebs_volume_type: choiceField(["GENERAL_PURPOSE_SSD", "THROUGHPUT_OPTIMIZED_HDD"], {
    ...only,
    cloud: "aws",
    description: "Type of the volumes.",
  }),
};

const unset = { serverDefault: true } as const;

const databricksPoolFields: FieldTable = {
  azure_attributes: groupField(
    {
      availability: choiceField(["ON_DEMAND_AZURE", "SPOT_AZURE"], {
        ...unset,
        description: "Type of the machines: spot or on-demand.",
      }),
      spot_bid_max_price: numberField({
        ...unset,
        description: "Maximum price of a spot machine; -1 is the on-demand price.",
      }),
    },
    { ...decided, cloud: "azure", description: "Settings of the machines on Azure." },
  ),
  aws_attributes: groupField(
    {
      availability: choiceField(["ON_DEMAND", "SPOT"], {
        ...unset,
        description: "Type of the machines: spot or on-demand.",
      }),
      zone_id: textField({ ...unset, description: "Availability zone." }),
      spot_bid_price_percent: integerField({
        minimum: 0,
        ...unset,
        description: "Maximum price of a spot machine, in percent of the on-demand price.",
      }),
    },
    { ...decided, cloud: "aws", description: "Settings of the machines on AWS." },
  ),
  gcp_attributes: groupField(
    {
      gcp_availability: textField({ ...unset, description: "Type of the machines: spot or on-demand." }),
      local_ssd_count: integerField({
        minimum: 0,
        ...unset,
        description: "Number of local disks of each machine.",
      }),
      zone_id: textField({ ...unset, description: "Zone." }),
    },
    { ...decided, cloud: "gcp", description: "Settings of the machines on Google Cloud." },
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

export const poolFields: FieldTable = {
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
