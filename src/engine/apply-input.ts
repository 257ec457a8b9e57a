// What an apply is given: the plan, the spec's resources for their payloads, and every port that it acts through.

import type { ApplyEvent } from "../planner/outcome.ts";
import type { Plan } from "../planner/plan.ts";
import type { Live } from "../resource/live.ts";
import type { Registry } from "../resource/registry.ts";
import type { Writer } from "../resource/verbs.ts";
import type { Clock, Random } from "../state/ports.ts";
import type { Lease } from "../state/store.ts";
import type { Spec } from "./scope.ts";

export interface ApplyInput {
  readonly plan: Plan;
  readonly registry: Registry;
  /** The spec's resources: what they set, and the payloads that go with them. Empty for a destroy. */
  readonly resources: Spec["resources"];
  /** What was live when the plan was made: ids and names of what the plan does not touch. */
  readonly live: Live;
  readonly writer: Writer;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly random: Random;
  readonly parallelism: number;
  readonly onEvent?: (event: ApplyEvent) => void;
  /** Given to stop: what is in flight is finished, nothing new is begun, the state is saved. */
  readonly signal?: AbortSignal;
}
