// The states of a cluster (contract B 3.2), and the tag with its token (design 6).

import { isObject, type JsonObject, objectIn } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import { responseText } from "../kit/responses.ts";

const UP: readonly string[] = ["PENDING", "RUNNING", "RESTARTING", "RESIZING"];
const DOWN: readonly string[] = ["TERMINATED", "TERMINATING"];

/** A cluster in one of these states does not start without a request. */
export const ENDED: readonly string[] = [...DOWN, "ERROR"];

export function isUp(state: string): boolean {
  return UP.includes(state);
}

export function isDown(state: string): boolean {
  return DOWN.includes(state);
}

/** Termination reasons that a user's request causes (facts 4.7). */
const ASKED = "USER_REQUEST";

/** The reason if the service terminated a cluster, such as INACTIVITY; undefined if a user did, or if it is unknown. */
export function endedByService(state: string, answer: JsonObject): string | undefined {
  if (state === "ERROR") return state;
  const code = isDown(state) ? responseText(objectIn(answer.termination_reason), "code") : undefined;
  return code === ASKED ? undefined : code;
}

const TAG = "WorkspaceToken";

/** The service allows 43 tags on a new cluster (contract B 2.4); the token's tag is one of them. */
export const MAX_OWN_TAGS = 42;

const tagsOf = (values: Values): JsonObject => (isObject(values.custom_tags) ? values.custom_tags : {});

export function tokenOf(values: Values): string | undefined {
  const token = tagsOf(values)[TAG];
  return typeof token === "string" ? token : undefined;
}

export function withoutToken(values: Values): Values {
  const { custom_tags: _, ...rest } = values;
  const { [TAG]: __, ...tags } = tagsOf(values);
  return Object.keys(tags).length === 0 ? rest : { ...rest, custom_tags: tags };
}

export function withToken(values: Values, token: string | undefined): Values {
  return token === undefined ? values : { ...values, custom_tags: { ...tagsOf(values), [TAG]: token } };
}
