// Options and arguments of all commands about a cluster.

import type { ConsoleContext } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { durationOption, flagOption } from "../../command/option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "../../command/shared-options.ts";

export const WHERE = {
  file: SPEC_OPTIONS.file,
  target: SPEC_OPTIONS.target,
  state: STATE_OPTIONS.state,
  ...HOST_OPTIONS,
} as const;

export const WAIT = {
  wait: flagOption("--wait", "wait until the operation is complete"),
  timeout: durationOption("--timeout <time>", "how long to wait; requires --wait (default: 30m)"),
} as const;

export const CLUSTER = [
  { name: "<cluster>", description: "address of a cluster, such as clusters.adhoc", takes: "address" },
] as const;

export const LEAVING = "Stopped waiting. The cluster continues.\n";

export interface WaitOptions {
  readonly wait: boolean;
  readonly timeout: number | undefined;
  readonly output: "text" | "json";
}

export function nothingChanged(context: ConsoleContext): number {
  context.stderr.write("Nothing was changed.\n");
  return EXIT.error;
}
