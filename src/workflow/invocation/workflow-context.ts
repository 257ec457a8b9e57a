// The context of a workflow: the process environment and an observer. Workflows print nothing.

import type { RequestEvent } from "../../api/retry/send.ts";
import type { ProcessContext } from "../../config/environment.ts";
import { type Diagnostic, Failure, hasErrors } from "../../core/diagnostic.ts";
import type { ApplyEvent, ApplyOutcome, Plan, ReadEvent } from "../../planner/model/plan.ts";
import type { State } from "../../state/model/record.ts";
import type { LockWait } from "../../state/model/store.ts";

/** One phase of a run, such as the reading of the workspace. */
export interface Activity {
  read(event: ReadEvent): void;
  apply(event: ApplyEvent): void;
  stop(): Promise<void>;
}

export interface WorkflowObserver {
  /** Receives findings in the order in which they are found. */
  report(diagnostics: readonly Diagnostic[]): void;
  /** Receives an attempt after which a request waits to be sent again. */
  retrying(event: RequestEvent): void;
  waitingForLock(wait: LockWait): void;
  begin(): Promise<Activity>;
}

/** Throws Failure with the findings if one of them is an error. */
export function reportFindings(observer: WorkflowObserver, findings: readonly Diagnostic[]): void {
  if (hasErrors(findings)) throw new Failure(...findings);
  observer.report(findings);
}

export interface WorkflowContext extends ProcessContext {
  readonly observer: WorkflowObserver;
}

/** Collects figures of a run for metrics and webhooks. */
export interface RunObserver {
  requested(event: RequestEvent): void;
  planned(plan: Plan, state: Pick<State, "records">, planMs: number): void;
  /** The plan is that of the file where a saved one was applied. */
  applied(plan: Plan, state: Pick<State, "records">, outcome: ApplyOutcome): void;
  /** Posts the result before the end of the run, for what depends on it; false if it was not accepted. */
  deliver?(exitCode: number): Promise<boolean>;
}
