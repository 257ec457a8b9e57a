// npm run simulate: any suite at any size. Prints figures, and for each failure the line that runs it again; --write keeps them in docs.

import { parseArgs } from "node:util";
import { didYouMean, suggester } from "../../src/core/suggest.ts";
import { mutants } from "./mutants/mutants.ts";
import { matrixRows } from "./reliability/matrix.ts";
import {
  keep,
  type MutantRecord,
  type Recorded,
  recordOf,
  type Stamp,
  stampNow,
} from "./reliability/record.ts";
import { trySeeded } from "./reliability/seeded.ts";
import { zerosOf, zerosText } from "./reliability/zeros.ts";
import { againLine, type Figures, outcomeOf, runSuite, type Suite } from "./run/suite.ts";
import { suites } from "./suites.ts";
import { cloud, dialect } from "./world/dialect.ts";

const OPTIONS = {
  options: {
    suite: { type: "string" },
    seed: { type: "string", default: "1" },
    count: { type: "string" },
    case: { type: "string" },
    all: { type: "boolean", default: false },
    mutants: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
    impatient: { type: "boolean", default: false },
    only: { type: "string" },
    dialect: { type: "string", default: "contract" },
    show: { type: "string", default: "10" },
    help: { type: "boolean", default: false },
  },
} as const;
const options = optionsOrUsage();

const seed = Number(options.seed);

/** The number of cases in a full run of suites without an end, or with too many cases. */
const FULL: Readonly<Record<string, number>> = {
  double: 3000,
  clocks: 1000,
  properties: 2000,
  kill9: 112,
  specs: 20_000,
};

function chosen(): readonly Suite[] {
  if (options.all) return suites;
  const suite = suites.find(({ name }) => name === options.suite);
  if (suite !== undefined) return [suite];
  if (options.suite === undefined && options.mutants) return [];
  return usage(options.suite === undefined ? undefined : missing("suite", options.suite, suites));
}

function missing(what: string, name: string, known: readonly { readonly name: string }[]): string {
  const meant = didYouMean(
    suggester()(
      name,
      known.map((one) => one.name),
    ),
  );
  return [`there is no ${what} "${name}"`, meant.hint ?? []].flat().join("; ");
}

function optionsOrUsage() {
  try {
    const { values } = parseArgs(OPTIONS);
    return values.help ? usage() : values;
  } catch (problem) {
    return usage((problem as Error).message);
  }
}

function usage(wrong?: string): never {
  if (wrong !== undefined) process.stderr.write(`${wrong}\n\n`);
  process.stderr.write(`usage: npm run simulate -- --suite NAME [--dialect databricks [--only dialect]] [--seed N] [--count N | --case NAME] [--write]
       npm run simulate -- --all [--write]
       npm run simulate -- --mutants [--only NAME] [--write]
`);
  for (const { name, what } of suites) process.stderr.write(`  ${name.padEnd(12)} ${what}\n`);
  return process.exit(2);
}

function countFor(suite: Suite): number | undefined {
  if (options.count !== undefined) return Number(options.count);
  return options.all || options.write ? FULL[suite.name] : undefined;
}

function show({ suite, tried, all, failed, notes, seconds }: Figures): void {
  const of = tried < all ? ` of ${all}` : "";
  const zeros = zerosText(failed.length, zerosOf(suite.name, failed));
  const where = cloud === undefined ? "" : ` in the ${dialect} dialect`;
  process.stdout.write(
    `${suite.name}${where}: ${tried}${of} ${suite.unit}, ${zeros} (${seconds.toFixed(1)} s, seed ${seed})\n`,
  );
  for (const note of notes) process.stdout.write(`  ${note}\n`);
  for (const { name, wrong } of failed.slice(0, Number(options.show))) {
    process.stdout.write(`  ${againLine(suite, name)}\n`);
    for (const line of wrong.slice(0, 5)) process.stdout.write(`    ${line.slice(0, 400)}\n`);
  }
}

async function runCase(suite: Suite, name: string): Promise<number> {
  const wrong = await outcomeOf(suite, name);
  await suite.close?.();
  process.stdout.write(wrong.length === 0 ? "ok\n" : `${wrong.join("\n")}\n`);
  return wrong.length;
}

async function runWhole(suite: Suite, stamp: Stamp | undefined): Promise<number> {
  const count = countFor(suite);
  const figures = await runSuite(suite, {
    seed,
    impatient: options.impatient,
    ...(count === undefined ? {} : { count }),
    ...(options.only === undefined ? {} : { only: options.only }),
  });
  show(figures);
  if (stamp !== undefined) await write(figures, stamp, count);
  return figures.failed.length;
}

async function write(figures: Figures, stamp: Stamp, count: number | undefined): Promise<void> {
  const { suite } = figures;
  const all =
    count === undefined || suite.endless || options.only !== undefined
      ? figures.all
      : (await suite.cases(seed, undefined)).length;
  await suite.close?.();
  const record = recordOf(figures, stamp, count, all);
  if (cloud !== undefined) {
    const table = options.only === undefined ? "databricks" : "ofDialect";
    keep((old) => ({ ...old, [table]: inOrder(suites, { ...old[table], [suite.name]: record }) }));
    return;
  }
  const matrix = suite.name === "crash" ? await matrixRows() : undefined;
  keep((old) => ({
    ...old,
    suites: inOrder(suites, { ...old.suites, [suite.name]: record }),
    ...(matrix === undefined ? {} : { matrix }),
  }));
}

/** Missing cases are omitted. */
function inOrder<T>(
  list: readonly { readonly name: string }[],
  found: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  return Object.fromEntries(
    list.flatMap(({ name }) => {
      const one = found[name];
      return one === undefined ? [] : [[name, one] as const];
    }),
  );
}

function toldOf({ caught, lacked, suite, after, case: noticed }: MutantRecord): string {
  if (lacked !== undefined) return `NOT TRIED: it needs ${lacked}, which is not here`;
  return `${caught ? "caught" : "NOT CAUGHT"} by ${suite} after ${after} cases ${noticed}`;
}

async function runMutants(): Promise<number> {
  const only = options.only ?? "";
  if (!mutants.some(({ name }) => name.includes(only))) usage(missing("seeded bug", only, mutants));
  let missed = 0;
  await trySeeded(options.only ?? "", (name, record) => {
    const { caught, lacked } = record;
    if (!caught && lacked === undefined) missed += 1;
    process.stdout.write(`${name}: ${toldOf(record)}\n`);
    const add = (old: Recorded) => inOrder(mutants, { ...old.mutants, [name]: record });
    if (options.write) keep((old) => ({ ...old, mutants: add(old) }));
  });
  return missed;
}

if (dialect !== "contract" && dialect !== "databricks") usage(`there is no dialect "${dialect}"`);
const ofDialect = cloud !== undefined && options.only === "dialect";
const isPiece =
  options.case !== undefined ||
  options.impatient ||
  (options.only !== undefined && !options.mutants && !ofDialect);
if (options.write && isPiece)
  usage("--write keeps whole runs only: without --case, --impatient, and --only, except for --only dialect");
const todo = chosen();
const stamp = options.write && todo.length > 0 ? stampNow() : undefined;
let failures = 0;
for (const suite of todo)
  failures += options.case === undefined ? await runWhole(suite, stamp) : await runCase(suite, options.case);
if (options.mutants || (options.all && options.write)) failures += await runMutants();
process.exit(failures === 0 ? 0 : 1);
