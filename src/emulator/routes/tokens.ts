// Personal access tokens: each caller's own, and all of them for administrators. The contract has none of these calls; a dialect has.

import { digest } from "../../core/digest.ts";
import { defined, type JsonObject, objectIn } from "../../core/json.ts";
import {
  principalsOf,
  type ServicePrincipal,
  servicePrincipalByApplication,
  userById,
  userTokens,
} from "../world/directory.ts";
import { invalidValue, notFound, permissionDenied } from "../world/errors.ts";
import type { Call, Collection, Operations, Reply, World } from "../world/world.ts";
import { mayUseTokens } from "./access/permissions.ts";
import { settingOf } from "./admin/workspace-conf.ts";

interface TokenInfo {
  readonly user_id: string;
  readonly creator_id: string;
  /** Under which the token itself is known. */
  readonly digest: string;
  readonly creation_time: number;
  readonly expiry_time: number;
  readonly comment?: string;
}

/** Where four digits of a year end. */
const END_OF_TIME = Date.UTC(9999, 11, 31);
const DAY_MS = 86_400_000;

const infosOf = (world: World): Collection<TokenInfo> => world.collection("tokens.infos");

export const tokenOperations: Operations = {
  "token/create": (call, world) => issue(call, world, call.caller.userId, shown),
  "token/list": list,
  "token/delete": revokeOwn,
  "token-management/list": listAll,
  "token-management/get": ({ params }, world) => ({
    json: { token_info: managed(world, ...existing(world, params.id)) },
  }),
  "token-management/update": update,
  "token-management/delete": ({ params }, world) => revoke(world, ...existing(world, params.id)),
  "token-management/on-behalf-of/create": (call, world) => {
    const program = programById(world, String(call.input.application_id));
    return issue(call, world, program.id, (id, info) => managed(world, id, info));
  },
};

function programById(world: World, applicationId: string): ServicePrincipal {
  const program = servicePrincipalByApplication(world, applicationId);
  if (program === undefined)
    throw notFound(`Service principal ${applicationId.slice(0, 100)} does not exist.`);
  const caller = { userId: program.id, userName: applicationId, admin: false };
  if (!mayUseTokens(world, principalsOf(world, caller)))
    throw permissionDenied(`Service principal ${applicationId} does not have permission to use tokens.`);
  return program;
}

type Show = (id: string, info: TokenInfo) => JsonObject;

function issue({ input, caller, now }: Call, world: World, owner: string, show: Show): Reply {
  const { lifetime_seconds: seconds, comment } = input;
  const most = lifetimeLimit(world);
  const wanted = seconds === undefined ? undefined : Number(seconds) * 1000;
  if (wanted !== undefined && wanted > most)
    throw invalidValue(`lifetime_seconds may be at most ${most / 1000}. Found: ${wanted / 1000}.`);
  const lifetime = wanted ?? (Number.isFinite(most) ? most : undefined);
  const end = lifetime === undefined ? undefined : Math.min(now + lifetime, END_OF_TIME);
  const value = `dapi${world.hex(32)}`;
  const id = world.hex(64);
  const info: TokenInfo = {
    user_id: owner,
    creator_id: caller.userId,
    digest: digest(value),
    creation_time: now,
    expiry_time: end ?? -1,
    ...(typeof comment === "string" ? { comment } : {}),
  };
  userTokens(world).set(info.digest, { user_id: owner, ...defined({ expires_at: end }) });
  infosOf(world).set(id, info);
  return { json: { token_value: value, token_info: show(id, info) } };
}

/** In milliseconds; infinite without the setting, and with 0. */
function lifetimeLimit(world: World): number {
  const days = Number(settingOf(world, "maxTokenLifetimeDays") ?? 0);
  return days > 0 ? days * DAY_MS : Number.POSITIVE_INFINITY;
}

function list({ caller }: Call, world: World): Reply {
  const own = validInfos(world).filter(([, info]) => info.user_id === caller.userId);
  return { json: own.length === 0 ? {} : { token_infos: own.map(([id, info]) => shown(id, info)) } };
}

function revokeOwn({ input, caller }: Call, world: World): void {
  const [id, info] = existing(world, String(input.token_id));
  if (info.user_id !== caller.userId) throw missing(id);
  revoke(world, id, info);
}

/** Undefined for a token that was revoked together with its principal, too. */
function infoOf(world: World, id: string): TokenInfo | undefined {
  const info = infosOf(world).get(id);
  return info !== undefined && userTokens(world).has(info.digest) ? info : undefined;
}

const validInfos = (world: World): readonly (readonly [string, TokenInfo])[] =>
  [...infosOf(world).entries()].filter(([id]) => infoOf(world, id) !== undefined);

function existing(world: World, id = ""): readonly [string, TokenInfo] {
  const info = infoOf(world, id);
  if (info === undefined) throw missing(id);
  return [id, info];
}

const missing = (id: string) => notFound(`Token with ID ${id.slice(0, 100)} does not exist!`);

function revoke(world: World, id: string, info: TokenInfo): void {
  userTokens(world).delete(info.digest);
  infosOf(world).delete(id);
}

function listAll({ input }: Call, world: World): Reply {
  const { created_by_id, created_by_username } = input;
  const infos = validInfos(world)
    .map(([id, info]) => managed(world, id, info))
    .filter(
      (info) =>
        (created_by_id === undefined || String(info.created_by_id) === String(created_by_id)) &&
        (created_by_username === undefined || info.created_by_username === created_by_username),
    );
  return { json: infos.length === 0 ? {} : { token_infos: infos } };
}

/** Only the comment is kept of what can be changed. */
function update({ input, params }: Call, world: World): Reply {
  const [id, { comment: _, ...info }] = existing(world, params.id);
  const { comment } = objectIn(input.token);
  const changed = typeof comment === "string" ? { ...info, comment } : info;
  const names = String(input.update_mask).split(",");
  if (names.includes("comment") || names.includes("*")) infosOf(world).set(id, changed);
  return { json: managed(world, ...existing(world, id)) };
}

/** As administrators see a token. */
function managed(world: World, id: string, info: TokenInfo): JsonObject {
  const creator = userById(world, info.creator_id);
  return {
    ...shown(id, info),
    owner_id: Number(info.user_id),
    created_by_id: Number(info.creator_id),
    ...defined({ created_by_username: creator?.userName }),
  };
}

function shown(id: string, { creation_time, expiry_time, comment }: TokenInfo): JsonObject {
  return { token_id: id, creation_time, expiry_time, ...defined({ comment }) };
}
