// The Databricks dialect for the app: its description, areas, parser, and refusals.

import type { JsonObject } from "../../core/json.ts";
import type { Contract, OperationSpec } from "../http/contract.ts";
import { dialectFile } from "../http/contract-file.ts";
import type { AppRequest, AppResponse } from "../http/message.ts";
import { areas } from "../routes/areas.ts";
import type { Area } from "../world/operation.ts";
import type { World } from "../world/world.ts";
import { dialectAreas } from "./areas.ts";
import type { Cloud } from "./operations/hook.ts";
import { ORG } from "./operations/runs.ts";
import { answerSignIn, isSignIn, signInArea } from "./sign-in/sign-in.ts";
import { lenient } from "./translate/lenient.ts";
import { DialectSchemas } from "./translate/schema.ts";

export interface Dialect {
  readonly contract: Contract;
  readonly areas: readonly Area[];
  /** The input as validation takes it. */
  readonly lenient: (spec: OperationSpec, fields: JsonObject) => JsonObject;
  /** Whether a path is outside the API, such as a token endpoint. */
  readonly beside: (path: string) => boolean;
  readonly answerBeside: (request: AppRequest, world: World) => AppResponse;
  /** The code of a refusal by the gateway, which the contract gives as a number. */
  readonly refusalCode: (status: number) => string;
  /** Added to every answer, in the place of the contract's. */
  readonly headers: Readonly<Record<string, string>>;
}

function databricks(contract: Contract, cloud: Cloud): Dialect {
  const schemas = new DialectSchemas(contract.schemas);
  return {
    contract,
    areas: [...dialectAreas({ areas, contract, schemas, cloud }), signInArea],
    lenient: (spec, fields) => lenient(schemas, spec.input, fields) as JsonObject,
    beside: (path) => isSignIn(path),
    answerBeside: (request, world) => answerSignIn(request, world, cloud),
    refusalCode: (status) => (status === 401 ? "UNAUTHENTICATED" : "PERMISSION_DENIED"),
    headers: { server: "databricks", "x-databricks-org-id": ORG },
  };
}

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
