// Jobs of the dialect: both forms of settings, pages from version 2.1 on, and partial updates.

import { type JsonObject, listIn, objectIn } from "../../../core/json.ts";
import type { Operation } from "../../world/operation.ts";
import type { Asked, Hooks } from "./hook.ts";
import { pageOf } from "./paging.ts";
import { shownSettings, updatedSettings, withLiftedTask } from "./tasks.ts";

export const jobHooks: Hooks = {
  "jobs/create": {
    before: ({ input, version }) => withLiftedTask(version === "2.2" ? { ...QUEUED, ...input } : input),
  },
  "jobs/reset": {
    before: ({ input }) => ({ ...input, new_settings: withLiftedTask(objectIn(input.new_settings)) }),
  },
  "jobs/get": { after: (job, asked) => shownJob(job, asked, true) },
  "jobs/list": { after: listJobs },
};

/** Version 2.2 queues the runs of a job unless its settings say otherwise. */
const QUEUED: JsonObject = { queue: { enabled: true } };

function shownJob(job: JsonObject, { version }: Asked, expand: boolean): JsonObject {
  const { creator_user_name: creator } = job;
  return {
    ...job,
    ...(creator === undefined ? {} : { run_as_user_name: creator }),
    settings: shownSettings(objectIn(job.settings), version, expand),
  };
}

function listJobs(answer: JsonObject, asked: Asked): JsonObject {
  const { version, input } = asked;
  const expand = input.expand_tasks === true;
  const shown = listIn(answer.jobs).map((job) => shownJob(objectIn(job), asked, expand));
  if (version === "2.0") return shown.length === 0 ? {} : { jobs: shown };
  const name = input.name === undefined ? undefined : String(input.name).toLowerCase();
  const named = shown.filter((job) => name === undefined || nameOf(job) === name);
  return pageOf("jobs", named, input, input.limit);
}

const nameOf = (job: JsonObject): string => String(objectIn(job.settings).name).toLowerCase();

export function updateJob(get: Operation, reset: Operation): Operation {
  return (call, world) => {
    const { job_id = null, new_settings, fields_to_remove } = call.input;
    const found = get({ ...call, input: { job_id } }, world);
    const job = "json" in found ? found.json : {};
    const removed = listIn(fields_to_remove).map(String);
    const settings = updatedSettings(objectIn(job.settings), objectIn(new_settings), removed);
    return reset({ ...call, input: { job_id, new_settings: settings } }, world);
  };
}
