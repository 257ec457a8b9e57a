// Which dialect a workspace speaks, as options name it.

import { dialectFile } from "../http/contract-file.ts";
import { type Dialect, databricks } from "./databricks.ts";
import type { Cloud } from "./operations/hook.ts";

export interface DialectChoice {
  /** By default the contract's own. */
  readonly dialect?: "contract" | "databricks";
  /** Cloud of the Databricks dialect; by default azure. */
  readonly cloud?: Cloud;
}

/** The options of the app for a choice. `copyIn` is a folder that may keep a copy of the description. */
export function chosenDialect(
  { dialect, cloud = "azure" }: DialectChoice,
  copyIn?: string,
): { readonly dialect?: Dialect } {
  return dialect === "databricks" ? { dialect: databricks(dialectFile(cloud, copyIn), cloud) } : {};
}
