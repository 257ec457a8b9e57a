// Recognizes a host of the Databricks dialect by its answers to a client of the contract, whose writes would lose fields there.

import { type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { refusedWith } from "../../core/request-failure.ts";
import type { OperationName } from "../contract/operations.ts";

/** Whether an object has what no object of the contract has. A vendor's name alone shows nothing: the contract leaves it open. */
type Sign = (object: JsonObject) => boolean;

const isJob: Sign = ({ settings }) => /^(SINGLE|MULTI)_TASK$/.test(String(objectIn(settings).format));
const isCluster: Sign = ({ default_tags, azure_attributes, aws_attributes, gcp_attributes }) =>
  objectIn(default_tags).Vendor === "Databricks" &&
  [azure_attributes, aws_attributes, gcp_attributes].some((block) => block !== undefined);
const isPool: Sign = ({ default_tags }) => objectIn(default_tags).DatabricksInstancePoolId !== undefined;
const isGroup: Sign = ({ meta }) => objectIn(meta).resourceType === "WorkspaceGroup";
const someIn =
  (list: string, is: Sign): Sign =>
  (answer) =>
    listIn(answer[list]).some((one) => is(objectIn(one)));

const SIGNS: { readonly [operation in OperationName]?: Sign } = {
  "jobs/get": isJob,
  "jobs/list": someIn("jobs", isJob),
  "clusters/get": isCluster,
  "clusters/list": someIn("clusters", isCluster),
  "instance-pools/get": isPool,
  "instance-pools/list": someIn("instance_pools", isPool),
  "scim/groups/get": isGroup,
  "scim/groups/list": someIn("Resources", isGroup),
};

/** Returns the answer. Throws Refused if it is one of the Databricks dialect. */
export function ofContract(operation: OperationName, answer: JsonObject): JsonObject {
  if (SIGNS[operation]?.(answer) !== true) return answer;
  const message = `${operation} was answered in the Databricks dialect, but the dialect of the host is contract`;
  throw refusedWith(200, "API_PROTOCOL", message, {
    hint: "pass --dialect databricks and --cloud, or set both in the profile; in the contract dialect, updates would lose fields",
  });
}
