// The options of all commands about a state: which one is meant, and how long its lock is waited for.

import { timeFromEnv } from "../../config.ts";
import type { Context } from "../../context.ts";
import { flag } from "../../option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "../../options.ts";

/** The host is asked for a state that lies in the workspace itself, and for no other. */
export const PLACE = {
  file: SPEC_OPTIONS.file,
  target: SPEC_OPTIONS.target,
  state: STATE_OPTIONS.state,
  host: HOST_OPTIONS.host,
  profile: HOST_OPTIONS.profile,
};

export const WRITING = { ...PLACE, lockTimeout: STATE_OPTIONS.lockTimeout };

export const FORCE = flag("--force", "also over another or a newer state");

export function waiting(context: Context, options: { readonly lockTimeout: number | undefined }) {
  return { timeoutMs: options.lockTimeout ?? timeFromEnv(context, "WORKSPACE_LOCK_TIMEOUT") ?? 0 };
}
