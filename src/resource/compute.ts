// The machines that a resource runs on, as its kind declares them: the cost of a plan is computed from them. And the catalogs of the service:
// values that it offers, such as machine types and versions, but that are not resources.

import type { ReadOperation } from "../api/contract/operations.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";

/** The kinds of compute that a service bills at different rates. */
type ComputeKind = "all_purpose" | "jobs" | "sql";

/** A number of equal machines, or of equal clusters of a warehouse. */
export interface ComputePart {
  /** The name in a list of prices. */
  readonly item:
    | { readonly list: "node_types" | "warehouse_sizes"; readonly name: Json | undefined }
    /** A reference to a pool, or its ID: the machines are those of the pool. */
    | { readonly pool: Json };
  readonly least: Json | undefined;
  readonly most: Json | undefined;
  /** Absent where the service bills the machines alone. */
  readonly kind?: ComputeKind;
}

export interface Compute {
  readonly parts: readonly ComputePart[];
  /** The smallest size costs at any time, also without users. */
  readonly isAlwaysOn: boolean;
  /** Of a schedule. */
  readonly runsPerMonth?: number;
}

/** The driver and the workers of a cluster. */
export function clusterParts(cluster: JsonObject, kind: ComputeKind): readonly ComputePart[] {
  const {
    node_type_id: nodeType,
    driver_node_type_id: driverType,
    autoscale,
    num_workers: workers,
  } = cluster;
  const { instance_pool_id: pool, driver_instance_pool_id: driverPool = pool } = cluster;
  const item = (from: Json | undefined, type: Json | undefined): ComputePart["item"] =>
    from === undefined || from === null ? { list: "node_types", name: type } : { pool: from };
  const range = isObject(autoscale)
    ? { least: autoscale.min_workers, most: autoscale.max_workers }
    : { least: workers, most: workers };
  return [
    { item: item(driverPool, driverType ?? nodeType), least: 1, most: 1, kind },
    { item: item(pool, nodeType), ...range, kind },
  ];
}

export type CatalogName = "spark_versions" | "node_types";

export interface MachineSize {
  readonly cores: number;
  readonly memoryMb: number;
}

export interface Catalog {
  /** For sentences: `node type`. */
  readonly singular: string;
  /** Lists all of it in one request. */
  readonly operation: ReadOperation;
  values(answer: JsonObject): readonly string[];
  /** Of machine types. */
  sizes?(answer: JsonObject): ReadonlyMap<string, MachineSize>;
}

export type Catalogs = Readonly<Record<CatalogName, Catalog>>;
