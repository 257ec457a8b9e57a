// The tag that carries a cluster's token, so that a cluster whose creation was cut off can be found again (DESIGN 6).

import { isObject, type JsonObject } from "../../core/json.ts";
import type { Values } from "../../resource/fields.ts";

const TAG = "WorkspaceToken";

/** The service allows 43 on a new cluster (part B, 2.4), and one is ours. */
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
