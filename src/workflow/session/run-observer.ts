// Reports a run's requests, plan, and results to collectors.

import type { RequestEvent } from "../../api/retry/send.ts";
import type { ApplyOutcome, Plan } from "../../planner/model/plan.ts";
import type { State } from "../../state/model/record.ts";

export interface RunObserver {
  /** An attempt has ended. */
  requested(event: RequestEvent): void;
  planned(plan: Plan, state: Pick<State, "records">, planMs: number): void;
  /** The plan is that of the file where a saved one was applied. */
  applied(plan: Plan, state: Pick<State, "records">, outcome: ApplyOutcome): void;
}
