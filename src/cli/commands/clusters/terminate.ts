// `workspace clusters terminate CLUSTER`.

import { isDown } from "../../../providers/clusters/states.ts";
import { clusterNow } from "../../../workflow/clusters/wait.ts";
import { withRecordedObject } from "../../../workflow/session/recorded-object.ts";
import { defineCommand } from "../../command/command.ts";
import { ASK_OPTIONS, FORM_OPTION } from "../../command/shared-options.ts";
import { mayStopRuns } from "./approve-stop.ts";
import { ENDS, finish } from "./cluster-goal.ts";
import { CLUSTER, LEAVING, nothingChanged, WAIT, WHERE } from "./cluster-options.ts";

export const terminateCommand = defineCommand({
  name: "terminate",
  summary: "terminate a cluster and keep its configuration",
  options: { ...WAIT, ...ASK_OPTIONS, ...FORM_OPTION, ...WHERE },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    context.signals.during(
      (signal) =>
        withRecordedObject(context, options, "clusters", address, async (of) => {
          const { state } = await clusterNow(of);
          const ends = !isDown(String(state));
          if (ends && !(await mayStopRuns(context, of, "Terminate", options, signal)))
            return nothingChanged(context);
          if (ends) await of.connection.writer.write("clusters/delete", { cluster_id: of.id });
          return finish(context, of, ENDS, options, signal);
        }),
      LEAVING,
    ),
});
