// Schedules: each job with one has a timer for the next time that it fires (contract B 2.2, CronSchedule).

import type { World } from "../../world/world.ts";
import { nextFiring } from "./cron.ts";
import { type Job, jobById } from "./job.ts";
import { startWithin } from "./start-run.ts";

export const FIRE = "jobs.fire";

export function armSchedule(world: World, job: Job): void {
  const { schedule } = job.settings;
  const timer = `jobs/${job.job_id}/schedule`;
  const due =
    schedule === undefined || schedule.pause_status === "PAUSED"
      ? undefined
      : nextFiring(schedule.quartz_cron_expression, schedule.timezone_id, world.now);
  if (due === undefined) world.timers.cancel(timer);
  else world.timers.set(timer, due, FIRE, { job_id: job.job_id });
}

export function fireSchedule(world: World, id: number): void {
  const job = jobById(world, id);
  if (job === undefined) return;
  const { creator_user_id, creator_user_name } = job;
  startWithin(world, job, { trigger: "PERIODIC", creator_user_id, creator_user_name });
  armSchedule(world, job);
}
