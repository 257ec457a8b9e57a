// The active runs that a cluster carries, and whether they may be stopped.

import { type Asking, askApproval } from "../../cli/output/prompt.ts";
import type { CommandContext } from "../../config/environment.ts";
import { type JsonObject, objectIn } from "../../core/json.ts";
import { count, listed } from "../../core/sentences.ts";
import { idText } from "../../report/inspect/job-run-text.ts";
import { printable } from "../../report/text/printable.ts";
import { listActiveRuns } from "../session/active-runs.ts";
import type { RecordedObject } from "../session/recorded-object.ts";

/** True if no runs are active, or the user agrees. Throws Failure with CLI_CONFIRMATION without a terminal. */
export async function mayStopRuns(
  context: CommandContext,
  { connection, id, address }: RecordedObject,
  verb: string,
  asking: Asking,
  signal: AbortSignal,
): Promise<boolean> {
  const runs = (await listActiveRuns(connection.reader)).filter((run) => isOn(run, id));
  if (runs.length === 0) return maySayNothing(asking) || askApproval(context, asking, "", signal, ADVICE);
  const ids = listed(runs.map((run) => idText(run.run_id)));
  const stops = `${count(runs.length, "active run")} on ${address} ${runs.length === 1 ? "stops" : "stop"}: ${ids}.`;
  context.stderr.write(`${printable(stops)}\n`);
  return askApproval(context, asking, `${verb} ${address}?`, signal, "to stop them, pass --auto-approve");
}

/** With --no-input nothing is changed that was not approved, whether it stops a run or not. */
function maySayNothing({ autoApprove, noInput }: Asking): boolean {
  return autoApprove || !noInput;
}

const ADVICE = "to continue without a prompt, pass --auto-approve";

function isOn(run: JsonObject, cluster: string): boolean {
  return (
    objectIn(run.cluster_instance).cluster_id === cluster ||
    objectIn(run.cluster_spec).existing_cluster_id === cluster
  );
}
