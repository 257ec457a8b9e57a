// Jobs of a host that has versions: read and written through 2.1 where the host has it, else through 2.0; found once.

import type { JsonObject } from "../../core/json.ts";
import { objectIn } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import type { OperationName } from "../contract/operations.ts";
import { allPages } from "./pages.ts";
import { jobOfTasks, jobWithoutTasks, settingsOfTasks, tasksOfSettings } from "./tasks.ts";

/** One request in the dialect's own form. */
export type JobRequest = (
  version: JobVersion,
  operation: OperationName,
  input: JsonObject,
  permit?: () => void,
) => Promise<JsonObject>;

export type JobVersion = "2.0" | "2.1";

/** `live` is the job that a reset replaces, in the contract's form with all its fields. */
export type CarryJob = (live: JsonObject, settings: JsonObject) => JsonObject;

const PAGE = 100;

export class VersionedJobs {
  readonly #request: JobRequest;
  readonly #carry: CarryJob;
  #version: JobVersion | undefined;
  #discovery: Promise<unknown> | undefined;

  constructor(request: JobRequest, carry: CarryJob) {
    this.#request = request;
    this.#carry = carry;
  }

  list(input: JsonObject): Promise<JsonObject> {
    return this.#versioned(
      async () => {
        const jobs = await allPages("jobs/list", "jobs", (token) =>
          this.#request("2.1", "jobs/list", {
            ...input,
            limit: PAGE,
            expand_tasks: true,
            ...(token === undefined ? {} : { page_token: token }),
          }),
        );
        return { jobs: jobs.map((job) => jobOfTasks(objectIn(job))) };
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
    return this.#versioned(
      async () => jobOfTasks(await this.#request("2.1", "jobs/get", input)),
      async () => jobWithoutTasks(await this.#request("2.0", "jobs/get", input)),
    );
  }

  async create(settings: JsonObject, permit: (() => void) | undefined): Promise<JsonObject> {
    if ((await this.#found()) === "2.0") return this.#request("2.0", "jobs/create", settings, permit);
    return this.#request("2.1", "jobs/create", tasksOfSettings(settings), permit);
  }

  /** Fields that the settings do not set are read from the live job right before the write. */
  async reset(input: JsonObject, permit: (() => void) | undefined): Promise<JsonObject> {
    const version = await this.#found();
    const job = await this.#request(version, "jobs/get", { job_id: input.job_id ?? "" });
    const live = objectIn(job.settings);
    const wanted = objectIn(input.new_settings);
    const settings =
      version === "2.0"
        ? this.#carry(live, wanted)
        : tasksOfSettings(this.#carry(settingsOfTasks(live), wanted), live);
    return this.#request(version, "jobs/reset", { ...input, new_settings: settings }, permit);
  }

  async delete(input: JsonObject, permit: (() => void) | undefined): Promise<JsonObject> {
    return this.#request(await this.#found(), "jobs/delete", input, permit);
  }

  async #found(): Promise<JobVersion> {
    if (this.#version === undefined)
      await this.#versioned(
        () => this.#request("2.1", "jobs/list", { limit: 1 }),
        async () => ({}),
      );
    return this.#version ?? "2.0";
  }

  /** The first request finds the version of the host; requests that begin meanwhile wait for it. */
  async #versioned(newer: () => Promise<JsonObject>, older: () => Promise<JsonObject>): Promise<JsonObject> {
    while (this.#version === undefined && this.#discovery !== undefined)
      await this.#discovery.catch(() => undefined);
    if (this.#version === "2.0") return older();
    if (this.#version === "2.1") return newer();
    const first = newer();
    this.#discovery = first;
    try {
      const answer = await first;
      this.#version = "2.1";
      return answer;
    } catch (refusal) {
      if (hasNoSuchVersion(refusal)) this.#version = "2.0";
      else if (isOfTheApi(refusal)) this.#version = "2.1";
      else throw refusal;
      if (this.#version === "2.1") throw refusal;
    } finally {
      this.#discovery = undefined;
    }
    return older();
  }
}

/** The API, or a gateway in front of it, answers 404 to an unknown path. A missing job has another code. */
function hasNoSuchVersion(refusal: unknown): boolean {
  return refusal instanceof Refused && refusal.status === 404 && refusal.code !== "RESOURCE_DOES_NOT_EXIST";
}

const isOfTheApi = (refusal: unknown): boolean =>
  refusal instanceof Refused && refusal.diagnostic.code === "API_REFUSED" && refusal.status < 500;
