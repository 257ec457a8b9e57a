// npm run simulate: any suite at any size. Prints figures, and for each failure the line that runs it again.

import { parseArgs } from "node:util";
import { againLine, type Figures, outcomeOf, runSuite, type Suite } from "./suite.ts";
import { suites } from "./suites.ts";

const { values: options } = parseArgs({
  options: {
    suite: { type: "string" },
    seed: { type: "string", default: "1" },
    count: { type: "string" },
    case: { type: "string" },
    all: { type: "boolean", default: false },
    impatient: { type: "boolean", default: false },
    only: { type: "string" },
    sample: { type: "boolean", default: false },
    show: { type: "string", default: "10" },
  },
});

const seed = Number(options.seed);

function chosen(): readonly Suite[] {
  if (options.all) return suites;
  const suite = suites.find(({ name }) => name === options.suite);
  if (suite !== undefined) return [suite];
  process.stderr.write(`usage: npm run simulate -- --suite NAME [--seed N] [--count N | --case NAME]\n`);
  for (const { name, what } of suites) process.stderr.write(`  ${name.padEnd(12)} ${what}\n`);
  return process.exit(2);
}

function show({ suite, tried, all, failed, notes, seconds }: Figures): void {
  const of = tried < all ? ` of ${all}` : "";
  process.stdout.write(
    `${suite.name}: ${tried}${of} ${suite.unit}, failures = ${failed.length} (${seconds.toFixed(1)} s, seed ${seed})\n`,
  );
  for (const note of notes) process.stdout.write(`  ${note}\n`);
  for (const { name, wrong } of failed.slice(0, Number(options.show))) {
    process.stdout.write(`  ${againLine(suite, name)}\n`);
    for (const line of wrong.slice(0, 5)) process.stdout.write(`    ${line.slice(0, 400)}\n`);
  }
}

let failures = 0;
for (const suite of chosen()) {
  if (options.case !== undefined) {
    const wrong = await outcomeOf(suite, options.case);
    await suite.close?.();
    process.stdout.write(wrong.length === 0 ? "ok\n" : `${wrong.join("\n")}\n`);
    failures += wrong.length;
    continue;
  }
  const count = options.sample
    ? suite.sample
    : options.count === undefined
      ? undefined
      : Number(options.count);
  const figures = await runSuite(suite, {
    seed,
    impatient: options.impatient,
    ...(count === undefined ? {} : { count }),
    ...(options.only === undefined ? {} : { only: options.only }),
  });
  show(figures);
  failures += figures.failed.length;
}
process.exit(failures === 0 ? 0 : 1);
