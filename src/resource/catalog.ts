// Catalogs: values that the service offers, such as versions and machine types, but that are not resources.

import type { ReadOperation } from "../api/contract/operations.ts";
import type { JsonObject } from "../core/json.ts";

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
