// Prints each new state of a job run or cluster that a command waits for.

import type { CommandContext } from "../../config/environment.ts";
import type { JsonObject } from "../../core/json.ts";
import { clusterText, outcomeWord, stateText } from "../../report/inspect/cluster-text.ts";
import { printable } from "../../report/text/printable.ts";
import type { FollowRunObserver } from "../../workflow/operate/follow-run.ts";

export function runStates(context: CommandContext): FollowRunObserver {
  const say = newLines(context);
  return {
    polled: (id, run) => say(`run ${id}: ${stateText(run)}`),
    retryExpected: (id, run) => say(`run ${id}: ${stateText(run)}; the job retries it`),
    retried: (next, id, run) => say(`run ${next}: retry of run ${id} (${outcomeWord(run)})`),
  };
}

export function clusterStates(context: CommandContext, address: string): (cluster: JsonObject) => void {
  const say = newLines(context);
  return (cluster) => say(`${printable(address)}: ${clusterText(cluster)}`);
}

/** Leaves out a line that repeats the one before it. */
function newLines({ stderr }: CommandContext): (line: string) => void {
  let last = "";
  return (line) => {
    if (line !== last) stderr.write(`${line}\n`);
    last = line;
  };
}
