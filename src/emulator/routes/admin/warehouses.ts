// SQL warehouses: settings and states. The contract has none of these calls; a dialect has.

import { type JsonObject, objectIn } from "../../../core/json.ts";
import { alreadyExists, invalidValue, notFound } from "../../world/errors.ts";
import type { Call, Collection, Operations, World } from "../../world/world.ts";

interface Warehouse {
  readonly id: string;
  readonly creator_name: string;
  readonly settings: JsonObject;
  readonly running: boolean;
  /** When it is in the state that was asked for. */
  readonly settled_at: number;
}

const warehousesOf = (world: World): Collection<Warehouse> => world.collection("warehouses");

/** How long a start or a stop takes. */
const SETTLES_MS = 30_000;

/** What the service chooses where a request does not. */
const DEFAULTS: JsonObject = {
  min_num_clusters: 1,
  max_num_clusters: 1,
  auto_stop_mins: 120,
  enable_photon: true,
  enable_serverless_compute: false,
  warehouse_type: "PRO",
  spot_instance_policy: "COST_OPTIMIZED",
  channel: { name: "CHANNEL_NAME_CURRENT" },
};

export const warehouseOperations: Operations = {
  "sql/warehouses/create": ({ input, caller, now }, world) => {
    const id = world.hex(16);
    const settings = settingsOf(world, input, undefined);
    const state = { running: true, settled_at: now + SETTLES_MS };
    warehousesOf(world).set(id, { id, creator_name: caller.userName, settings, ...state });
    return { json: { id } };
  },
  "sql/warehouses/edit": ({ input, params }, world) => {
    const warehouse = warehouseOr404(world, params.id ?? "");
    warehousesOf(world).set(warehouse.id, { ...warehouse, settings: settingsOf(world, input, warehouse.id) });
  },
  "sql/warehouses/start": (call, world) => settle(call, world, true),
  "sql/warehouses/stop": (call, world) => settle(call, world, false),
  "sql/warehouses/delete": ({ params }, world) => {
    warehousesOf(world).delete(warehouseOr404(world, params.id ?? "").id);
  },
  "sql/warehouses/get": ({ params }, world) => ({
    json: shown(world, warehouseOr404(world, params.id ?? "")),
  }),
  "sql/warehouses/list": (_call, world) => {
    const warehouses = [...warehousesOf(world).values()].map((warehouse) => shown(world, warehouse));
    return { json: warehouses.length === 0 ? {} : { warehouses } };
  },
};

export function warehouseOr404(world: World, id: string): Warehouse {
  const warehouse = warehousesOf(world).get(id);
  if (warehouse === undefined) throw notFound(`SQL warehouse ${id.slice(0, 100)} does not exist.`);
  return warehouse;
}

function settle({ params, now }: Call, world: World, running: boolean): void {
  const warehouse = warehouseOr404(world, params.id ?? "");
  if (warehouse.running === running) return;
  warehousesOf(world).set(warehouse.id, { ...warehouse, running, settled_at: now + SETTLES_MS });
}

/** The settings of a request with those that the service chooses. */
function settingsOf(world: World, input: JsonObject, own: string | undefined): JsonObject {
  for (const { id, settings } of warehousesOf(world).values())
    if (settings.name === input.name && id !== own)
      throw alreadyExists(`SQL warehouse with name ${String(input.name)} already exists.`);
  const settings: JsonObject = { ...DEFAULTS, max_num_clusters: input.min_num_clusters ?? 1, ...input };
  if (settings.enable_serverless_compute === true && settings.warehouse_type === "CLASSIC")
    throw invalidValue("Invalid warehouseType: Serverless is only available for PRO warehouses.");
  if (Number(settings.min_num_clusters) > Number(settings.max_num_clusters))
    throw invalidValue("min_num_clusters must not be above max_num_clusters.");
  return settings;
}

function shown(world: World, { id, creator_name, settings, running, settled_at }: Warehouse): JsonObject {
  const isSettled = world.now >= settled_at;
  const state = running ? (isSettled ? "RUNNING" : "STARTING") : isSettled ? "STOPPED" : "STOPPING";
  const num_clusters = running && isSettled ? settings.min_num_clusters : 0;
  return {
    id,
    ...settings,
    tags: objectIn(settings.tags),
    creator_name,
    state,
    num_clusters: num_clusters ?? 0,
    num_active_sessions: 0,
    health: { status: "HEALTHY" },
    jdbc_url: `jdbc:databricks://localhost:443/default;httpPath=/sql/1.0/warehouses/${id}`,
    odbc_params: { hostname: "localhost", path: `/sql/1.0/warehouses/${id}`, port: 443, protocol: "https" },
  };
}
