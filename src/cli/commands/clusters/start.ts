// `workspace clusters start CLUSTER`.

import { type Diagnostic, error, Failure } from "../../../core/diagnostic.ts";
import { isDown } from "../../../providers/clusters/states.ts";
import { clusterNow, DEADLINE_MS, waitForCluster } from "../../../workflow/clusters/wait.ts";
import { type RecordedObject, withRecordedObject } from "../../../workflow/session/recorded-object.ts";
import { defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { clusterStates } from "../../output/polling.ts";
import { ENDS, finish, RUNS } from "./cluster-goal.ts";
import { CLUSTER, LEAVING, WAIT, WHERE } from "./cluster-options.ts";

export const startCommand = defineCommand({
  name: "start",
  summary: "start a terminated cluster",
  options: { ...WAIT, ...FORM_OPTION, ...WHERE },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    context.signals.during(
      (signal) =>
        withRecordedObject(context, options, "clusters", address, async (of) => {
          const { state } = await clusterNow(of);
          // On any other state a start has no effect (contract B 3.2): while the cluster terminates, it would be lost.
          if (state === "TERMINATING") {
            if (!options.wait) throw new Failure(stillTerminating(of.address));
            const timeoutMs = options.timeout ?? DEADLINE_MS;
            if (
              (await waitForCluster(of, {
                ...ENDS,
                timeoutMs,
                signal,
                polled: clusterStates(context, of.address),
              })) === undefined
            )
              return EXIT.error;
          }
          if (isDown(String(state)))
            await of.connection.writer.write("clusters/start", { cluster_id: of.id });
          return finish(context, of, RUNS, options, signal);
        }),
      LEAVING,
    ),
});

function stillTerminating(address: RecordedObject["address"]): Diagnostic {
  return error("CLI_NOT_REACHED", `${address} is TERMINATING; it can be started once it is TERMINATED`, {
    address,
    hint: "--wait waits for that, too",
  });
}
