// `npm run bench`: the figures of the program on a workspace of 2,170 resources, beside the least that is possible.

import { cpus } from "node:os";
import { type ApplyFigures, measureMain, measureSize, measureStart } from "./measure.ts";
import { measureOpening, OBJECTS } from "./opening.ts";
import { MAIN, resourcesOf, SERIES, type Sizes, WITH_CONTENTS } from "./sizes.ts";
import { mib, ms, type Row, table } from "./table.ts";

const REPEATS = 3;

const { model = "unknown processor" } = cpus()[0] ?? {};
console.log(
  `Node ${process.versions.node} on ${cpus().length} × ${model}; the emulator runs in a process of its own.\n`,
);
console.log(table(`Main workspace: ${described(MAIN)}`, await mainRows(MAIN)));
console.log(table(`With contents: ${described(WITH_CONTENTS)}`, await mainRows(WITH_CONTENTS)));
console.log(table("First apply as the workspace grows", await seriesRows()));
console.log(table("Start", [...(await startRows()), await openingRow()]));

function described(sizes: Sizes): string {
  const { memberships, ...kinds } = sizes;
  const parts = Object.entries(kinds).flatMap(([kind, number]) =>
    number === 0 ? [] : [`${number} ${kind}`],
  );
  return `${resourcesOf(sizes).toLocaleString("en")} resources\n(${parts.join(", ")}; ${memberships} memberships)`;
}

async function mainRows(sizes: Sizes): Promise<Row[]> {
  const { apply, bareCreate, plan, validateMs, bareRead, peak } = await measureMain(sizes, REPEATS);
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
      what: `  of that, reading and checking ${apply.lines} lines of spec`,
      measured: ms(validateMs),
    },
    {
      what: "  the rest",
      measured: ms(plan.ms - validateMs),
      against: `${ms(bareRead.ms)} bare loop`,
      ratio: (plan.ms - validateMs) / bareRead.ms,
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
    { what: "peak memory of the plan", measured: mib(peak.plan) },
    { what: "peak memory of first apply", measured: mib(peak.apply) },
  ];
}

function perRequest(time: number, requests: number): string {
  return `${(time / requests).toFixed(2)} ms`;
}

/** The whole run over all resources, and what each further resource costs: the second leaves out what every run pays once. */
async function seriesRows(): Promise<Row[]> {
  const figures: ApplyFigures[] = [];
  for (const sizes of SERIES) figures.push(await measureSize(sizes, REPEATS));
  const whole = figures.map((one) => ({
    what: `${count(one)} resources, time per resource`,
    each: one.ms / one.resources,
  }));
  const further = figures.slice(1).map((one, n) => {
    const before = figures[n] ?? one;
    const what = `each further resource, ${count(before)} to ${count(one)}`;
    return { what, each: (one.ms - before.ms) / (one.resources - before.resources) };
  });
  return [...against(whole), ...against(further)];
}

function count({ resources }: ApplyFigures): string {
  return resources.toLocaleString("en");
}

/** Each beside the first of them. */
function against(series: readonly { readonly what: string; readonly each: number }[]): Row[] {
  const first = series[0]?.each ?? 1;
  return series.map(({ what, each }, n) => ({
    what,
    measured: `${each.toFixed(2)} ms`,
    ...(n === 0 ? {} : { against: `${first.toFixed(2)} ms`, ratio: each / first, aim: 1.1 }),
  }));
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
