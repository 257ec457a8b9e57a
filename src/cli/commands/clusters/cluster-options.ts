// Options, arguments, and prompts of the cluster commands.

import { count, listed } from "../../../core/sentences.ts";
import { printable } from "../../../report/text/printable.ts";
import { idText, isRunOn } from "../../../resource/service-status.ts";
import { listActiveRuns } from "../../../workflow/session/paging.ts";
import type { RecordedObject } from "../../../workflow/session/recorded-object.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { durationOption, flagOption } from "../../command/option.ts";
import { type ApprovalOptions, askApproval } from "../../output/prompt.ts";

export const WAIT = {
  wait: flagOption("--wait", "wait until the operation is complete"),
  timeout: durationOption("--timeout <time>", "how long to wait; requires --wait (default: 30m)"),
} as const;

export const CLUSTER = [
  { name: "<cluster>", description: "address of a cluster, such as clusters.adhoc", takes: "address" },
] as const;

export interface WaitOptions {
  readonly wait: boolean;
  readonly timeout: number | undefined;
  readonly output: "text" | "json";
}

export function reportNothingChanged(context: ConsoleContext): number {
  context.stderr.write("Nothing was changed.\n");
  return EXIT.error;
}

/** True if no run is active on the cluster, or the user approves. Throws Failure with CLI_CONFIRMATION if the user cannot be asked. */
export async function mayStopRuns(
  context: ConsoleContext,
  cluster: RecordedObject,
  verb: string,
  asking: ApprovalOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { address, connection, id } = cluster;
  const runs = (await listActiveRuns(connection.reader)).filter((run) => isRunOn(run, id));
  // With --no-input, the command fails without approval even if no run would stop.
  const needsNoAnswer = asking.autoApprove || !asking.noInput;
  if (runs.length === 0) return needsNoAnswer || askApproval(context, asking, "", signal, ADVICE);
  const ids = listed(runs.map((run) => idText(run.run_id)));
  const stops = `${count(runs.length, "active run")} on ${address} ${runs.length === 1 ? "stops" : "stop"}: ${ids}.`;
  context.stderr.write(`${printable(stops)}\n`);
  return askApproval(context, asking, `${verb} ${address}?`, signal, "to stop them, pass --auto-approve");
}

const ADVICE = "to continue without a prompt, pass --auto-approve";
