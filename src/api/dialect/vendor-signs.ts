// Recognizes a host of the Databricks dialect by its answers to a client of the contract, whose writes would lose fields there.

import { error } from "../../core/diagnostic.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import type { OperationName } from "../contract/operations.ts";

/** A value at a path that no answer of the contract has; `*` stands for each element of a list. */
interface Sign {
  readonly path: readonly string[];
  readonly values: readonly string[];
}

const FORMAT = { path: ["settings", "format"], values: ["SINGLE_TASK", "MULTI_TASK"] };
const VENDOR = { path: ["default_tags", "Vendor"], values: ["Databricks"] };
const inList = (list: string, { path, values }: Sign): Sign => ({ path: [list, "*", ...path], values });

const SIGNS: { readonly [operation in OperationName]?: Sign } = {
  "jobs/get": FORMAT,
  "jobs/list": inList("jobs", FORMAT),
  "clusters/get": VENDOR,
  "clusters/list": inList("clusters", VENDOR),
  "instance-pools/get": VENDOR,
  "instance-pools/list": inList("instance_pools", VENDOR),
  "scim/groups/get": { path: ["meta", "resourceType"], values: ["WorkspaceGroup"] },
  "scim/groups/list": inList("Resources", { path: ["meta", "resourceType"], values: ["WorkspaceGroup"] }),
};

/** Returns the answer. Throws Refused if it is one of the Databricks dialect. */
export function ofContract(operation: OperationName, answer: JsonObject): JsonObject {
  const sign = SIGNS[operation];
  if (sign === undefined || !has(answer, sign.path, sign.values)) return answer;
  throw new Refused(
    200,
    "",
    error(
      "API_PROTOCOL",
      `${operation} was answered in the Databricks dialect, but the dialect of the host is contract`,
      {
        hint: "pass --dialect databricks and --cloud, or set both in the profile; in the contract dialect, updates would lose fields",
      },
    ),
  );
}

function has(value: Json | undefined, [key, ...rest]: readonly string[], values: readonly string[]): boolean {
  if (key === undefined) return typeof value === "string" && values.includes(value);
  if (key === "*") return Array.isArray(value) && value.some((one: Json) => has(one, rest, values));
  return isObject(value) && has(value[key], rest, values);
}
