// The end of a cluster command: prints the current state of the cluster, or waits for the requested state.

import { failureOf } from "../../../core/diagnostic.ts";
import type { JsonObject } from "../../../core/json.ts";
import { shellWord } from "../../../core/sentences.ts";
import { ENDED, isDown } from "../../../providers/clusters/states.ts";
import { clusterText } from "../../../report/inspect/cluster-text.ts";
import { printable } from "../../../report/text/printable.ts";
import {
  type ClusterWait,
  clusterNow,
  DEADLINE_MS,
  waitForCluster,
} from "../../../workflow/clusters/wait.ts";
import { type RecordedObject, withRecordedObject } from "../../../workflow/session/recorded-object.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { assertWaits } from "../../command/option.ts";
import { printResult } from "../../output/diagnostics.ts";
import { clusterStates } from "../../output/polling.ts";
import type { WaitOptions } from "./cluster-options.ts";

type Goal = Pick<ClusterWait, "what" | "isThere" | "lost">;

export const RUNS: Goal = { what: "run", isThere: ({ state }) => state === "RUNNING", lost: ENDED };

export const ENDS: Goal = {
  what: "be terminated",
  isThere: ({ state }) => state === "TERMINATED",
  lost: ["ERROR"],
};

/** Runs `work` on a recorded cluster; a signal ends the wait and not what the service does. */
export function onCluster(
  context: ConsoleContext,
  options: Parameters<typeof withRecordedObject>[1] & WaitOptions,
  address: string,
  work: (of: RecordedObject, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  assertWaits(options);
  return context.signals.during(
    (signal) => withRecordedObject(context, options, "clusters", address, (of) => work(of, signal)),
    "Stopped waiting. The cluster continues.\n",
  );
}

export async function finish(
  context: ConsoleContext,
  of: RecordedObject,
  goal: Goal,
  { wait, timeout, output }: WaitOptions,
  signal: AbortSignal,
): Promise<number> {
  const timeoutMs = timeout ?? DEADLINE_MS;
  const found = wait
    ? await waitForCluster(of, { ...goal, timeoutMs, signal, polled: clusterStates(context, of.address) })
    : await clusterNow(of);
  if (found === undefined) return EXIT.error;
  printResult(
    context,
    output,
    { address: of.address, ...found },
    () => `${printable(of.address)}: ${clusterText(found)}\n`,
  );
  return EXIT.ok;
}

export function assertRunning({ address }: RecordedObject, { state }: JsonObject, verb: string): void {
  if (state === "RUNNING") return;
  throw failureOf("CLI_NOT_REACHED", `${address} is ${state}; only a RUNNING cluster can be ${verb}`, {
    address,
    hint: isDown(String(state))
      ? `to start it, run \`workspace clusters start ${shellWord(address)} --wait\``
      : "try again when the cluster is RUNNING",
  });
}
