// The e-mails that a job sends (contract B 2.2 JobEmailNotifications, contract B 4.2 rule 2, contract B 6).

import { defined } from "../../../core/json.ts";
import type { World } from "../../world/world.ts";
import { type Job, jobById } from "./job.ts";
import { type Run, resultOf } from "./run.ts";

export function mailRunStarted(world: World, run: Run): void {
  mailAbout(world, run, notificationsOf(world, run)?.on_start, "on_start", "started");
}

/** on_success for a successful end; on_failure for an internal error and for skipped, failed and timed-out runs. */
export function mailRunEnded(world: World, run: Run): void {
  const notifications = notificationsOf(world, run);
  const result = resultOf(run);
  if (result === "SUCCESS") {
    mailAbout(world, run, notifications?.on_success, "on_success", "succeeded");
    return;
  }
  const failed =
    run.life_cycle_state === "INTERNAL_ERROR" ||
    result === "FAILED" ||
    result === "TIMED_OUT" ||
    (result === "SKIPPED" && notifications?.no_alert_for_skipped_runs !== true);
  if (failed) mailAbout(world, run, notifications?.on_failure, "on_failure", "did not succeed");
}

export function mailJobDeleted(world: World, { job_id, settings }: Job): void {
  const { on_start = [], on_success = [], on_failure = [] } = settings.email_notifications;
  const to = [...new Set([...on_start, ...on_success, ...on_failure])];
  if (to.length === 0) return;
  world.mail({
    to,
    subject: `Job ${settings.name} was deleted`,
    event: "job_deleted",
    details: { job_id, name: settings.name },
  });
}

/** Recipients of the job's current settings (contract B 4.2 rule 3). */
function notificationsOf(world: World, run: Run) {
  return jobById(world, run.job_id)?.settings.email_notifications;
}

function mailAbout(
  world: World,
  run: Run,
  to: readonly string[] | undefined,
  event: string,
  what: string,
): void {
  if (to === undefined || to.length === 0) return;
  const result = resultOf(run);
  world.mail({
    to,
    subject: `Run ${run.number_in_job} of job ${run.run_name} ${what}`,
    event,
    details: {
      job_id: run.job_id,
      run_id: run.run_id,
      life_cycle_state: run.life_cycle_state,
      ...defined({ result_state: result }),
      state_message: run.state_message,
    },
  });
}
