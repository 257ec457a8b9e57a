// `npm run bench`: the figures of the program on a workspace of 2,170 resources, beside the least that is possible.

import { cpus } from "node:os";
import { measureMain, measureSize, measureStart } from "./measure.ts";
import { measureOpening, OBJECTS } from "./opening.ts";
import { MAIN, resourcesOf, SERIES } from "./sizes.ts";
import { mib, ms, type Row, table } from "./table.ts";

const REPEATS = 3;

const { model = "unknown processor" } = cpus()[0] ?? {};
console.log(
  `Node ${process.versions.node} on ${cpus().length} × ${model}; the emulator runs in a process of its own.\n`,
);
console.log(table(`Main workspace: ${described()}`, await mainRows()));
console.log(table("First apply as the workspace grows", await seriesRows()));
console.log(table("Start", [...(await startRows()), await openingRow()]));

function described(): string {
  const { memberships, ...kinds } = MAIN;
  const parts = Object.entries(kinds).map(([kind, count]) => `${count} ${kind}`);
  return `${resourcesOf(MAIN)} resources (${parts.join(", ")}; ${memberships} memberships)`;
}

async function mainRows(): Promise<Row[]> {
  const { apply, bareCreate, plan, bareRead, peak } = await measureMain(MAIN, REPEATS);
  if (plan.writes > 0) throw new Error(`a plan wrote ${plan.writes} times`);
  return [
    {
      what: "plan without changes, requests",
      measured: `${plan.reads}`,
      against: `${plan.least} least possible`,
      ratio: plan.reads / plan.least,
      aim: 1,
    },
    {
      what: "plan without changes, time",
      measured: ms(plan.ms),
      against: `${ms(bareRead.ms)} bare loop`,
      ratio: plan.ms / bareRead.ms,
      aim: 1.5,
    },
    {
      what: "first apply, requests per resource",
      measured: ((apply.reads + apply.writes) / apply.resources).toFixed(2),
      against: `${(bareCreate.writes / apply.resources).toFixed(2)} bare client`,
      ratio: (apply.reads + apply.writes) / bareCreate.writes,
    },
    {
      what: "first apply, time",
      measured: ms(apply.ms),
      against: `${ms(bareCreate.ms)} bare client`,
      ratio: apply.ms / bareCreate.ms,
      aim: 1.3,
    },
    {
      what: "first apply, time per request",
      measured: perRequest(apply.ms, apply.reads + apply.writes),
      against: `${perRequest(bareCreate.ms, bareCreate.writes)} bare client`,
    },
    { what: `spec of ${apply.lines} lines, peak memory of plan`, measured: mib(peak.plan) },
    { what: "peak memory of first apply", measured: mib(peak.apply) },
  ];
}

function perRequest(time: number, requests: number): string {
  return `${(time / requests).toFixed(2)} ms`;
}

async function seriesRows(): Promise<Row[]> {
  const rows: Row[] = [];
  let first: number | undefined;
  for (const sizes of SERIES) {
    const { resources, ms: time } = await measureSize(sizes, REPEATS);
    const each = time / resources;
    first ??= each;
    rows.push({
      what: `${resources} resources, time per resource`,
      measured: `${each.toFixed(2)} ms`,
      against: `${first.toFixed(2)} ms`,
      ratio: each / first,
      aim: 1.1,
    });
  }
  return rows;
}

async function startRows(): Promise<Row[]> {
  const { version, node } = await measureStart(15);
  return [
    {
      what: "--version, time",
      measured: ms(version),
      against: `${ms(node)} bare Node`,
      ratio: version / node,
      aim: 2,
    },
  ];
}

async function openingRow(): Promise<Row> {
  const { openedMs, answeredMs } = await measureOpening();
  return {
    what: `emulator over ${OBJECTS.toLocaleString("en")} objects, until its first answer`,
    measured: `${ms(answeredMs)} (ready after ${ms(openedMs)})`,
    against: "1000 ms allowed",
    ratio: answeredMs / 1_000,
    aim: 1,
  };
}
