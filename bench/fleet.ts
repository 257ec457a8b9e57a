// Measures a fleet (`npm run fleet`): emulated workspaces, checked for drift by 1, 2, and 4 workers, then while workers are
// killed and the database restarts. `--write` puts the figures into docs/internals/fleet.md. `--soak DAYS` lets days of a driven clock pass instead.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/state/backends/postgres/server.ts";
import { prepareFarm } from "./fleet/prepare.ts";
import { fleetFigures, type Measured, soakTable } from "./fleet/table.ts";
import { runTrial } from "./fleet/trial.ts";

const { values } = parseArgs({
  options: {
    workspaces: { type: "string", default: "1000" },
    workers: { type: "string", default: "1,2,4" },
    parallelism: { type: "string", default: "4" },
    "kill-every": { type: "string", default: "10" },
    seed: { type: "string", default: "1" },
    write: { type: "boolean", default: false },
    soak: { type: "string" },
  },
});

if (values.soak !== undefined) {
  const { soak } = await import("./fleet/soak.ts");
  const { server } = await import("../test/fleet/queue/fleet-server.ts");
  const rounds = Math.round(Number(values.soak) * 96);
  const began = performance.now();
  const { samples, ...figures } = await soak({
    schema: "soak",
    rounds,
    workspaces: 10,
    restartEvery: 200,
    upgradeEvery: 300,
    sampleEvery: Math.max(1, Math.floor(rounds / 14)),
  });
  process.stdout.write(`${JSON.stringify(figures)}\n${soakTable(samples)}\n`);
  process.stdout.write(`${seconds(performance.now() - began)} s\n`);
  server?.stop();
  process.exit(figures.lost + figures.twiceAtOnce === 0 ? 0 : 1);
}

const HOUR_MS = 3_600_000;
const PAGE = join(import.meta.dirname, "../docs/internals/fleet.md");
const MARKS = ["<!-- figures -->\n", "\n<!-- /figures -->"] as const;

const server = startPostgres([]);
if (server === undefined) throw new Error("this measurement needs PostgreSQL");
const folder = mkdtempSync(join(tmpdir(), "fleet-bench-"));
try {
  const count = Number(values.workspaces);
  const began = performance.now();
  const farm = await prepareFarm({ folder, count });
  process.stdout.write(`${count} workspaces ready after ${seconds(performance.now() - began)} s\n`);
  const database = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(server.folder)}`;
  const common = {
    farm,
    folder,
    database,
    parallelism: Number(values.parallelism),
    random: randomOf(Number(values.seed)),
    deadlineMs: HOUR_MS,
  };
  const calm = [];
  for (const workers of values.workers.split(",").map(Number)) {
    const load = loadavg()[0] ?? 0;
    for (const figures of await runTrial({ ...common, workers, rounds: 2 })) {
      calm.push({ ...figures, load });
      process.stdout.write(`${JSON.stringify(figures)}\n`);
    }
  }
  const load = loadavg()[0] ?? 0;
  const [killed] = await runTrial({
    ...common,
    workers: 4,
    rounds: 1,
    killEveryMs: Number(values["kill-every"]) * 1000,
    halfway: () => server.restart(),
  });
  if (killed === undefined) throw new Error("the trial has no round");
  process.stdout.write(`${JSON.stringify({ ...killed, load })}\n`);
  const measured: Measured = {
    calm,
    killed: { ...killed, load },
    cores: availableParallelism(),
    parallelism: common.parallelism,
    memoryMiB: Math.round(process.memoryUsage().rss / 2 ** 20),
  };
  const text = fleetFigures(measured);
  process.stdout.write(`${text}\n`);
  if (values.write) writeFigures(text);
  await farm.close();
  process.exitCode = killed.lost + killed.twiceAtOnce + killed.failed === 0 ? 0 : 1;
} finally {
  server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function writeFigures(text: string): void {
  const page = readFileSync(PAGE, "utf8");
  const [start, end] = [page.indexOf(MARKS[0]), page.indexOf(MARKS[1])];
  if (start < 0 || end < 0) throw new Error("docs/internals/fleet.md has no marks for the figures");
  writeFileSync(PAGE, `${page.slice(0, start + MARKS[0].length)}${text}${page.slice(end)}`);
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1);
}

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
