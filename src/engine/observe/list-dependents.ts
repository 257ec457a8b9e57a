// Finds other users of the objects that a plan deletes: kinds that are not in the spec, listed once when a plan needs
// them.

import type { Reader } from "../../api/contract/reader.ts";
import { dependentKinds } from "../../planner/check/unreadable.ts";
import type { Change } from "../../planner/model/change.ts";
import type { PlanInput } from "../../planner/model/input.ts";
import type { Live } from "../../resource/live.ts";
import type { Registry } from "../../resource/registry.ts";
import { listKinds } from "./list-kinds.ts";

/** `parallelism`: maximum number of concurrent requests. */
export function listDependents(
  registry: Registry,
  input: PlanInput,
  changes: readonly Change[],
  reader: Reader,
  parallelism: number,
): Promise<Live> {
  const kinds = new Set(dependentKinds(input, changes).keys());
  return listKinds({ registry, reader, kinds, parallelism, closer: false });
}
