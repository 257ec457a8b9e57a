// Fields of an instance pool that only the Databricks dialect has, by cloud.

import type { FieldTable } from "../../resource/field-schema.ts";
import { choiceField, groupField, integerField, numberField, optional, textField } from "./field-builders.ts";

const only = { dialect: "databricks" } as const;
const decided = { ...only, serverDefault: true, onChange: "replace", severity: "cost" } as const;

export const databricksDiskTypes: FieldTable = {
  azure_disk_volume_type: optional(
    choiceField(["PREMIUM_LRS", "STANDARD_LRS"], {
      ...only,
      cloud: "azure",
      description: "PREMIUM_LRS is backed by SSD, STANDARD_LRS by HDD.",
    }),
  ),
  ebs_volume_type: optional(
    choiceField(["GENERAL_PURPOSE_SSD", "THROUGHPUT_OPTIMIZED_HDD"], {
      ...only,
      cloud: "aws",
      description: "Kind of the volumes.",
    }),
  ),
};

const unset = { serverDefault: true } as const;

export const databricksPoolFields: FieldTable = {
  azure_attributes: optional(
    groupField(
      {
        availability: optional(
          choiceField(["ON_DEMAND_AZURE", "SPOT_AZURE"], { ...unset, description: "Kind of the machines." }),
        ),
        spot_bid_max_price: optional(
          numberField({ ...unset, description: "Most to pay for a spot machine; -1 for its normal price." }),
        ),
      },
      { ...decided, cloud: "azure", description: "Kind of the machines on Azure." },
    ),
  ),
  aws_attributes: optional(
    groupField(
      {
        availability: optional(
          choiceField(["ON_DEMAND", "SPOT"], { ...unset, description: "Kind of the machines." }),
        ),
        zone_id: optional(textField({ ...unset, description: "Availability zone." })),
        spot_bid_price_percent: optional(
          integerField({ minimum: 0, ...unset, description: "Most to pay, in percent of the price." }),
        ),
      },
      { ...decided, cloud: "aws", description: "Kind of the machines on AWS." },
    ),
  ),
  gcp_attributes: optional(
    groupField(
      {
        gcp_availability: optional(textField({ ...unset, description: "Kind of the machines." })),
        local_ssd_count: optional(
          integerField({ minimum: 0, ...unset, description: "Local disks of each machine." }),
        ),
        zone_id: optional(textField({ ...unset, description: "Zone." })),
      },
      { ...decided, cloud: "gcp", description: "Kind of the machines on Google Cloud." },
    ),
  ),
};
