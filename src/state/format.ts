// The version of the files that hold a state, and what damage to them is called.

import { error, Failure } from "../core/diagnostic.ts";

/** Written into every state and journal. A higher one comes from a newer version of the program. */
export const FORMAT_VERSION = 1;

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
