// Jobs of a host with versions: read and written through 2.1 if the host has it, through 2.0 otherwise.

import { type JsonObject, objectIn } from "../../core/json.ts";
import { type Refused, refusedWith } from "../../core/request-failure.ts";
import type { OperationName } from "../contract/operations.ts";
import { isMissing } from "../contract/refusals.ts";
import { allPages, type PagedList } from "./pages.ts";
import { jobOfTasks, jobWithoutTasks, settingsOfTasks, tasksOfSettings } from "./tasks.ts";
import type { ApiVersion, HostVersion } from "./versions.ts";

type Handler = (input: JsonObject, permit?: () => void) => Promise<JsonObject>;

/** Operations that are more than one request in the dialect, or whose form depends on the version. */
export type Handlers = { readonly [operation in OperationName]?: Handler };

/** One request in the dialect's own form. */
export type JobRequest = (
  version: ApiVersion,
  operation: OperationName,
  input: JsonObject,
  permit?: () => void,
) => Promise<JsonObject>;

/** `live` is the job that a reset replaces, in the contract's form with all its fields. */
export type CarryJob = (live: JsonObject, settings: JsonObject) => JsonObject;

const PAGE = 100;

export function jobHandlers(request: JobRequest, version: HostVersion, carry: CarryJob): Handlers {
  return {
    "jobs/list": (input) => {
      const page: PagedList["page"] = (at) =>
        request("2.1", "jobs/list", { ...input, limit: PAGE, expand_tasks: true, ...at });
      const list = { operation: "jobs/list", member: "jobs", last: "has_more", page } as const;
      return version.read(
        async () => ({ jobs: (await allPages(list, "job_id")).map(jobOfTasks) }),
        async () => {
          const { jobs, ...rest } = await request("2.0", "jobs/list", input);
          if (!Array.isArray(jobs)) return rest;
          const read = (job: JsonObject) => request("2.0", "jobs/get", { job_id: job.job_id ?? "" });
          return { ...rest, jobs: await Promise.all(jobs.map((job) => listedJob(objectIn(job), read))) };
        },
      );
    },
    "jobs/get": (input) =>
      version.read(
        async () => jobOfTasks(await request("2.1", "jobs/get", input)),
        async () => jobWithoutTasks(await request("2.0", "jobs/get", input)),
      ),
    "jobs/create": async (settings, permit) => {
      const found = await version.found();
      return request(found, "jobs/create", found === "2.0" ? settings : tasksOfSettings(settings), permit);
    },
    // Fields that the settings do not set are read from the live job right before the write.
    "jobs/reset": async (input, permit) => {
      const found = await version.found();
      const job = await request(found, "jobs/get", { job_id: input.job_id ?? "" });
      const { unmanageable } = found === "2.0" ? jobWithoutTasks(job) : jobOfTasks(job);
      if (typeof unmanageable === "string") throw wouldLoseTasks(unmanageable);
      const live = objectIn(job.settings);
      const wanted = objectIn(input.new_settings);
      const settings =
        found === "2.0" ? carry(live, wanted) : tasksOfSettings(carry(settingsOfTasks(live), wanted), live);
      return request(found, "jobs/reset", { ...input, new_settings: settings }, permit);
    },
    ...inBothVersions(["jobs/delete"], request, version),
  };
}

/** Requests that are the same in both versions. */
export function inBothVersions(
  operations: readonly OperationName[],
  request: JobRequest,
  version: HostVersion,
): Handlers {
  const handler =
    (operation: OperationName): Handler =>
    async (input, permit) =>
      request(await version.found(), operation, input, permit);
  return Object.fromEntries(operations.map((operation) => [operation, handler(operation)]));
}

/** A job in the list of version 2.0, which does not show several tasks. A plan must know the clusters and pools that they need. */
async function listedJob(
  job: JsonObject,
  read: (job: JsonObject) => Promise<JsonObject>,
): Promise<JsonObject> {
  const { format, tasks } = objectIn(job.settings);
  if (format !== "MULTI_TASK" || tasks !== undefined) return jobWithoutTasks(job);
  try {
    return jobWithoutTasks(await read(job));
  } catch (failure) {
    // It was deleted after the list was made.
    if (isMissing(failure)) return jobWithoutTasks(job);
    throw failure;
  }
}

function wouldLoseTasks(reason: string): Refused {
  const message = `jobs/reset was not sent: the job cannot be managed, because ${reason}`;
  return refusedWith(0, "API_REFUSED", message, {
    hint: "the job was changed outside `workspace`; run `workspace plan`, and change the job with the vendor's own tools",
  });
}
