// Jobs (contract B 4.2): create, list, get, reset, delete.

import { ApiError } from "../../world/errors.ts";
import { JOBS } from "../../world/limits.ts";
import type { Area, Call, Reply, World } from "../../world/world.ts";
import { mailJobDeleted } from "./emails.ts";
import {
  describeJob,
  type GivenSettings,
  jobById,
  jobOr400,
  jobsOf,
  missingJob,
  newJobId,
  putJob,
  readSettings,
  wasIssued,
} from "./job.ts";
import { activeRunsOf, describeRun, dropRun, isActive, runById, runNumbers } from "./run.ts";
import { armTimeout, byRun, cancelRun, RETRY, runTimers } from "./run-lifecycle.ts";
import {
  deleteRun,
  exportRun,
  finishRun,
  getOutput,
  listRuns,
  runNow,
  runOf,
  submitRun,
} from "./run-operations.ts";
import { armSchedule, FIRE, fireSchedule, retryRun } from "./start-run.ts";

export const jobsArea: Area = {
  operations: {
    "jobs/create": create,
    "jobs/list": list,
    "jobs/delete": remove,
    "jobs/get": (call, world) => ({ json: describeJob(world, jobOr400(world, idOf(call))) }),
    "jobs/reset": reset,
    "jobs/run-now": runNow,
    "jobs/runs/submit": submitRun,
    "jobs/runs/list": listRuns,
    "jobs/runs/get": (call, world) => ({ json: describeRun(world, runOf(call, world)) }),
    "jobs/runs/export": exportRun,
    // Asynchronous; the run is TERMINATED a little later (contract B 3.3).
    "jobs/runs/cancel": (call, world) =>
      cancelRun(world, runOf(call, world), `Canceled by ${call.caller.userName}.`),
    "jobs/runs/get-output": getOutput,
    "jobs/runs/delete": deleteRun,
  },
  timers: {
    [FIRE]: (world, payload) => fireSchedule(world, Number(payload.job_id)),
    [RETRY]: byRun(retryRun),
    ...runTimers,
  },
  control: { runs: finishRun },
};

const idOf = (call: Call): string => String(call.input.job_id);

function create(call: Call, world: World): Reply {
  const settings = readSettings(world, call.input as unknown as GivenSettings);
  if (jobsOf(world).size >= JOBS.jobs)
    throw new ApiError("QUOTA_EXCEEDED", `The workspace has ${JOBS.jobs} jobs, which is the limit.`);
  const job = {
    job_id: newJobId(world),
    creator_user_id: call.caller.userId,
    creator_user_name: call.caller.userName,
    created_time: call.now,
    settings,
    runs: 0,
  };
  putJob(world, job);
  armSchedule(world, job);
  return { json: { job_id: job.job_id } };
}

function list(_call: Call, world: World): Reply {
  const jobs = [...jobsOf(world).values()].map((job) => describeJob(world, job));
  return { json: jobs.length === 0 ? {} : { jobs } };
}

/** Replaces all settings. Active runs keep their task and cluster, but follow the new timeout (contract B 4.2 rule 3). */
function reset(call: Call, world: World): void {
  const job = jobOr400(world, idOf(call));
  const settings = readSettings(world, call.input.new_settings as unknown as GivenSettings);
  const changed = { ...job, settings };
  putJob(world, changed);
  armSchedule(world, changed);
  for (const run of activeRunsOf(world, job.job_id))
    if (run.life_cycle_state !== "TERMINATING") armTimeout(world, run);
}

/** Details and history are invisible from now on; active runs are ended in their own time (contract B 4.2 rule 2). */
function remove(call: Call, world: World): void {
  const id = idOf(call);
  const job = jobById(world, id);
  if (job === undefined) {
    if (!wasIssued(world, id)) throw missingJob(id);
    return;
  }
  mailJobDeleted(world, job);
  for (let number = 1; number <= job.runs; number++) {
    const run = runById(world, runNumbers(world).get(`${id}/${number}`) ?? 0);
    if (run === undefined) continue;
    if (isActive(run)) cancelRun(world, run, "The job was deleted.");
    else dropRun(world, run);
  }
  jobsOf(world).delete(id);
  world.timers.cancel(`jobs/${id}/schedule`);
}
