// Requests that a token makes safe to repeat: a second one answers what the first answered.

import type { JsonObject } from "../../../core/json.ts";
import type { Call, Operation, Reply } from "../../world/operation.ts";
import type { Collection, World } from "../../world/world.ts";
import type { Asked } from "./hook.ts";

const repliesOf = (world: World): Collection<JsonObject> => world.collection("dialect.idempotency");

/** The answer to an earlier request with the same token, in place of doing it again. */
export function once(core: Operation, call: Call, { world, input }: Asked): Reply {
  const token = input.idempotency_token;
  if (token === undefined) return core(call, world);
  const key = `${call.operation} ${String(token)}`;
  const earlier = repliesOf(world).get(key);
  if (earlier !== undefined) return { json: earlier };
  const reply = core(call, world);
  if ("json" in reply) repliesOf(world).set(key, reply.json);
  return reply;
}
