// `workspace clusters …`: operates clusters that the spec manages, by their addresses.

import type { CommandContext } from "../../../config/environment.ts";
import { type Diagnostic, error, Failure } from "../../../core/diagnostic.ts";
import type { JsonObject } from "../../../core/json.ts";
import { ENDED, isDown } from "../../../providers/clusters/states.ts";
import { clusterText, eventsText } from "../../../report/inspect/cluster-text.ts";
import { printable, printableJson } from "../../../report/text/printable.ts";
import { mayStopRuns } from "../../../workflow/clusters/cluster-runs.ts";
import {
  isResized,
  requestedSize,
  SIZE_OPTIONS,
  sizeAfterNextApply,
} from "../../../workflow/clusters/resize.ts";
import {
  type ClusterWait,
  clusterNow,
  DEADLINE_MS,
  waitForCluster,
} from "../../../workflow/clusters/wait.ts";
import { clusterEvents } from "../../../workflow/session/paging.ts";
import { type RecordedObject, withRecordedObject } from "../../../workflow/session/recorded-object.ts";
import { type CommandGroup, defineCommand } from "../../command/command.ts";
import { EXIT } from "../../command/exit-codes.ts";
import {
  choiceOption,
  durationOption,
  flagOption,
  integerOption,
  textsOption,
} from "../../command/option.ts";
import {
  ASK_OPTIONS,
  FORM_OPTION,
  HOST_OPTIONS,
  SPEC_OPTIONS,
  STATE_OPTIONS,
} from "../../command/shared-options.ts";
import { colorsOf } from "../../output/diagnostics.ts";

const WHERE = {
  file: SPEC_OPTIONS.file,
  target: SPEC_OPTIONS.target,
  state: STATE_OPTIONS.state,
  ...HOST_OPTIONS,
} as const;
const WAIT = {
  wait: flagOption("--wait", "wait until the operation is complete"),
  timeout: durationOption("--timeout <time>", "how long to wait; requires --wait (default: 30m)"),
} as const;
const CLUSTER = [
  { name: "<cluster>", description: "address of a cluster, such as clusters.adhoc", takes: "address" },
] as const;
const LEAVING = "Stopped waiting. The cluster continues.\n";

interface Wish {
  readonly wait: boolean;
  readonly timeout: number | undefined;
  readonly output: "text" | "json";
}

type Goal = Pick<ClusterWait, "what" | "isThere" | "lost">;

const RUNS: Goal = { what: "run", isThere: ({ state }) => state === "RUNNING", lost: ENDED };
const ENDS: Goal = { what: "be terminated", isThere: ({ state }) => state === "TERMINATED", lost: ["ERROR"] };

const start = defineCommand({
  name: "start",
  summary: "start a terminated cluster",
  options: { ...WAIT, ...FORM_OPTION, ...WHERE },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    context.signals.during(
      (signal) =>
        withRecordedObject(context, options, "clusters", address, async (of) => {
          const { state } = await clusterNow(of);
          // On any other state a start has no effect (part B, 3.2): while the cluster terminates, it would be lost.
          if (state === "TERMINATING") {
            if (!options.wait) throw new Failure(stillTerminating(of.address));
            const timeoutMs = options.timeout ?? DEADLINE_MS;
            if ((await waitForCluster(context, of, { ...ENDS, timeoutMs, signal })) === undefined)
              return EXIT.error;
          }
          if (isDown(String(state)))
            await of.connection.writer.write("clusters/start", { cluster_id: of.id });
          return finish(context, of, RUNS, options, signal);
        }),
      LEAVING,
    ),
});

const restart = defineCommand({
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
          // The context changes with the driver (part B, 2.4): a cluster that has not begun to restart still runs.
          const isThere = ({ state, spark_context_id: id }: JsonObject) =>
            state === "RUNNING" && (id === undefined || id !== before.spark_context_id);
          return finish(context, of, { ...RUNS, isThere }, options, signal);
        }),
      LEAVING,
    ),
});

const resize = defineCommand({
  name: "resize",
  summary: "change the number of workers of a running cluster",
  options: { ...SIZE_OPTIONS, ...WAIT, ...FORM_OPTION, ...WHERE },
  args: CLUSTER,
  notes: "If the spec declares another size, the next apply restores it.",
  run: (context, options, [address = ""]) => {
    const size = requestedSize(options);
    return context.signals.during(
      (signal) =>
        withRecordedObject(context, options, "clusters", address, async (of) => {
          assertRunning(of, await clusterNow(of), "resized");
          await of.connection.writer.write("clusters/resize", { cluster_id: of.id, ...size });
          const spec = sizeAfterNextApply(of.record, size);
          if (spec !== undefined)
            context.stderr.write(`The last applied spec declares ${spec}; the next apply restores that.\n`);
          const isThere = (cluster: JsonObject) => isResized(cluster, size);
          return finish(context, of, { what: "be resized", isThere, lost: ENDED }, options, signal);
        }),
      LEAVING,
    );
  },
});

const terminate = defineCommand({
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

const events = defineCommand({
  name: "events",
  summary: "list cluster events, newest first",
  options: {
    types: textsOption(
      "--types <names>",
      "limit to these event types, such as RUNNING,TERMINATING; repeatable",
    ),
    limit: integerOption("--limit <number>", "maximum number of events (default: 50)", 1, 1_000_000),
    all: flagOption("--all", "no maximum"),
    order: choiceOption("--order <direction>", "order of the events", ["newest", "oldest"]),
    ...FORM_OPTION,
    ...WHERE,
  },
  args: CLUSTER,
  run(context, options, [address = ""]) {
    if (options.all && options.limit !== undefined)
      throw new Failure(error("CLI_USAGE", "--all and --limit cannot be used together"));
    const most = options.all ? Number.POSITIVE_INFINITY : (options.limit ?? 50);
    const types = options.types.flatMap((one) => one.split(",")).map((one) => one.trim().toUpperCase());
    return withRecordedObject(context, options, "clusters", address, async ({ connection, id }) => {
      const request = {
        cluster_id: id,
        order: options.order === "oldest" ? "ASC" : "DESC",
        ...(types.length === 0 ? {} : { event_types: types }),
      };
      const { events: found } = await clusterEvents(connection.reader, request, most);
      const colors = colorsOf(context, context.stdout);
      context.stdout.write(
        options.output === "json" ? `${printableJson(found, 2)}\n` : eventsText(found, colors),
      );
      return EXIT.ok;
    });
  },
});

/** Tells how the cluster is now, or once it is as asked. */
async function finish(
  context: CommandContext,
  of: RecordedObject,
  goal: Goal,
  { wait, timeout, output }: Wish,
  signal: AbortSignal,
): Promise<number> {
  const timeoutMs = timeout ?? DEADLINE_MS;
  const found = wait
    ? await waitForCluster(context, of, { ...goal, timeoutMs, signal })
    : await clusterNow(of);
  if (found === undefined) return EXIT.error;
  context.stdout.write(
    output === "json"
      ? `${printableJson({ address: of.address, ...found }, 2)}\n`
      : `${printable(of.address)}: ${clusterText(found)}\n`,
  );
  return EXIT.ok;
}

function assertRunning({ address }: RecordedObject, { state }: JsonObject, verb: string): void {
  if (state !== "RUNNING") throw new Failure(notRunning(address, String(state), verb));
}

function notRunning(address: RecordedObject["address"], state: string, verb: string): Diagnostic {
  return error("CLI_NOT_REACHED", `${address} is ${state}; only a RUNNING cluster can be ${verb}`, {
    address,
    hint: isDown(state)
      ? `start it first: workspace clusters start ${address} --wait`
      : "try again when it runs",
  });
}

function stillTerminating(address: RecordedObject["address"]): Diagnostic {
  return error("CLI_NOT_REACHED", `${address} is TERMINATING; it can be started once it is TERMINATED`, {
    address,
    hint: "--wait waits for that, too",
  });
}

function nothingChanged(context: CommandContext): number {
  context.stderr.write("Nothing was changed.\n");
  return EXIT.error;
}

export const clustersCommand: CommandGroup = {
  name: "clusters",
  summary: "start, stop, resize, and inspect managed clusters",
  commands: [start, restart, resize, terminate, events],
};
