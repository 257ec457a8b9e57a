// A worker in this process for the tests of the queue.

import type { QueueUser } from "../../../src/cli/fleet/fleet-database.ts";
import type { FleetWorkspace } from "../../../src/fleet/model/fleet.ts";
import type { WorkspaceResult } from "../../../src/fleet/model/result.ts";
import type { RunningJob } from "../../../src/fleet/queue/job-queue.ts";
import { runWorker } from "../../../src/fleet/queue/worker.ts";
import { nodeClock } from "../../../src/state/backends/file/node-ports.ts";
import { openFleet } from "./fleet-server.ts";

export type ExecuteInTest = (
  workspace: FleetWorkspace,
  signal: AbortSignal,
  job: RunningJob,
  logged: (log: string) => void,
) => Promise<WorkspaceResult>;

export interface WorkerInTest {
  readonly drainMs?: number;
  readonly parallelism?: number;
  readonly limits?: QueueUser;
  /** The version that results and the list of workers name. */
  readonly program?: string;
  readonly pollingS?: number;
}

/** A worker that ends with `end`; `events` are its observations in order. */
export async function startWorker(
  schema: string,
  workspaces: readonly FleetWorkspace[],
  execute: ExecuteInTest,
  { drainMs = 10_000, parallelism = 2, limits = {}, program = "0.1.0", pollingS }: WorkerInTest = {},
) {
  const fleet = await openFleet(schema);
  const queue = await fleet.openQueue("work", { worker: "tester", ...limits }, { program, pollingS });
  const drain = new AbortController();
  const events: string[] = [];
  const waiting: (() => void)[] = [];
  const note = (text: string): void => {
    events.push(text);
    for (const wake of waiting.splice(0)) wake();
  };
  const ended = runWorker(
    {
      name: "tester",
      program,
      workspaces,
      limits: limits.limits,
      queue,
      leases: fleet.leases,
      pauses: fleet.pauses,
      results: fleet.results,
      clock: nodeClock,
      parallelism,
      drain: drain.signal,
      drainMs,
      execute: (workspace, job, signal, logged) => execute(workspace, signal, job, logged),
    },
    {
      started: ({ workspace }) => note(`started ${workspace}`),
      finished: ({ workspace, status }) => note(`${workspace} ${status}`),
      released: ({ workspace }, { code }) => note(`${workspace} released ${code}`),
    },
  );
  return {
    seen: events,
    fleet,
    queue,
    async saw(text: string) {
      while (!events.includes(text)) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async end() {
      drain.abort();
      await ended;
      await queue.close();
      await fleet.database.close();
    },
  };
}
