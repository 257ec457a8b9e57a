// Personal access tokens: each caller's own. The contract has none of these calls; a dialect has.

import { digest } from "../../core/digest.ts";
import { defined, type JsonObject } from "../../core/json.ts";
import { userTokens } from "../world/directory.ts";
import { notFound } from "../world/errors.ts";
import type { Call, Collection, Operations, Reply, World } from "../world/world.ts";

interface TokenInfo {
  readonly user_id: string;
  /** Under which the token itself is known. */
  readonly digest: string;
  readonly creation_time: number;
  readonly expiry_time: number;
  readonly comment?: string;
}

/** Where four digits of a year end. */
const END_OF_TIME = Date.UTC(9999, 11, 31);

const infosOf = (world: World): Collection<TokenInfo> => world.collection("tokens.infos");

export const tokenOperations: Operations = {
  "token/create": create,
  "token/list": list,
  "token/delete": revoke,
};

function create({ input, caller, now }: Call, world: World): Reply {
  const { lifetime_seconds: seconds, comment } = input;
  const value = `dapi${world.hex(32)}`;
  const id = world.hex(64);
  const end = seconds === undefined ? undefined : Math.min(now + Number(seconds) * 1000, END_OF_TIME);
  const info: TokenInfo = {
    user_id: caller.userId,
    digest: digest(value),
    creation_time: now,
    expiry_time: end ?? -1,
    ...(typeof comment === "string" ? { comment } : {}),
  };
  userTokens(world).set(info.digest, { user_id: caller.userId, ...defined({ expires_at: end }) });
  infosOf(world).set(id, info);
  return { json: { token_value: value, token_info: shown(id, info) } };
}

function list({ caller }: Call, world: World): Reply {
  const own = [...infosOf(world).entries()].filter(([, info]) => info.user_id === caller.userId);
  return { json: own.length === 0 ? {} : { token_infos: own.map(([id, info]) => shown(id, info)) } };
}

function revoke({ input, caller }: Call, world: World): void {
  const id = String(input.token_id);
  const info = infosOf(world).get(id);
  if (info?.user_id !== caller.userId) throw notFound(`Token with ID ${id.slice(0, 100)} does not exist!`);
  userTokens(world).delete(info.digest);
  infosOf(world).delete(id);
}

function shown(id: string, { creation_time, expiry_time, comment }: TokenInfo): JsonObject {
  return { token_id: id, creation_time, expiry_time, ...defined({ comment }) };
}
