// The bytes behind a resource's content, which a verb sends.

import { error, Failure } from "../core/diagnostic.ts";
import type { Task } from "../resource/provider.ts";

/** Throws Failure with SPEC_NOT_FOUND where they were not read: for a plan that needs no contents. */
export function contentBytes({ address, payload }: Task): Uint8Array {
  if (payload !== undefined) return payload.bytes();
  throw new Failure(error("SPEC_NOT_FOUND", `the content of ${address} was not read`, { address }));
}
