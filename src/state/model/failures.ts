// The version of the files that hold a state, and what damage to them is called.
// What a failing operation on a state's place becomes.

import { error, Failure, thrownText } from "../../core/diagnostic.ts";

/** Written into every state and journal. A higher one comes from a newer version of the program. */
export const FORMAT_VERSION = 2;

/** The most bytes of a state.json, a journal, and what `state push` takes: some 240,000 resources. */
export const STATE_BYTES = 256 * 1024 * 1024;

/** Throws STATE_CORRUPT for a file that is larger than any state. Asked before it is read where its size is known. */
export function assertStateSize(file: string, bytes: number): void {
  if (bytes <= STATE_BYTES) return;
  throw new Failure(
    error("STATE_CORRUPT", `${file} has ${bytes} bytes; a state has at most ${STATE_BYTES}`, {
      hint: "check that --state names the right place; to go back to an older state, run `workspace state restore`",
    }),
  );
}

/** `offset` counts bytes from the start of the file. */
export function corrupt(file: string, offset: number, what: string): Failure {
  return new Failure(
    error("STATE_CORRUPT", `${file} is damaged at byte ${offset}: ${what}`, {
      hint: "keep what is there; an older generation comes back with: workspace state restore",
    }),
  );
}

export function newerFormat(file: string, version: number): Failure {
  return new Failure(
    error(
      "STATE_FORMAT",
      `${file} has format ${version}; this version of the program knows up to ${FORMAT_VERSION}`,
      {
        hint: "use the version of workspace that wrote it, or a newer one",
      },
    ),
  );
}

/** Diagnostics pass as they are. */
export function ioFailure(failure: unknown, doing: string): Failure {
  if (failure instanceof Failure) return failure;
  const cause = thrownText(failure);
  return new Failure(
    error("STATE_IO", `${doing} failed`, {
      cause,
      hint: "check that the state's folder can be written by this user and that its disk has room; or name another place with --state",
    }),
  );
}
