// What a failing operation on a state's place becomes.

import { error, Failure, saidBy } from "../core/diagnostic.ts";

/** Diagnostics pass as they are. */
export function ioFailure(failure: unknown, doing: string): Failure {
  if (failure instanceof Failure) return failure;
  const cause = saidBy(failure);
  return new Failure(
    error("STATE_IO", `${doing} failed`, {
      cause,
      hint: "check that the state's folder can be written by this user and that its disk has room; or name another place with --state",
    }),
  );
}
