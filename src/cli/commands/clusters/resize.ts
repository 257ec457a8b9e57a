// `workspace clusters resize CLUSTER`.

import type { JsonObject } from "../../../core/json.ts";
import { ENDED } from "../../../providers/clusters/states.ts";
import { sizeText } from "../../../report/inspect/cluster-text.ts";
import { clusterNow, isResized, requestedSize, sizeAfterNextApply } from "../../../workflow/clusters/wait.ts";
import { defineCommand } from "../../command/command.ts";
import { integerOption } from "../../command/option.ts";
import { FORM_OPTION, RECORDED_OPTIONS } from "../../command/shared-options.ts";
import { assertRunning, finish, onCluster } from "./cluster-goal.ts";
import { CLUSTER, WAIT } from "./cluster-options.ts";

const SIZE_OPTIONS = {
  workers: integerOption("--workers <number>", "fixed number of workers", 0, 100_000),
  min: integerOption("--min <number>", "minimum number of workers; requires --max", 0, 100_000),
  max: integerOption("--max <number>", "maximum number of workers; requires --min", 1, 100_000),
} as const;

export const resizeCommand = defineCommand({
  name: "resize",
  summary: "change the number of workers of a running cluster",
  options: { ...SIZE_OPTIONS, ...WAIT, ...FORM_OPTION, ...RECORDED_OPTIONS },
  args: CLUSTER,
  notes: "If the spec declares another size, the next apply restores it.",
  run: (context, options, [address = ""]) => {
    const size = requestedSize(options);
    return onCluster(context, options, address, async (of, signal) => {
      assertRunning(of, await clusterNow(of), "resized");
      await of.connection.writer.write("clusters/resize", { cluster_id: of.id, ...size });
      const spec = sizeAfterNextApply(of.record, size);
      if (spec !== undefined)
        context.stderr.write(
          `The last applied spec declares ${sizeText(spec)}; the next apply restores that.\n`,
        );
      const isThere = (cluster: JsonObject) => isResized(cluster, size);
      return finish(context, of, { what: "be resized", isThere, lost: ENDED }, options, signal);
    });
  },
});
