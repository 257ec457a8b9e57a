// `workspace clusters …`: operates clusters that the spec manages, by their addresses; `events` lists what happened to one.

import { failureOf } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import { count, listed, shellWord } from "../../core/sentences.ts";
import { ENDED, isDown } from "../../providers/clusters/operations.ts";
import { int64In } from "../../providers/kit/responses.ts";
import { clusterText, eventsText, sizeText } from "../../report/inspect/cluster-text.ts";
import { printable } from "../../report/text/printable.ts";
import { isRunOn } from "../../resource/service-status.ts";
import { clusterEvents, listActiveRuns } from "../../workflow/operate/paging.ts";
import { type RecordedObject, withRecordedObject } from "../../workflow/operate/recorded-object.ts";
import {
  type ClusterWait,
  clusterNow,
  DEADLINE_MS,
  isResized,
  requestedSize,
  sizeAfterNextApply,
  waitForCluster,
} from "../../workflow/operate/wait.ts";
import { type CommandGroup, type ConsoleContext, defineCommand, type Untitled } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import {
  assertWaits,
  choiceOption,
  durationOption,
  flagOption,
  integerOption,
  listLimit,
  textsOption,
  type ValuesOf,
} from "../command/option.ts";
import { ASK_OPTIONS, FORM_OPTION, RECORDED_OPTIONS } from "../command/shared-options.ts";
import { colorsOf, printResult, reportNothingChanged } from "../output/diagnostics.ts";
import { clusterStates } from "../output/job-run.ts";
import { type ApprovalOptions, askApproval } from "../output/prompt.ts";

const WAIT = {
  wait: flagOption("--wait", "wait until the operation is complete"),
  timeout: durationOption("--timeout <time>", "how long to wait; requires --wait (default: 30m)"),
} as const;

const CLUSTER = [
  { name: "<cluster>", description: "address of a cluster, such as clusters.adhoc", takes: "address" },
] as const;

type WaitOptions = ValuesOf<typeof WAIT & typeof FORM_OPTION>;

/** True if no run is active on the cluster, or the user approves. Throws Failure with CLI_CONFIRMATION if the user cannot be asked. */
async function mayStopRuns(
  context: ConsoleContext,
  cluster: RecordedObject,
  verb: string,
  asking: ApprovalOptions,
  signal: AbortSignal,
): Promise<boolean> {
  const { address, unmasked, id } = cluster;
  const runs = (await listActiveRuns(unmasked)).filter((run) => isRunOn(run, id));
  // With --no-input, the command fails without approval even if no run would stop.
  const needsNoAnswer = asking.autoApprove || !asking.noInput;
  if (runs.length === 0) return needsNoAnswer || askApproval(context, asking, "", signal, ADVICE);
  const ids = listed(runs.map((run) => String(int64In(run, "run_id"))));
  const stops = `${count(runs.length, "active run")} on ${address} ${runs.length === 1 ? "stops" : "stop"}: ${ids}.`;
  context.stderr.write(`${printable(stops)}\n`);
  return askApproval(context, asking, `${verb} ${address}?`, signal, "to stop them, pass --auto-approve");
}

const ADVICE = "to continue without a prompt, pass --auto-approve";

type Goal = Pick<ClusterWait, "what" | "isReached" | "lost">;

const RUNS: Goal = { what: "run", isReached: ({ state }) => state === "RUNNING", lost: ENDED };

const ENDS: Goal = {
  what: "be terminated",
  isReached: ({ state }) => state === "TERMINATED",
  lost: ["ERROR"],
};

/** Runs `work` on a recorded cluster; a signal ends the wait and not what the service does. */
function onCluster(
  context: ConsoleContext,
  options: WaitOptions,
  address: string,
  work: (of: RecordedObject, signal: AbortSignal) => Promise<number>,
): Promise<number> {
  assertWaits(options);
  return context.signals.during(
    (signal) => withRecordedObject(context, "clusters", address, (of) => work(of, signal)),
    "Stopped waiting. The cluster continues.\n",
  );
}

async function finish(
  context: ConsoleContext,
  of: RecordedObject,
  goal: Goal,
  { wait, timeout, output }: WaitOptions,
  signal: AbortSignal,
): Promise<number> {
  const timeoutMs = timeout ?? DEADLINE_MS;
  const answer = wait
    ? await waitForCluster(of, { ...goal, timeoutMs, signal, polled: clusterStates(context, of.address) })
    : await clusterNow(of);
  if (answer === undefined) return EXIT.error;
  const cluster = of.masked(answer);
  printResult(
    context,
    output,
    { address: of.address, cluster },
    () => `${printable(of.address)}: ${clusterText(cluster)}\n`,
  );
  return EXIT.ok;
}

function assertRunning({ address, masked }: RecordedObject, cluster: JsonObject, verb: string): void {
  if (cluster.state === "RUNNING") return;
  const { state } = masked(cluster);
  throw failureOf("CLI_NOT_REACHED", `${address} is ${state}; only a RUNNING cluster can be ${verb}`, {
    address,
    hint: isDown(String(state))
      ? `to start it, run \`workspace clusters start ${shellWord(address)} --wait\``
      : "try again when the cluster is RUNNING",
  });
}

const SIZE_OPTIONS = {
  workers: integerOption("--workers <number>", "fixed number of workers", 0, 100_000),
  min: integerOption("--min <number>", "minimum number of workers; requires --max", 0, 100_000),
  max: integerOption("--max <number>", "maximum number of workers; requires --min", 1, 100_000),
} as const;

const resizeCommand = defineCommand({
  name: "resize",
  summary: "change the number of workers of a running cluster",
  jsonSchema: "cluster",
  options: { ...SIZE_OPTIONS, ...WAIT, ...FORM_OPTION, ...RECORDED_OPTIONS },
  args: CLUSTER,
  notes:
    "Pass --workers, or both --min and --max: one of them is required. If the spec declares another size, the next apply restores it.",
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
      const isReached = (cluster: JsonObject) => isResized(cluster, size);
      return finish(context, of, { what: "be resized", isReached, lost: ENDED }, options, signal);
    });
  },
});

const startCommand = defineCommand({
  name: "start",
  summary: "start a terminated cluster",
  jsonSchema: "cluster",
  options: { ...WAIT, ...FORM_OPTION, ...RECORDED_OPTIONS },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    onCluster(context, options, address, async (of, signal) => {
      const { state } = await clusterNow(of);
      // On any other state a start has no effect (contract B 3.2): while the cluster terminates, it would be lost.
      if (state === "TERMINATING") {
        if (!options.wait)
          throw failureOf(
            "CLI_NOT_REACHED",
            `${of.address} is TERMINATING; it can be started once it is TERMINATED`,
            {
              address: of.address,
              hint: "--wait waits for that, too",
            },
          );
        const timeoutMs = options.timeout ?? DEADLINE_MS;
        const wait = { ...ENDS, timeoutMs, signal, polled: clusterStates(context, of.address) };
        if ((await waitForCluster(of, wait)) === undefined) return EXIT.error;
      }
      if (isDown(String(state))) await of.connection.writer.write("clusters/start", { cluster_id: of.id });
      return finish(context, of, RUNS, options, signal);
    }),
});

const restartCommand = defineCommand({
  name: "restart",
  summary: "restart a running cluster",
  jsonSchema: "cluster",
  options: { ...WAIT, ...ASK_OPTIONS, ...FORM_OPTION, ...RECORDED_OPTIONS },
  args: CLUSTER,
  run: (context, options, [address = ""]) =>
    onCluster(context, options, address, async (of, signal) => {
      const before = await clusterNow(of);
      assertRunning(of, before, "restarted");
      if (!(await mayStopRuns(context, of, "Restart", options, signal))) return reportNothingChanged(context);
      await of.connection.writer.write("clusters/restart", { cluster_id: of.id });
      // The context changes with the driver (contract B 2.4): a cluster that has not begun to restart still runs.
      const isReached = ({ state, spark_context_id: id }: JsonObject) =>
        state === "RUNNING" && (id === undefined || id !== before.spark_context_id);
      return finish(context, of, { ...RUNS, isReached }, options, signal);
    }),
});

const terminateCommand = defineCommand({
  name: "terminate",
  summary: "terminate a cluster and keep its configuration",
  jsonSchema: "cluster",
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

const eventsCommand = defineCommand({
  name: "events",
  summary: "list cluster events, newest first",
  jsonSchema: "cluster-events",
  options: {
    types: textsOption(
      "--types <names>",
      "limit to these event types, such as RUNNING,TERMINATING; repeatable",
    ),
    limit: integerOption("--limit <number>", "maximum number of events (default: 50)", 1, 1_000_000),
    all: flagOption("--all", "list all events"),
    order: choiceOption("--order <direction>", "order of the events", ["newest", "oldest"]),
    ...FORM_OPTION,
    ...RECORDED_OPTIONS,
  },
  args: CLUSTER,
  run(context, options, [address = ""]) {
    const most = listLimit(options, 50);
    const types = options.types.flatMap((text) => text.split(",")).map((text) => text.trim().toUpperCase());
    return withRecordedObject(context, "clusters", address, async ({ connection, id }) => {
      const request = {
        cluster_id: id,
        order: options.order === "oldest" ? "ASC" : "DESC",
        ...(types.length === 0 ? {} : { event_types: types }),
      };
      const { events } = await clusterEvents(connection.reader, request, most);
      const colors = colorsOf(context, context.stdout);
      printResult(context, options.output, { events }, () => eventsText(events, colors));
    });
  },
});

export const clustersCommand: Untitled<CommandGroup> = {
  commands: [startCommand, restartCommand, resizeCommand, terminateCommand, eventsCommand],
};
