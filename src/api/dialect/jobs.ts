// Jobs of a host with versions: read and written through 2.1 if the host has it, through 2.0 otherwise.

import { error } from "../../core/diagnostic.ts";
import { type JsonObject, objectIn } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import type { OperationName } from "../contract/operations.ts";
import { allPages } from "./pages.ts";
import { jobOfTasks, jobWithoutTasks, settingsOfTasks, tasksOfSettings } from "./tasks.ts";
import type { ApiVersion, HostVersion } from "./versions.ts";

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

export class VersionedJobs {
  readonly #request: JobRequest;
  readonly #carry: CarryJob;
  readonly #version: HostVersion;

  constructor(request: JobRequest, version: HostVersion, carry: CarryJob) {
    this.#request = request;
    this.#version = version;
    this.#carry = carry;
  }

  list(input: JsonObject): Promise<JsonObject> {
    return this.#version.read(
      async () => {
        const page = (token: string | undefined): Promise<JsonObject> =>
          this.#request("2.1", "jobs/list", {
            ...input,
            limit: PAGE,
            expand_tasks: true,
            ...(token === undefined ? {} : { page_token: token }),
          });
        const list = { operation: "jobs/list", member: "jobs", last: "has_more", page } as const;
        return { jobs: (await allPages(list, "job_id")).map(jobOfTasks) };
      },
      async () => {
        const { jobs, ...rest } = await this.#request("2.0", "jobs/list", input);
        return Array.isArray(jobs)
          ? { ...rest, jobs: jobs.map((job) => jobWithoutTasks(objectIn(job))) }
          : rest;
      },
    );
  }

  get(input: JsonObject): Promise<JsonObject> {
    return this.#version.read(
      async () => jobOfTasks(await this.#request("2.1", "jobs/get", input)),
      async () => jobWithoutTasks(await this.#request("2.0", "jobs/get", input)),
    );
  }

  async create(settings: JsonObject, permit: (() => void) | undefined): Promise<JsonObject> {
    if ((await this.#version.found()) === "2.0") return this.#request("2.0", "jobs/create", settings, permit);
    return this.#request("2.1", "jobs/create", tasksOfSettings(settings), permit);
  }

  /** Fields that the settings do not set are read from the live job right before the write. */
  async reset(input: JsonObject, permit: (() => void) | undefined): Promise<JsonObject> {
    const version = await this.#version.found();
    const job = await this.#request(version, "jobs/get", { job_id: input.job_id ?? "" });
    const { unmanageable } = version === "2.0" ? jobWithoutTasks(job) : jobOfTasks(job);
    if (typeof unmanageable === "string") throw wouldLoseTasks(unmanageable);
    const live = objectIn(job.settings);
    const wanted = objectIn(input.new_settings);
    const settings =
      version === "2.0"
        ? this.#carry(live, wanted)
        : tasksOfSettings(this.#carry(settingsOfTasks(live), wanted), live);
    return this.#request(version, "jobs/reset", { ...input, new_settings: settings }, permit);
  }

  async delete(input: JsonObject, permit: (() => void) | undefined): Promise<JsonObject> {
    return this.#request(await this.#version.found(), "jobs/delete", input, permit);
  }
}

function wouldLoseTasks(reason: string): Refused {
  return new Refused(
    0,
    "",
    error("API_REFUSED", `jobs/reset was not sent: the job cannot be managed, because ${reason}`, {
      hint: "the job was changed outside `workspace`; run `workspace plan`, and change the job with the vendor's own tools",
    }),
  );
}
