// The options of all commands about a state: which one is meant, and how long its lock is waited for.

import type { Context } from "../../../config/environment.ts";
import { timeFromEnv } from "../../../config/settings.ts";
import { type Diagnostic, Failure, hasErrors } from "../../../core/diagnostic.ts";
import { flag } from "../../command/option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "../../command/shared-options.ts";
import { tell } from "../../output/diagnostics.ts";

/** The host is asked for a state that lies in the workspace itself, and for no other. */
export const PLACE = {
  file: SPEC_OPTIONS.file,
  target: SPEC_OPTIONS.target,
  state: STATE_OPTIONS.state,
  host: HOST_OPTIONS.host,
  profile: HOST_OPTIONS.profile,
  caFile: HOST_OPTIONS.caFile,
};

export const WRITING = { ...PLACE, lockTimeout: STATE_OPTIONS.lockTimeout };

export const FORCE = flag("--force", "also over another or a newer state");

export function waiting(context: Context, options: { readonly lockTimeout: number | undefined }) {
  return { timeoutMs: options.lockTimeout ?? timeFromEnv(context, "WORKSPACE_LOCK_TIMEOUT") ?? 0 };
}

/** Throws Failure when digests of secrets would be readable; warns of what was allowed. */
export function refuseExposed(context: Context, exposed: readonly Diagnostic[]): void {
  if (hasErrors(exposed)) throw new Failure(...exposed);
  tell(context, exposed);
}
