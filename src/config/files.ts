// The files of a command line: the spec where none is named, and what can go wrong with any of them.

import { type Stats, statSync } from "node:fs";
import { type Failure, failureOf, thrownText } from "../core/diagnostic.ts";

export const DEFAULT_FILE = "workspace.yaml";

/** CLI_FILE; the cause is what the system says. */
export function fileFailure(message: string, problem: unknown, hint?: string): Failure {
  return failureOf("CLI_FILE", message, {
    cause: thrownText(problem),
    ...(hint === undefined ? {} : { hint }),
  });
}

/** Does what makes a file. Throws Failure with CLI_FILE; `otherwise` is what to do where the file is there already. */
export function withFileCreation<T>(file: string, otherwise: string, work: () => T): T {
  try {
    return work();
  } catch (problem) {
    const exists = problem instanceof Error && "code" in problem && problem.code === "EEXIST";
    throw exists
      ? failureOf("CLI_FILE", `${file} already exists`, { hint: otherwise })
      : fileFailure(`${file} cannot be written`, problem);
  }
}

/** Undefined if the path cannot be examined: no file, a loop of links, a name that is too long, or no permission. */
export function fileStatsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
