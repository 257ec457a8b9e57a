// The figures as Markdown.

import type { SoakSample } from "./soak.ts";
import { RESOURCES } from "./template.ts";
import type { TrialFigures } from "./trial.ts";

type WithLoad = TrialFigures & { readonly load: number };

export interface Measured {
  readonly calm: readonly WithLoad[];
  readonly killed: WithLoad;
  readonly cores: number;
  readonly parallelism: number;
  readonly memoryMiB: number;
}

export function fleetFigures({ calm, killed, cores, parallelism, memoryMiB }: Measured): string {
  const number = (value: number) => Math.round(value).toLocaleString("en-US");
  const rows = calm.map(
    ({ workers, round, seconds, cpuSeconds, checked, failed, twiceAtOnce, load }) =>
      `| ${workers} | ${round} | ${seconds.toFixed(0)} | ${number((checked / seconds) * 3600)} | ${number((checked / cpuSeconds) * 3600)} | ${((cpuSeconds / checked) * 1000).toFixed(0)} | ${failed} | ${twiceAtOnce} | ${load.toFixed(1)} |`,
  );
  return [
    `${number(killed.workspaces)} emulated workspaces of ${RESOURCES} resources in one process (${memoryMiB} MiB), ${parallelism} checks at the same time in each worker, workers, farm, and`,
    `PostgreSQL on one machine with ${cores} cores. In round 2, the same workers check all again: the processes of their runs have started. The last column has the load before the trial.`,
    "",
    "| workers | round | seconds | checks per hour | checks per hour and core of worker time | worker ms per check | failed | twice at once | load |",
    "|---|---|---|---|---|---|---|---|---|",
    ...rows,
    "",
    `With \`kill -9\` of a random worker for the whole run (${killed.killed} kills, 4 workers) and a restart of PostgreSQL in the middle: ${number(killed.checked)} of ${number(killed.workspaces)}`,
    `workspaces checked in ${killed.seconds.toFixed(0)} s, ${killed.visits - killed.workspaces} checks begun again after a kill, **${killed.failed}** failed, **${killed.lost}** lost, **${killed.twiceAtOnce}** run twice at once as seen by the emulators (load ${killed.load.toFixed(1)}).`,
  ].join("\n");
}

/** What stays flat over days: one line for each sample. */
export function soakTable(samples: readonly SoakSample[]): string {
  const rows = samples.map(({ round, heapMiB, results, jobs, databaseMiB }) => {
    const day = (round / 96).toFixed(1);
    return `| ${day} | ${heapMiB} | ${results} | ${jobs} | ${databaseMiB} |`;
  });
  return [
    "| day | heap of the worker in MiB | results | jobs | database in MiB |",
    "|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}
