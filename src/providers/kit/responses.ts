// Reads members of responses, whose types the service does not always keep, and contents to send.

import { usedIds } from "../../api/contract/used-ids.ts";
import { type RemoteId, remoteId } from "../../core/address.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { isObject, type JsonObject, listIn } from "../../core/json.ts";
import { isMissing } from "../../core/request-failure.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { Task } from "../../resource/operations.ts";
import type { PlannedWorkspace } from "../../resource/planning.ts";

/** The objects of a list, which is absent when empty. Throws Failure with API_PROTOCOL if it is anything else. */
export function objectsIn(answer: JsonObject, ...keys: readonly string[]): readonly JsonObject[] {
  for (const key of keys) {
    const list = answer[key];
    if (list === undefined || list === null) continue;
    if (!Array.isArray(list) || !list.every(isObject)) throw unlikeContract(key, "a list of objects");
    return list;
  }
  return [];
}

/** The name or ID of an object. Throws Failure with API_PROTOCOL if it is missing or empty: a request with an empty ID could meet another object. */
export function keyIn(answer: JsonObject, key: string): string {
  const text = responseText(answer, key);
  if (text === undefined || text === "") throw unlikeContract(key, "a name or an ID");
  return text;
}

/** A value that may be empty. Throws Failure with API_PROTOCOL if it is missing or neither text nor a number. */
export function textIn(answer: JsonObject, key: string): string {
  const text = responseText(answer, key);
  if (text === undefined) throw unlikeContract(key, "text");
  return text;
}

/** The type of an object in the workspace tree. Throws Failure with API_PROTOCOL for an answer without one, which does not prove that an object was deleted. */
export function objectTypeOf(entry: JsonObject): string {
  if (typeof entry.object_type !== "string") throw unlikeContract("object_type", "a string");
  return entry.object_type;
}

function unlikeContract(key: string, what: string): Failure {
  return new Failure(
    error("API_PROTOCOL", `the service answered with a "${key}" that is not ${what}`, {
      hint: "check the host URL and any proxy in between",
    }),
  );
}

/**
 * The ID in the answer to a creation; empty without one, or for what no service gives as an ID. The apply then sends no further request
 * for the object and lets the next run search for it.
 */
export function createdId(answer: JsonObject, key: string): RemoteId {
  return idLike(responseText(answer, key), /^[\w-]+$/);
}

/** The same for an ID that is an INT64. */
export function createdInt64(answer: JsonObject, key: string): RemoteId {
  return idLike(responseText(answer, key), /^\d{1,19}$/);
}

const idLike = (text: string | undefined, pattern: RegExp): RemoteId =>
  remoteId(text !== undefined && pattern.test(text) ? text : "");

/** A string, or a number as a string; undefined for any other value. */
export function responseText(answer: JsonObject, key: string): string | undefined {
  const value = answer[key];
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "bigint" ? String(value) : undefined;
}

/** The `value` members of a SCIM list: ids of members, names of entitlements. */
export function valuesIn(answer: JsonObject, key: string): readonly string[] {
  return objectsIn(answer, key).flatMap((item) => responseText(item, "value") ?? []);
}

/** The INT64 in an answer, as a job run has it. Throws Failure with API_PROTOCOL for anything else, without its text. */
export function int64In(answer: JsonObject, key: string): number | bigint {
  const text = responseText(answer, key) ?? "";
  if (!/^\d{1,19}$/.test(text)) throw unlikeContract(key, "a number");
  return int64(text);
}

/** An INT64 for a request: a number if that is exact, else a bigint. */
export function int64(id: string): number | bigint {
  const number = Number(id);
  return Number.isSafeInteger(number) ? number : BigInt(id);
}

/** The result of a read, or undefined if the object does not exist. */
export async function readIfPresent<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The object that a read answers, by the kind's own reading of it; undefined if it does not exist. */
export async function liveIfPresent(
  look: () => Promise<JsonObject>,
  toLive: (answer: JsonObject) => LiveObject | undefined,
): Promise<LiveObject | undefined> {
  const answer = await readIfPresent(look);
  return answer === undefined ? undefined : toLive(answer);
}

/** Sends a request about an object that may be deleted already. */
export async function ignoreMissing(act: () => Promise<unknown>): Promise<void> {
  await readIfPresent(act);
}

const BASE64 = /^[A-Za-z0-9+/\s]*(={1,2}\s*)?$/;

/** The bytes of a field of an answer. Throws Failure (API_PROTOCOL) if it is not base64. */
export function bytesIn(answer: JsonObject, key: string): Uint8Array {
  const value = answer[key] ?? "";
  // Not atob(), which is a hundred times slower for contents of megabytes.
  if (typeof value === "string" && BASE64.test(value)) return new Uint8Array(Buffer.from(value, "base64"));
  throw new Failure(error("API_PROTOCOL", `the service answered with ${key} that is not base64`));
}

/** Throws Failure with SPEC_NOT_FOUND where they were not read: for a plan that needs no contents. */
export function contentBytes({ address, payload }: Task): Uint8Array {
  if (payload !== undefined) return payload.bytes();
  throw new Failure(error("SPEC_NOT_FOUND", `the content of ${address} was not read`, { address }));
}

export const namesOf = (objects: readonly LiveObject[]): readonly string[] => objects.map(({ name }) => name);

/** The live jobs that use the object with an ID after the plan, in any task. */
export const jobsOn = (id: string, workspace: PlannedWorkspace): readonly LiveObject[] =>
  dependentsIn("jobs", id, workspace);

/** The live clusters that use it after the plan. */
export const clustersOn = (id: string, workspace: PlannedWorkspace): readonly LiveObject[] =>
  dependentsIn("clusters", id, workspace);

/**
 * The facts name what an object uses without a value that a spec has: of a job that cannot be managed, or from a cluster policy. What a
 * policy gave counts also if the plan edits the object: whether the edit brings another value is not known here.
 */
function dependentsIn(kind: string, id: string, workspace: PlannedWorkspace): readonly LiveObject[] {
  return workspace.live(kind).filter((live) => {
    const after = workspace.valuesAfter(kind, live);
    if (after === undefined) return false;
    return listIn(live.facts.used_ids).includes(id) || usedIds(after).includes(id);
  });
}

/** All of them, with their kind: `cluster etl`. */
export const dependentsOfId = (id: string, workspace: PlannedWorkspace): readonly string[] => [
  ...clustersOn(id, workspace).map(({ name }) => `cluster ${name}`),
  ...jobsOn(id, workspace).map(({ name }) => `job ${name}`),
];
