// Asks before a command stops the job runs on a cluster.

import { count, listed } from "../../../core/sentences.ts";
import { printable } from "../../../report/text/printable.ts";
import { idText } from "../../../resource/service-status.ts";
import { runsOnCluster } from "../../../workflow/clusters/cluster-runs.ts";
import type { RecordedObject } from "../../../workflow/session/recorded-object.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { type Asking, askApproval } from "../../output/prompt.ts";

/** True when nothing runs there, or the user agrees. Throws Failure with CLI_CONFIRMATION if the user cannot be asked. */
export async function mayStopRuns(
  context: ConsoleContext,
  cluster: RecordedObject,
  verb: string,
  asking: Asking,
  signal: AbortSignal,
): Promise<boolean> {
  const { address } = cluster;
  const runs = await runsOnCluster(cluster);
  // With --no-input nothing changes without approval, whether it stops a run or not.
  const needsNoAnswer = asking.autoApprove || !asking.noInput;
  if (runs.length === 0) return needsNoAnswer || askApproval(context, asking, "", signal, ADVICE);
  const ids = listed(runs.map((run) => idText(run.run_id)));
  const stops = `${count(runs.length, "active run")} on ${address} ${runs.length === 1 ? "stops" : "stop"}: ${ids}.`;
  context.stderr.write(`${printable(stops)}\n`);
  return askApproval(context, asking, `${verb} ${address}?`, signal, "to stop them, pass --auto-approve");
}

const ADVICE = "to continue without a prompt, pass --auto-approve";
