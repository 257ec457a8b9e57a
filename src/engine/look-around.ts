// Who else uses what a plan takes away: lists of kinds that the spec need not know, read once a plan asks for them.

import { kindsAround } from "../planner/around.ts";
import type { Change } from "../planner/change.ts";
import type { PlanInput } from "../planner/input.ts";
import type { Live } from "../resource/live.ts";
import type { Reader } from "../resource/verbs.ts";
import { survey } from "./survey.ts";

/** `parallelism`: how many requests may be under way at once. */
export function lookAround(
  input: PlanInput,
  changes: readonly Change[],
  reader: Reader,
  parallelism: number,
): Promise<Live> {
  const kinds = new Set(kindsAround(input, changes).keys());
  return survey({ registry: input.registry, reader, kinds, parallelism, closer: false });
}
