// The figures of a fleet in the text format of Prometheus: of the whole fleet from its results, and of one worker since it started.

import { metricText, type Sample, sampleText } from "../../report/metrics/prometheus.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { FLEET_COMMANDS, RESULT_STATUSES, type WorkspaceResult } from "../model/result.ts";
import { FLEET_STATES, type FleetRow, type FleetView, type QueueView } from "./fleet-view.ts";

const gauge = (name: string, help: string, samples: readonly Sample[]): string =>
  metricText(name, "gauge", help, samples);

export function fleetMetrics(view: FleetView): string {
  const ofRows = (name: string, help: string, value: (row: FleetRow) => number | undefined): string =>
    gauge(
      name,
      help,
      view.rows.flatMap((row): readonly Sample[] => {
        const number = value(row);
        return number === undefined ? [] : [[{ workspace: row.workspace }, number]];
      }),
    );
  return [
    gauge(
      "workspace_fleet_status",
      "Status of the last run: 1 for the one that applies, 0 for every other.",
      view.rows.flatMap(({ workspace, status: own }) =>
        [...RESULT_STATUSES, "never"].map(
          (status): Sample => [{ workspace, status }, status === own ? 1 : 0],
        ),
      ),
    ),
    gauge(
      "workspace_fleet_workspaces",
      "Workspaces by state: failed, blocked, drift, changes, never, or ok.",
      FLEET_STATES.map((state): Sample => [{ state }, view.states[state] ?? 0]),
    ),
    gauge(
      "workspace_fleet_drift",
      "Drifted resources that the last drift run found; absent before the first one.",
      view.rows
        .filter(({ trend }) => trend.length > 0)
        .flatMap(({ workspace, drift }) =>
          SEVERITIES.map((severity): Sample => [{ workspace, severity }, drift[severity] ?? 0]),
        ),
    ),
    ofRows(
      "workspace_fleet_last_run_timestamp_seconds",
      "Unix time at which the last run ended.",
      ({ last }) => last && (last.startedAt + last.durationMs) / 1000,
    ),
    ofRows(
      "workspace_fleet_run_duration_seconds",
      "Time that the last run took.",
      ({ last }) => last && last.durationMs / 1000,
    ),
    ofRows(
      "workspace_fleet_drift_age_seconds",
      "Time since the first run that found the open drift; absent without drift.",
      ({ driftAgeMs }) => (driftAgeMs === undefined ? undefined : driftAgeMs / 1000),
    ),
    ofRows(
      "workspace_fleet_failures_in_a_row",
      "Runs without an answer since the last answer.",
      ({ failuresInARow }) => failuresInARow,
    ),
    view.queue === undefined ? "" : queueMetrics(view.queue, view.madeAt),
  ].join("");
}

export function queueMetrics(
  { queued, waiting, running, workers, pauses, dead }: QueueView,
  now: number,
): string {
  const perCommand = (name: string, help: string, value: (command: string) => number): string =>
    gauge(
      name,
      help,
      FLEET_COMMANDS.map((command): Sample => [{ command }, value(command)]),
    );
  const of = (command: string) => (job: { readonly command: string | undefined }) => job.command === command;
  return [
    perCommand(
      "workspace_fleet_queue_jobs",
      "Jobs that are ready to run.",
      (command) => queued.filter(of(command)).length,
    ),
    perCommand("workspace_fleet_queue_age_seconds", "Time that the oldest ready job has waited.", (command) =>
      queued
        .filter(of(command))
        .reduce(
          (most, { createdAt, startAfter }) => Math.max(most, (now - Math.max(createdAt, startAfter)) / 1000),
          0,
        ),
    ),
    perCommand(
      "workspace_fleet_queue_waiting",
      "Jobs that wait for their time, for a wave, or for the end of a pause.",
      (command) => waiting.filter(of(command)).length,
    ),
    perCommand(
      "workspace_fleet_running",
      "Runs under a lease.",
      (command) => running.filter(of(command)).length,
    ),
    gauge("workspace_fleet_dead_letters", "Workspaces with a job that failed at every attempt.", [
      [{}, dead.length],
    ]),
    gauge("workspace_fleet_pauses", "Pauses that are not over.", [[{}, pauses.length]]),
    gauge(
      "workspace_fleet_workers",
      "Workers by version; silent ones missed three heartbeats.",
      [...Map.groupBy(workers, ({ version, live }) => `${version} ${live ? "live" : "silent"}`)].map(
        ([key, own]): Sample => {
          const [version = "", state = ""] = key.split(" ");
          return [{ version, state }, own.length];
        },
      ),
    ),
  ].join("");
}

/** Upper limits of the histogram of run times, in seconds. */
const BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600] as const;

interface Histogram {
  readonly counts: number[];
  sum: number;
  total: number;
}

/** Counts what a worker ran. */
export class WorkerMetrics {
  readonly #runs = new Map<string, number>();
  readonly #durations = new Map<string, Histogram>();
  #retries = 0;
  #requestRetries = 0;
  #lockWaits = 0;
  #lockWaitSeconds = 0;
  #released = 0;
  #largestChild = 0;

  finished(result: WorkspaceResult): void {
    const { command, requests, lockWaitMs } = result;
    const key = `${command} ${result.status}`;
    this.#runs.set(key, (this.#runs.get(key) ?? 0) + 1);
    const histogram = this.#durations.get(command) ?? { counts: BUCKETS.map(() => 0), sum: 0, total: 0 };
    const seconds = result.durationMs / 1000;
    BUCKETS.forEach((limit, at) => {
      if (seconds <= limit) histogram.counts[at] = (histogram.counts[at] ?? 0) + 1;
    });
    histogram.sum += seconds;
    histogram.total += 1;
    this.#durations.set(command, histogram);
    if (result.triedAgain === true) this.#retries += 1;
    this.#requestRetries += requests?.retried ?? 0;
    if (lockWaitMs !== undefined) this.#lockWaits += 1;
    this.#lockWaitSeconds += (lockWaitMs ?? 0) / 1000;
    this.#largestChild = Math.max(this.#largestChild, result.memoryBytes ?? 0);
  }

  released(): void {
    this.#released += 1;
  }

  /** `children`: the processes of runs, now. */
  text(running: number, children: number, memoryBytes: number, version: string): string {
    const single = (name: string, type: "gauge" | "counter", help: string, value: number): string =>
      metricText(name, type, help, [[{}, value]]);
    return [
      gauge("workspace_worker_info", "The program of this worker; always 1.", [[{ version }, 1]]),
      metricText(
        "workspace_worker_runs_total",
        "counter",
        "Runs that ended, by command and outcome.",
        [...this.#runs].sort().map(([key, value]): Sample => {
          const [command = "", outcome = ""] = key.split(" ");
          return [{ command, outcome }, value];
        }),
      ),
      this.#histograms(),
      single("workspace_worker_retries_total", "counter", "Runs that the queue tries again.", this.#retries),
      single(
        "workspace_worker_released_total",
        "counter",
        "Jobs that went back before they had a result.",
        this.#released,
      ),
      single(
        "workspace_worker_request_retries_total",
        "counter",
        "Requests of runs that were sent again.",
        this.#requestRetries,
      ),
      single(
        "workspace_worker_lock_waits_total",
        "counter",
        "Runs that waited for the lock of a state.",
        this.#lockWaits,
      ),
      single(
        "workspace_worker_lock_wait_seconds_total",
        "counter",
        "Time that runs waited for locks of states.",
        this.#lockWaitSeconds,
      ),
      single("workspace_worker_running", "gauge", "Runs at this moment.", running),
      single("workspace_worker_children", "gauge", "Processes of runs.", children),
      single(
        "workspace_worker_child_memory_bytes",
        "gauge",
        "Greatest resident memory of a run since the worker started.",
        this.#largestChild,
      ),
      single("workspace_worker_memory_bytes", "gauge", "Resident memory of the worker itself.", memoryBytes),
    ].join("");
  }

  #histograms(): string {
    const name = "workspace_worker_run_duration_seconds";
    const lines = [...this.#durations]
      .sort()
      .flatMap(([command, { counts, sum, total }]) => [
        ...counts.map((number, at) =>
          sampleText(`${name}_bucket`, [{ command, le: String(BUCKETS[at]) }, number]),
        ),
        sampleText(`${name}_bucket`, [{ command, le: "+Inf" }, total]),
        sampleText(`${name}_sum`, [{ command }, sum]),
        sampleText(`${name}_count`, [{ command }, total]),
      ]);
    return lines.length === 0
      ? ""
      : `# HELP ${name} Time of runs.\n# TYPE ${name} histogram\n${lines.join("")}`;
  }
}
