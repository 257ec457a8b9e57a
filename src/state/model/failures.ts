// The version of state files, and the diagnostics for damaged files and for failed operations on a backend.

import { Failure, failureOf, thrownText } from "../../core/diagnostic.ts";
import { isOutOfFiles, TOO_MANY_FILES } from "../../core/request-failure.ts";
import type { BackendNames } from "./backend.ts";

/** Written into every state and journal. A higher one comes from a newer version of the program. */
export const FORMAT_VERSION = 3;

/** The most bytes of a state.json, a journal, and what `state push` takes: some 240,000 resources. */
export const STATE_BYTES = 256 * 1024 * 1024;

/** Throws STATE_CORRUPT for a file that is larger than any state. Asked before it is read where its size is known. */
export function assertStateSize(file: string, bytes: number): void {
  if (bytes <= STATE_BYTES) return;
  throw failureOf("STATE_CORRUPT", `${file} has ${bytes} bytes; the limit is ${STATE_BYTES}`, {
    hint: "check the location in --state; to return to an earlier version, run `workspace state restore`",
  });
}

/** For a location that no run has written to. `so`: what is then not possible. */
export function stateNotFound(place: string, so: string): Failure {
  return failureOf("STATE_NOT_FOUND", `no state exists at ${place}, so ${so}`, {
    hint: "check --state, WORKSPACE_STATE, and --target, or restore the lost state; if nothing has been applied yet, run `workspace apply`; on a CI runner, use `--state workspace:/FOLDER` or PostgreSQL",
  });
}

/** `offset` counts bytes from the start of the file. */
export function corrupt(file: string, offset: number, what: string): Failure {
  return failureOf("STATE_CORRUPT", `${file} is damaged at byte ${offset}: ${what}`, {
    hint: "back up the file, then run `workspace state restore` to return to an earlier version",
  });
}

/** For a location at which a run had written a state, although neither the state nor its journal is left. */
export function allMissing({ place, state, journal }: BackendNames): Failure {
  const message = `${state} is damaged at byte 0: it and ${journal} are missing, but a run had written them`;
  const hint = `to return to an earlier version, run \`workspace state restore\`; to begin without a state, delete ${place}`;
  return failureOf("STATE_CORRUPT", message, { hint });
}

export function newerFormat(file: string, version: number): Failure {
  return failureOf(
    "STATE_FORMAT",
    `${file} has format ${version}; this version of workspace supports formats up to ${FORMAT_VERSION}`,
    { hint: "use the version of workspace that wrote it, or a newer one" },
  );
}

/** Passes diagnostics unchanged. */
export function ioFailure(failure: unknown, doing: string): Failure {
  if (failure instanceof Failure) return failure;
  const cause = thrownText(failure);
  const hint = isOutOfFiles(failure)
    ? TOO_MANY_FILES[2]
    : "check that this user can write to the state's folder and that its disk has space, or set another location with --state";
  return failureOf("STATE_IO", `${doing} failed`, { cause, hint });
}
