// The version of one area of the API on a host: 2.1 if the host has it, 2.0 otherwise. The first request finds it.

import type { JsonObject } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";

export type ApiVersion = "2.0" | "2.1";

type Request = () => Promise<JsonObject>;

export class HostVersion {
  readonly #probe: Request;
  #version: ApiVersion | undefined;
  #discovery: Promise<unknown> | undefined;

  /** `probe`: a read of version 2.1 for a host whose version no other request has found. */
  constructor(probe: Request) {
    this.#probe = probe;
  }

  async found(): Promise<ApiVersion> {
    if (this.#version === undefined) await this.read(this.#probe, async () => ({}));
    return this.#version ?? "2.0";
  }

  /** Sends the read of the version that the host has. Requests that begin during the discovery wait for it. */
  async read(newer: Request, older: Request): Promise<JsonObject> {
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

/** The API, or a gateway in front of it, answers 404 to an unknown path. A missing object has another code. */
function hasNoSuchVersion(refusal: unknown): boolean {
  return refusal instanceof Refused && refusal.status === 404 && refusal.code !== "RESOURCE_DOES_NOT_EXIST";
}

const isOfTheApi = (refusal: unknown): boolean =>
  refusal instanceof Refused && refusal.diagnostic.code === "API_REFUSED" && refusal.status < 500;
