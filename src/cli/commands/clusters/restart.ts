// `workspace clusters restart CLUSTER`.

import type { JsonObject } from "../../../core/json.ts";
import { clusterNow } from "../../../workflow/clusters/wait.ts";
import { withRecordedObject } from "../../../workflow/session/recorded-object.ts";
import { defineCommand } from "../../command/command.ts";
import { ASK_OPTIONS, FORM_OPTION } from "../../command/shared-options.ts";
import { mayStopRuns } from "./approve-stop.ts";
import { assertRunning, finish, RUNS } from "./cluster-goal.ts";
import { CLUSTER, LEAVING, nothingChanged, WAIT, WHERE } from "./cluster-options.ts";

export const restartCommand = defineCommand({
  name: "restart",
  summary: "restart a running cluster",
  options: { ...WAIT, ...ASK_OPTIONS, ...FORM_OPTION, ...WHERE },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    context.signals.during(
      (signal) =>
        withRecordedObject(context, options, "clusters", address, async (of) => {
          const before = await clusterNow(of);
          assertRunning(of, before, "restarted");
          if (!(await mayStopRuns(context, of, "Restart", options, signal))) return nothingChanged(context);
          await of.connection.writer.write("clusters/restart", { cluster_id: of.id });
          // The context changes with the driver (contract B 2.4): a cluster that has not begun to restart still runs.
          const isThere = ({ state, spark_context_id: id }: JsonObject) =>
            state === "RUNNING" && (id === undefined || id !== before.spark_context_id);
          return finish(context, of, { ...RUNS, isThere }, options, signal);
        }),
      LEAVING,
    ),
});
