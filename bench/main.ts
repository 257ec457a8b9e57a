// `npm run bench`: the figures of the program on a workspace of 2,170 resources, compared with the least possible.
// `npm run bench -- --write` also writes them to docs/bench.md; `--quick` omits the contents and the series. `--large` measures
// large workspaces only; `--before FOLDER` compares them with the program in another checkout; `--limited` measures a limited service only.

import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join, resolve } from "node:path";
import { CHROMIUM } from "../test/report/html/chromium.ts";
import { LARGE_SIZES, type LargeFigures, measureLarge } from "./large.ts";
import { LIMIT, measureLimited } from "./limited.ts";
import { type ApplyFigures, measureMain, measureSeries, measureStart } from "./measure.ts";
import { INSTANCES, measureModules } from "./modules.ts";
import { measureOpening, OBJECTS } from "./opening.ts";
import { CHANGES, measurePage } from "./page.ts";
import { picture } from "./picture.ts";
import { MAIN, resourcesOf, SERIES, type Sizes, WITH_CONTENTS } from "./sizes.ts";
import { mib, ms, type Row, table } from "./table.ts";

const REPEATS = 3;
const QUICK = process.argv.includes("--quick");

const told: string[] = [];
function tell(text: string): void {
  told.push(text);
  console.log(text);
}

const { model = "unknown processor" } = cpus()[0] ?? {};
tell(
  `Node ${process.versions.node} on ${cpus().length} × ${model}; the emulator runs in a separate process.`,
);
tell(`Load when it began: ${loadavg()[0]?.toFixed(1)}.\n`);
const ONLY_LARGE = process.argv.includes("--large");
const ONLY_LIMITED = process.argv.includes("--limited");
const ALL = !ONLY_LARGE && !ONLY_LIMITED;
if (ALL) tell(table(`Main workspace: ${described(MAIN)}`, await mainRows(MAIN)));
if (ALL && !QUICK) {
  tell(table(`With contents: ${described(WITH_CONTENTS)}`, await mainRows(WITH_CONTENTS)));
  tell(table("First apply as the workspace grows", await seriesRows()));
}
if (ONLY_LARGE || (ALL && !QUICK))
  tell(table("Large workspaces: scopes of 1,000 secrets", await largeRows()));
if (ONLY_LIMITED || (ALL && !QUICK))
  tell(
    table(
      `A service with ${LIMIT.latencyMs} ms a request and ${LIMIT.perSecond} requests a second for each endpoint`,
      await limitedRows(),
    ),
  );
if (ALL) tell(table("Start", [...(await startRows()), await openingRow()]));
if (ALL) tell(table("Modules", [await moduleRow()]));
if (ALL && CHROMIUM !== undefined) tell(table("HTML page", await pageRows()));
tell(`Load when it ended: ${loadavg()[0]?.toFixed(1)}.`);
if (process.argv.includes("--write")) write();

function write(): void {
  const pictures = ONLY_LIMITED || QUICK ? [] : ["time", "memory"];
  const text = `# Measurements\n\nWritten by \`npm run bench -- --write\` on ${new Date().toISOString().slice(0, 10)}.
Of several runs in turn the fastest counts; a ratio is compared with its aim. Jobs are made in two phases (made inert, recorded,
then given their settings), so that a crash leaves none that is not recorded: a first apply sends twice the requests for a job by design.
"The same requests" is a bare client that does so, too, and reads the lists before and after. Where the time of a large plan
goes is in [decision 0033](decisions/0033-large-workspaces.md).
${pictures.map((name) => `\n![${name}](images/bench-${name}.svg)\n`).join("")}
\`\`\`
${told.join("\n").trimEnd()}
\`\`\`
`;
  writeFileSync(join(import.meta.dirname, "../docs/bench.md"), text);
}

function described(sizes: Sizes): string {
  const { memberships, ...kinds } = sizes;
  const parts = Object.entries(kinds).flatMap(([kind, number]) =>
    number === 0 ? [] : [`${number} ${kind}`],
  );
  return `${resourcesOf(sizes).toLocaleString("en")} resources\n(${parts.join(", ")}; ${memberships} memberships)`;
}

async function mainRows(sizes: Sizes): Promise<Row[]> {
  const { apply, bareCreate, bareSame, plan, validate, bareRead } = await measureMain(sizes, REPEATS);
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
      what: "  on processors",
      measured: ms(plan.cpuMs),
      against: `${ms(bareRead.cpuMs)} bare loop`,
      ratio: plan.cpuMs / bareRead.cpuMs,
    },
    {
      what: `  reading and checking ${apply.lines} lines of spec alone (validate)`,
      measured: ms(validate.ms),
    },
    {
      what: "first apply, requests per resource",
      measured: (requests(apply) / apply.resources).toFixed(2),
      against: `${(bareCreate.writes / apply.resources).toFixed(2)} bare client`,
      ratio: requests(apply) / bareCreate.writes,
    },
    {
      what: "first apply, time",
      measured: ms(apply.ms),
      against: `${ms(bareCreate.ms)} bare client`,
      ratio: apply.ms / bareCreate.ms,
      aim: 1.3,
    },
    {
      what: "  against the same requests",
      measured: ms(apply.ms),
      against: `${ms(bareSame.ms)} bare, ${requests(bareSame)} requests`,
      ratio: apply.ms / bareSame.ms,
    },
    {
      what: "  on processors",
      measured: ms(apply.cpuMs),
      against: `${ms(bareSame.cpuMs)} bare`,
      ratio: apply.cpuMs / bareSame.cpuMs,
    },
    {
      what: "  time per request",
      measured: perRequest(apply.ms, requests(apply)),
      against: `${perRequest(bareCreate.ms, bareCreate.writes)} bare client`,
    },
    { what: "peak memory of the plan", measured: mib(plan.peak) },
    { what: "peak memory of first apply", measured: mib(apply.peak) },
  ];
}

function requests({ reads, writes }: { readonly reads: number; readonly writes: number }): number {
  return reads + writes;
}

function perRequest(time: number, requests: number): string {
  return `${(time / requests).toFixed(2)} ms`;
}

/** The whole run over all resources, and what each further resource costs: the second leaves out what every run pays once. */
async function seriesRows(): Promise<Row[]> {
  const figures = await measureSeries(SERIES, REPEATS);
  const whole = figures.map((one) => ({
    what: `${count(one)} resources, time per resource`,
    each: one.ms / one.resources,
  }));
  const each = (time: "ms" | "cpuMs") =>
    figures.slice(1).map((one, n) => further(figures[n] ?? one, one, time));
  return [...against(whole), ...against(each("ms")), ...against(each("cpuMs"))];
}

/** On processors, too: what others do on the machine at the time shows less there. */
function further(before: ApplyFigures, one: ApplyFigures, time: "ms" | "cpuMs") {
  const where = time === "cpuMs" ? " on processors" : "";
  return {
    what: `each further resource${where}, ${count(before)} to ${count(one)}`,
    each: (one[time] - before[time]) / (one.resources - before.resources),
  };
}

function count({ resources }: Pick<ApplyFigures, "resources">): string {
  return resources.toLocaleString("en");
}

/** Each compared with the first of them. */
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

async function moduleRow(): Promise<Row> {
  const { flatMs, modularMs } = await measureModules();
  return {
    what: `load of ${INSTANCES.toLocaleString("en")} instances of a module with 20 resources`,
    measured: ms(modularMs),
    against: `${ms(flatMs)} written out`,
    ratio: modularMs / flatMs,
    aim: 2,
  };
}

async function largeRows(): Promise<Row[]> {
  const figures: LargeFigures[] = [];
  for (const scopes of LARGE_SIZES) figures.push(await measureLarge(scopes, REPEATS));
  const before = process.argv[process.argv.indexOf("--before") + 1];
  const old =
    process.argv.includes("--before") && before !== undefined
      ? await measureLarge(LARGE_SIZES.at(-1) ?? 1, REPEATS, join(resolve(before), "bin/workspace.js"))
      : undefined;
  if (process.argv.includes("--write")) draw(figures);
  const [first] = figures;
  return figures.flatMap((one) => {
    const size = `${count(one)} resources`;
    const each = one.plan.cpuMs / one.resources;
    const base = (first?.plan.cpuMs ?? 1) / (first?.resources ?? 1);
    const isLast = one === figures.at(-1);
    const ratio = (now: number, then: number | undefined, shown: (value: number) => string, aim: number) =>
      !isLast || then === undefined ? {} : { against: `${shown(then)} before`, ratio: now / then, aim };
    return [
      {
        what: `${size}, plan without changes, time`,
        measured: ms(one.plan.ms),
        ...ratio(one.plan.ms, old?.plan.ms, ms, 0.36),
      },
      {
        what: "  on processors",
        measured: ms(one.plan.cpuMs),
        ...ratio(one.plan.cpuMs, old?.plan.cpuMs, ms, 0.36),
      },
      {
        what: "  on processors, for each resource",
        measured: `${each.toFixed(3)} ms`,
        ...(one === first ? {} : { against: `${base.toFixed(3)} ms`, ratio: each / base, aim: 1.2 }),
      },
      {
        what: "  peak memory",
        measured: mib(one.plan.peak),
        ...ratio(one.plan.peak, old?.plan.peak, mib, 0.52),
      },
      {
        what: `${size}, first apply, time`,
        measured: ms(one.apply.ms),
        ...ratio(one.apply.ms, old?.apply.ms, ms, 1),
      },
      {
        what: "  peak memory",
        measured: mib(one.apply.peak),
        against: "500 MiB allowed",
        ratio: one.apply.peak / (500 * 2 ** 20),
        aim: 1,
      },
      { what: `${size}, validate, time`, measured: ms(one.validate.ms) },
      { what: `${size}, state list, time`, measured: ms(one.state.ms) },
    ];
  });
}

function draw(figures: readonly LargeFigures[]): void {
  const line = (of: (one: LargeFigures) => number) =>
    figures.map((one) => ({ x: one.resources, y: of(one) }));
  const draws = {
    time: picture("Time on processors", "s", [
      { name: "first apply", color: "#a33", points: line(({ apply }) => apply.cpuMs / 1_000) },
      { name: "plan without changes", color: "#36c", points: line(({ plan }) => plan.cpuMs / 1_000) },
      { name: "validate", color: "#393", points: line(({ validate }) => validate.cpuMs / 1_000) },
    ]),
    memory: picture("Peak memory", "MiB", [
      { name: "first apply", color: "#a33", points: line(({ apply }) => apply.peak / 2 ** 20) },
      { name: "plan without changes", color: "#36c", points: line(({ plan }) => plan.peak / 2 ** 20) },
      { name: "validate", color: "#393", points: line(({ validate }) => validate.peak / 2 ** 20) },
    ]),
  };
  for (const [name, text] of Object.entries(draws))
    writeFileSync(join(import.meta.dirname, `../docs/images/bench-${name}.svg`), text);
}

async function limitedRows(): Promise<Row[]> {
  const { resources, ms: took, leastMs, refused, lateRefused } = await measureLimited();
  return [
    {
      what: `first apply of ${resources} resources, time`,
      measured: ms(took),
      against: `${ms(leastMs)} least possible`,
      ratio: took / leastMs,
      aim: 1.1,
    },
    { what: "  requests refused with 429", measured: `${refused}` },
    { what: "  after the first ten seconds", measured: `${lateRefused}` },
  ];
}

async function pageRows(): Promise<Row[]> {
  const { makeMs, filterMs } = await measurePage();
  const what = `page of ${CHANGES.toLocaleString("en")} changes`;
  return [
    { what: `${what}, made`, measured: ms(makeMs) },
    {
      what: `${what}, filtered in Chromium (slowest of 6 inputs)`,
      measured: ms(filterMs),
      against: "100 ms allowed",
      ratio: filterMs / 100,
      aim: 1,
    },
  ];
}
