// Fields of an instance pool that only the Databricks dialect has, by cloud.

import type { FieldTable } from "../../resource/field-schema.ts";
import { choiceField, groupField, integerField, numberField, textField } from "./field-builders.ts";

const only = { dialect: "databricks" } as const;
const decided = { ...only, serverDefault: true, onChange: "replace", severity: "cost" } as const;

export const databricksDiskTypes: FieldTable = {
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

export const databricksPoolFields: FieldTable = {
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
