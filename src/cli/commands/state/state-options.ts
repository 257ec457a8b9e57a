// Options of the state commands: the location of the state, and how long to wait for its lock.

import { type Diagnostic, Failure, hasErrors } from "../../../core/diagnostic.ts";
import { stateExists } from "../../../planner/model/input.ts";
import { printable } from "../../../report/text/printable.ts";
import type { State } from "../../../state/model/record.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { flagOption } from "../../command/option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "../../command/shared-options.ts";
import { printDiagnostics } from "../../output/diagnostics.ts";

/** Only a state in the workspace itself needs a host. */
export const STATE_LOCATION_OPTIONS = {
  file: SPEC_OPTIONS.file,
  target: SPEC_OPTIONS.target,
  state: STATE_OPTIONS.state,
  host: HOST_OPTIONS.host,
  profile: HOST_OPTIONS.profile,
  caFile: HOST_OPTIONS.caFile,
};

export const STATE_WRITE_OPTIONS = { ...STATE_LOCATION_OPTIONS, lockTimeout: STATE_OPTIONS.lockTimeout };

export const FORCE_OPTION = flagOption("--force", "overwrite another or a newer state");

/** An empty answer could also mean that the location is wrong. */
export function noteMissingState({ stderr }: ConsoleContext, place: string, state: State): void {
  if (!stateExists(state)) stderr.write(`No state exists at ${printable(place)}.\n`);
}

/** Throws Failure when digests of secrets would be readable; warns of what was allowed. */
export function refuseExposed(context: ConsoleContext, exposed: readonly Diagnostic[]): void {
  if (hasErrors(exposed)) throw new Failure(...exposed);
  printDiagnostics(context, exposed);
}
