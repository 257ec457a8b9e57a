// `workspace fleet worker`: runs jobs of the queue until a signal ends it, and answers probes over HTTP: /healthz, /readyz, and /metrics.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { PROGRAM } from "../../../config/version.ts";
import { errorCode, failureOf, thrownText } from "../../../core/diagnostic.ts";
import { count } from "../../../core/sentences.ts";
import type { FleetWorkspace } from "../../../fleet/model/fleet.ts";
import type { JobQueue, RunningJob } from "../../../fleet/queue/job-queue.ts";
import { runWorker, type WorkerObserver, type WorkerOptions } from "../../../fleet/queue/worker.ts";
import { resultLine } from "../../../fleet/report/fleet-documents.ts";
import { resultJson } from "../../../fleet/report/fleet-json.ts";
import { queueMetrics, WorkerMetrics } from "../../../fleet/report/fleet-metrics.ts";
import { fleetView } from "../../../fleet/report/fleet-view.ts";
import { printable } from "../../../report/text/printable.ts";
import { nodeClock } from "../../../state/backends/file/node-ports.ts";
import { type ConsoleContext, defineCommand } from "../../command/command.ts";
import { durationOption, integerOption, textOption } from "../../command/option.ts";
import { FORM_OPTION } from "../../command/shared-options.ts";
import { ChildPool } from "../../fleet/child-pool.ts";
import { type FleetDatabase, queueFacts, withQueue, workerName } from "../../fleet/fleet-database.ts";
import { FLEET_OPTIONS, MEMORY_MB, MEMORY_OPTION, openFleet } from "../../fleet/fleet-options.ts";
import { runWorkspace } from "../../fleet/run-workspace.ts";
import { printLine } from "../../output/diagnostics.ts";

const PARALLELISM = 4;
const DRAIN_MS = 30_000;
/** Short: the next worker observes the state lock of a killed one for this time before it acquires the lock. */
const STATE_LEASE = "20s";
/** Longer than that lock lasts. */
const LOCK_TIMEOUT_MS = 90_000;

export const workerCommand = defineCommand({
  name: "worker",
  summary: "run jobs of the queue until a signal ends it",
  jsonSchema: "fleet-result",
  options: {
    fleet: FLEET_OPTIONS.fleet,
    parallelism: integerOption("--parallelism <number>", "workspaces at the same time (default: 4)", 1, 64),
    memory: MEMORY_OPTION,
    drain: durationOption(
      "--drain <duration>",
      "time for running jobs after SIGTERM, before they are stopped (default: 30s)",
    ),
    listen: textOption(
      "--listen <address>",
      "answer /healthz, /readyz, and /metrics over HTTP, such as 127.0.0.1:9464 or :9464",
    ),
    ...FORM_OPTION,
  },
  notes:
    "Start any number of workers, on any machine, with the same fleet file. Each apply is a separate process with a memory limit; up to four checks share one. On SIGTERM or Ctrl-C, the worker accepts no more jobs, lets running jobs finish, and stops those that take longer than --drain; another worker repeats them. A second signal ends the worker at once.",
  async run(context, options) {
    const { fleet, selected } = openFleet(context, { ...options, select: [] }, []);
    const worker = workerName();
    const children = new ChildPool(context.env);
    const metrics = new WorkerMetrics();
    const running = new Set<string>();
    const { memory: memoryMb = MEMORY_MB, listen } = options;
    const execute: WorkerOptions["execute"] = (workspace, { command, attempt, id }, signal, logged) => {
      const lockTimeoutMs = LOCK_TIMEOUT_MS;
      const run = { context, fleet, command, children, memoryMb, worker, attempt, logged, lockTimeoutMs };
      running.add(id);
      return runWorkspace({ ...run, stateLease: STATE_LEASE }, workspace, signal).finally(() =>
        running.delete(id),
      );
    };
    const takeJobs = async (queue: JobQueue, database: FleetDatabase, drain: AbortSignal): Promise<void> => {
      const figures = async (): Promise<string> => {
        const ofQueue = await queueFigures(selected, queue, database);
        const memory = process.memoryUsage.rss();
        return metrics.text(running.size, children.processIds.length, memory, PROGRAM) + ofQueue;
      };
      const answers = { notReady: () => notReady(database, drain), metrics: figures };
      const probes = listen === undefined ? undefined : await startProbes(listen, answers);
      context.stderr.write(
        `Worker ${worker} (workspace ${PROGRAM}) takes jobs of ${count(selected.length, "workspace")}.\n`,
      );
      if (probes !== undefined) context.stderr.write(`Probes and metrics: ${probes.url}\n`);
      const { leases, results, pauses } = database;
      const { parallelism = PARALLELISM, drain: drainMs = DRAIN_MS } = options;
      const { limits } = fleet;
      const stores = { queue, leases, pauses, results, clock: nodeClock };
      const times = { parallelism, drain, drainMs };
      try {
        await runWorker(
          { name: worker, program: PROGRAM, workspaces: selected, limits, ...stores, ...times, execute },
          observerOf(context, options.output, metrics),
        );
      } finally {
        await probes?.close();
      }
    };
    const work = async (queue: JobQueue, database: FleetDatabase): Promise<void> => {
      await context.signals.during(
        (drain) => takeJobs(queue, database, drain),
        "Finishing the running jobs. Press Ctrl-C again to exit immediately.\n",
      );
      context.stderr.write(`Worker ${worker} ended.\n`);
    };
    try {
      await withQueue(context, "work", work, { limits: fleet.limits, worker });
    } finally {
      children.close();
    }
  },
});

/** Metrics of the queue, as each worker answers them. */
async function queueFigures(
  workspaces: readonly FleetWorkspace[],
  queue: JobQueue,
  database: FleetDatabase,
): Promise<string> {
  const facts = await queueFacts(queue, database);
  const now = await database.results.now();
  const view = fleetView({ workspaces }, new Map(), now, undefined, facts);
  return view.queue === undefined ? "" : queueMetrics(view.queue, now);
}

/** Why the worker takes no jobs now, if so. */
async function notReady({ results }: FleetDatabase, drain: AbortSignal): Promise<string | undefined> {
  if (drain.aborted) return "the worker ends";
  return results.now().then(
    () => undefined,
    () => "the database does not answer",
  );
}

function observerOf(
  context: ConsoleContext,
  output: "text" | "json",
  metrics: WorkerMetrics,
): WorkerObserver {
  return {
    finished(result) {
      metrics.finished(result);
      printLine(context, output, resultJson({ ...result, log: undefined }), resultLine(result));
    },
    released({ workspace, attempt }: RunningJob, { message }) {
      metrics.released();
      const text = printable(`${workspace}: attempt ${attempt} was not finished: ${message}`);
      context.stderr.write(`${text}\n`);
    },
  };
}

interface ProbeServer {
  readonly url: string;
  close(): Promise<void>;
}

interface Probes {
  /** Why the worker takes no jobs; undefined if it does. */
  readonly notReady: () => Promise<string | undefined>;
  readonly metrics: () => Promise<string>;
}

/** `address`: `127.0.0.1:9464`, or `:9464` for every interface. Throws Failure CLI_USAGE. */
export async function startProbes(address: string, { notReady, metrics }: Probes): Promise<ProbeServer> {
  const [, host, port] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (port === undefined)
    throw failureOf("CLI_USAGE", `"${address}" is not an address to listen on`, {
      hint: "write HOST:PORT, such as 127.0.0.1:9464, or :9464 for every interface",
    });
  const answers: Readonly<Record<string, () => Promise<readonly [number, string]>>> = {
    "/healthz": () => Promise.resolve([200, "ok\n"]),
    "/readyz": async () => {
      const reason = await notReady();
      return reason === undefined ? [200, "ok\n"] : [503, `${reason}\n`];
    },
    "/metrics": async () => [200, await metrics()],
  };
  const server = createServer((request, response) => {
    const answer = answers[(request.url ?? "").split("?")[0] ?? ""];
    const send = ([status, text]: readonly [number, string]): void => {
      response.writeHead(status, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }).end(text);
    };
    if (request.method !== "GET" || answer === undefined) return send([404, "not found\n"]);
    answer().then(send, (problem: unknown) => send([500, `${thrownText(problem)}\n`]));
  });
  server.listen(Number(port), host === "" ? undefined : host);
  try {
    await once(server, "listening");
  } catch (problem) {
    throw failureOf("CLI_USAGE", `the worker cannot listen on ${address}`, {
      cause: errorCode(problem) ?? thrownText(problem),
      hint: "choose another port",
    });
  }
  const { address: bound, port: listening } = server.address() as AddressInfo;
  return {
    url: `http://${bound.includes(":") ? `[${bound}]` : bound}:${listening}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
