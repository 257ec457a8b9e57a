// The disks of an instance (contract B 2.1 DiskSpec).

import { databricksDiskTypes } from "./databricks-pool-fields.ts";
import { choiceField, groupField, integerField, required } from "./field-builders.ts";

export const diskSpec = groupField(
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
