// `workspace clusters start`, `restart`, and `terminate`.

import { type Failure, failureOf } from "../../../core/diagnostic.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isDown } from "../../../providers/clusters/states.ts";
import { clusterNow, DEADLINE_MS, waitForCluster } from "../../../workflow/clusters/wait.ts";
import type { RecordedObject } from "../../../workflow/session/recorded-object.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { ASK_OPTIONS, FORM_OPTION, RECORDED_OPTIONS } from "../../command/shared-options.ts";
import { clusterStates } from "../../output/polling.ts";
import { assertRunning, ENDS, finish, onCluster, RUNS } from "./cluster-goal.ts";
import { CLUSTER, mayStopRuns, reportNothingChanged, WAIT } from "./cluster-options.ts";

export const startCommand = defineCommand({
  name: "start",
  summary: "start a terminated cluster",
  options: { ...WAIT, ...FORM_OPTION, ...RECORDED_OPTIONS },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    onCluster(context, options, address, async (of, signal) => {
      const { state } = await clusterNow(of);
      // On any other state a start has no effect (contract B 3.2): while the cluster terminates, it would be lost.
      if (state === "TERMINATING") {
        if (!options.wait) throw stillTerminating(of.address);
        const timeoutMs = options.timeout ?? DEADLINE_MS;
        const wait = { ...ENDS, timeoutMs, signal, polled: clusterStates(context, of.address) };
        if ((await waitForCluster(of, wait)) === undefined) return EXIT.error;
      }
      if (isDown(String(state))) await of.connection.writer.write("clusters/start", { cluster_id: of.id });
      return finish(context, of, RUNS, options, signal);
    }),
});

function stillTerminating(address: RecordedObject["address"]): Failure {
  return failureOf("CLI_NOT_REACHED", `${address} is TERMINATING; it can be started once it is TERMINATED`, {
    address,
    hint: "--wait waits for that, too",
  });
}

export const restartCommand = defineCommand({
  name: "restart",
  summary: "restart a running cluster",
  options: { ...WAIT, ...ASK_OPTIONS, ...FORM_OPTION, ...RECORDED_OPTIONS },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    onCluster(context, options, address, async (of, signal) => {
      const before = await clusterNow(of);
      assertRunning(of, before, "restarted");
      if (!(await mayStopRuns(context, of, "Restart", options, signal))) return reportNothingChanged(context);
      await of.connection.writer.write("clusters/restart", { cluster_id: of.id });
      // The context changes with the driver (contract B 2.4): a cluster that has not begun to restart still runs.
      const isThere = ({ state, spark_context_id: id }: JsonObject) =>
        state === "RUNNING" && (id === undefined || id !== before.spark_context_id);
      return finish(context, of, { ...RUNS, isThere }, options, signal);
    }),
});

export const terminateCommand = defineCommand({
  name: "terminate",
  summary: "terminate a cluster and keep its configuration",
  options: { ...WAIT, ...ASK_OPTIONS, ...FORM_OPTION, ...RECORDED_OPTIONS },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    onCluster(context, options, address, async (of, signal) => {
      const { state } = await clusterNow(of);
      const ends = !isDown(String(state));
      if (ends && !(await mayStopRuns(context, of, "Terminate", options, signal)))
        return reportNothingChanged(context);
      if (ends) await of.connection.writer.write("clusters/delete", { cluster_id: of.id });
      return finish(context, of, ENDS, options, signal);
    }),
});
