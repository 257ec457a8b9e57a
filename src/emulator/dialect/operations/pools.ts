// Instance pools of the dialect: an edit replaces tags, and answers contain the default attributes of the cloud.

import { type JsonObject, listIn, objectIn } from "../../../core/json.ts";
import { type GivenTags, readTags } from "../../routes/compute/tags.ts";
import { poolsOf, putPool } from "../../routes/pools/pool.ts";
import { POOLS } from "../../world/limits.ts";
import type { Asked, Cloud, Hooks } from "./hook.ts";

export const poolHooks: Hooks = {
  "instance-pools/edit": { after: replaceTags },
  "instance-pools/get": { after: (pool, { cloud }) => withCloud(pool, cloud) },
  "instance-pools/list": {
    after: ({ instance_pools, ...rest }, { cloud }) =>
      instance_pools === undefined
        ? rest
        : {
            ...rest,
            instance_pools: listIn(instance_pools).map((pool) => withCloud(objectIn(pool), cloud)),
          },
  },
};

/** An edit replaces: without tags there are none afterwards. */
function replaceTags(answer: JsonObject, { world, input }: Asked): JsonObject {
  const pool = poolsOf(world).get(String(input.instance_pool_id));
  if (pool === undefined) return answer;
  const { custom_tags: _before, ...rest } = pool;
  const tags = readTags(input.custom_tags as unknown as GivenTags | undefined, POOLS.custom_tags);
  putPool(world, { ...rest, ...(tags === undefined || tags.length === 0 ? {} : { custom_tags: tags }) });
  return answer;
}

const DEFAULTS: Readonly<Record<Cloud, JsonObject>> = {
  azure: { azure_attributes: { availability: "ON_DEMAND_AZURE", spot_bid_max_price: -1 } },
  aws: { aws_attributes: { availability: "SPOT", zone_id: "us-west-2a", spot_bid_price_percent: 100 } },
  gcp: { gcp_attributes: { gcp_availability: "ON_DEMAND_GCP", local_ssd_count: 0, zone_id: "auto" } },
};

const withCloud = (pool: JsonObject, cloud: Cloud): JsonObject => ({ ...DEFAULTS[cloud], ...pool });
