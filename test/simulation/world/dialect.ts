// The dialect of the simulated workspaces: `--dialect databricks`, or SIMULATION_DIALECT in tests, chooses Databricks on Azure.

import { parseArgs } from "node:util";
import type { FieldDialect } from "../../../src/resource/field-schema.ts";
import { inDatabricks } from "../../engine/spelling.ts";

const { values } = parseArgs({ strict: false, options: { dialect: { type: "string" } } });

export const dialect = String(values.dialect ?? process.env.SIMULATION_DIALECT ?? "contract");

/** Absent: the contract's dialect. */
export const cloud: FieldDialect["cloud"] | undefined = dialect === "databricks" ? "azure" : undefined;

/** The words that choose the dialect again. */
export const dialectWords: readonly string[] = cloud === undefined ? [] : [`--dialect ${dialect}`];

/** A spec of the contract in the spelling of the dialect. */
export const spelled = (yaml: string): string => (cloud === undefined ? yaml : inDatabricks(yaml));

/** The path of a call of the emulator. */
export const dialectPath = (path: string): string =>
  cloud === undefined ? path : path.replace(/^fs\//, "dbfs/");

/** The path of an operation of the contract. */
export function contractPath(path: string): string {
  if (cloud === undefined) return path;
  return path.replace("/api/2.0/dbfs/", "/api/2.0/fs/").replace(/\/api\/2\.[12]\//, "/api/2.0/");
}
