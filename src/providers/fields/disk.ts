// The disks of an instance (contract: part B, 2.1 DiskSpec).

import { choice, group, integer, optional } from "../define.ts";

export const diskSpec = optional(
  group(
    {
      disk_type: optional(
        group(
          {
            cloud_disk_volume_type: choice(["PREMIUM_LRS", "STANDARD_LRS"], {
              description: "PREMIUM_LRS is backed by SSD, STANDARD_LRS by HDD.",
            }),
          },
          { serverDefault: true, description: "Kind of the disks." },
        ),
      ),
      disk_count: optional(
        integer({
          minimum: 0,
          serverDefault: true,
          description:
            "Disks of each instance, up to the limit of the node type; at least 1 where it has none.",
        }),
      ),
      disk_size: optional(
        integer({ minimum: 1, maximum: 1023, serverDefault: true, description: "GiB of each disk." }),
      ),
    },
    {
      onChange: "replace",
      serverDefault: true,
      description: "Remote storage that each instance starts with.",
    },
  ),
);
