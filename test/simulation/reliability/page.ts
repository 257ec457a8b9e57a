// docs/internals/reliability.md, generated from the recorded figures as a pure string, so that a test can compare the page with
// the figures.

import { MOMENTS } from "../faults/moments.ts";
import type { MutantRecord, Recorded, RoomRecord, Stamp, SuiteRecord } from "./record.ts";
import { zerosText } from "./zeros.ts";

/** Suites whose cases end with every check of `invariants.ts`. */
const CHECKED = [
  "crash",
  "double",
  "cut",
  "late",
  "repeat",
  "faults",
  "properties",
  "zombie",
  "shared",
  "clocks",
  "disk",
];

const listed = (names: readonly string[]): string =>
  `${names.slice(0, -1).join(", ")} or ${names.at(-1) ?? ""}`;

const INTRODUCTION = `# Tested faults

This page lists every fault that is tested. No other fault tolerance is claimed. A case runs a complete apply in one process against the
emulator, with a simulated clock, disk, network, and random source, and injects one fault: a crash, an error, another process, another user, or
a damaged file. After a simulated crash, no call returns and no write happens. Suites that say so kill real processes over HTTP.

After a case of ${listed(CHECKED)}, and after the next run,
all of these hold: every managed resource matches the spec; the next plan is empty; unmanaged objects are unchanged; state and
workspace contain the same objects, without duplicates; the service received exactly the planned writes; no output, state, journal, plan,
log, or error contains a secret, in any encoding; no unplanned run started and no unplanned e-mail was sent; no intent is
unresolved, and the lock is free. For real processes, the checks cover exit codes, the next plan, the state, duplicate names,
secrets, and e-mails. The other suites describe their checks. The cases of a figure that is not zero are listed below the table.
`;

const number = (value: number): string => value.toLocaleString("en");

/** Text as a cell of a table shows it. */
const cell = (text: string): string => text.replaceAll("\n", " ").replaceAll("|", "\\|");

/** Text between backticks, whatever it holds. */
const code = (text: string): string => (text.includes("`") ? `\`\` ${text} \`\`` : `\`${text}\``);

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return `${[line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")}\n`;
}

export function pageOf(recorded: Recorded): string {
  const { suites, databricks = {}, ofDialect = {}, matrix, mutants, rooms = {} } = recorded;
  return [
    INTRODUCTION,
    stampText(Object.values(suites)),
    table(
      ["suite", "what it tests", "figures", "seconds", "repeat with"],
      Object.entries(suites).map(([name, record]) => suiteRow(name, record)),
    ),
    ...failuresText(suites),
    "## In the Databricks dialect\n",
    "The same suites against the emulator that speaks the Databricks dialect, for Azure.\n",
    dialectTable(databricks, DATABRICKS),
    ...failuresText(databricks, DATABRICKS),
    "The cases over the kinds that only this dialect has, access lists, and libraries:\n",
    dialectTable(ofDialect, [...DATABRICKS, ONLY_DIALECT]),
    ...failuresText(ofDialect, DATABRICKS),
    "## The crash matrix\n",
    "Every operation that writes, and each moment around it at which a process can crash, with the number of tested points. Each point is tested",
    "with a killed process, with a power failure, and with a user who then reverts the spec.\n",
    table(
      ["operation", ...MOMENTS],
      Object.entries(matrix).map(([operation, points]) => [code(operation), ...points.map(number)]),
    ),
    "## Seeded bugs\n",
    "To show that the suites detect real bugs, each of these bugs is put into the program, one at a time. A suite must notice it",
    "within 600 cases; `npm test` tries the case that noticed it first. To seed one again, run `npm run simulate -- --mutants --only NAME`.\n",
    table(
      ["bug", "what it does", "caught by", "by case", "after"],
      Object.entries(mutants).map(([name, record]) => mutantRow(name, record)),
    ),
    ...roomsText(rooms),
  ]
    .join("\n")
    .replace(/\n+$/, "\n");
}

const DATABRICKS = ["--dialect databricks"];
const ONLY_DIALECT = "--only dialect";

function dialectTable(suites: Recorded["suites"], words: readonly string[]): string {
  return table(
    ["suite", "figures", "seconds", "repeat with"],
    Object.entries(suites).map(([name, record]) => {
      const [, , ...cells] = suiteRow(name, record, words);
      return [name, ...cells];
    }),
  );
}

/** Percentage of the changes that a test noticed. */
export function scoreOf({ noticed, unnoticed }: RoomRecord): number {
  return (100 * noticed) / (noticed + countOf(unnoticed));
}

function countOf(unnoticed: RoomRecord["unnoticed"]): number {
  return unnoticed.reduce((sum, { count }) => sum + count, 0);
}

function roomsText(rooms: NonNullable<Recorded["rooms"]>): readonly string[] {
  if (Object.keys(rooms).length === 0) return [];
  const runs = runsOf(rooms);
  return [
    "## Changes that tests notice\n",
    "`npm run mutation` changes the code of these folders in thousands of places, one at a time, and runs their tests. A change that makes a test",
    "fail or hang is noticed. To repeat one folder, run `npm run mutation -- FOLDER`. Property tests do not count, because they are slow.",
    "Where files of a folder changed after its run, they have a row of a later run; the rows of an earlier run count the code of that day.\n",
    table(
      ["folder of src", "changes", "noticed", "score", "day"],
      runs.map(({ of, record }) => [
        of,
        number(record.noticed + countOf(record.unnoticed)),
        number(record.noticed),
        `${scoreOf(record).toFixed(1)}%`,
        record.date,
      ]),
    ),
    "The other changes, with the reason why no test notices them:\n",
    table(
      ["folder of src", "file", "change", "count", "reason"],
      runs.flatMap(({ short, record }) =>
        record.unnoticed.map(({ in: file, change, count, why }) => [short, file, change, number(count), why]),
      ),
    ),
  ];
}

interface RoomRun {
  /** The folder, with the files if only those ran. */
  readonly of: string;
  readonly short: string;
  readonly record: RoomRecord;
}

/** The run on each folder, and the later ones on its changed files. */
export function runsOf(rooms: NonNullable<Recorded["rooms"]>): readonly RoomRun[] {
  return Object.entries(rooms).flatMap(([room, record]) => {
    const name = code(room);
    return [{ of: name, short: name, record }, ...laterRuns(name, record)];
  });
}

function laterRuns(name: string, { changed }: RoomRecord): readonly RoomRun[] {
  if (changed === undefined) return [];
  const run = { of: `${name}: ${changed.files}`, short: `${name}, changed files`, record: changed };
  return [run, ...laterRuns(name, changed)];
}

/** Days, versions and the server, each as often as they differ. */
function stampText(stamps: readonly Stamp[]): string {
  const all = (of: (stamp: Stamp) => string): string => [...new Set(stamps.map(of))].sort().join(", ");
  const servers = new Set(stamps.map(({ postgres }) => postgres));
  const server =
    servers.size > 1 ? "installed for some of them" : servers.has(true) ? "installed" : "not installed";
  return `Written by \`npm run simulate -- --all --write\` (each suite in full unless its row says otherwise; \`--suite NAME --write\` repeats one row).
Figures of ${all(({ date }) => date)}, Node ${all(({ node }) => node)}; PostgreSQL was ${server}. The seconds are those of the recorded run.
`;
}

function againWith(name: string, { seed, count }: SuiteRecord, more: readonly string[]): string {
  const words = ["npm run simulate --", `--suite ${name}`, ...more, `--seed ${seed}`];
  return code([...words, ...(count === undefined ? [] : [`--count ${count}`])].join(" "));
}

function suiteRow(name: string, record: SuiteRecord, more: readonly string[] = []): readonly string[] {
  const { what, unit, tried, all, failures, zeros, notes, seconds } = record;
  const of = all === undefined ? "" : ` of ${number(all)}`;
  const figures = `**${number(tried)}**${of} ${unit}, ${zerosText(failures, zeros)}`;
  return [name, what, [figures, ...notes].join("; "), seconds.toFixed(1), againWith(name, record, more)];
}

function mutantRow(
  name: string,
  { bug, suite, lacked, caught, after, case: noticed }: MutantRecord,
): readonly string[] {
  if (lacked !== undefined) return [name, bug, suite, "**not tried**: there was no PostgreSQL", "0 cases"];
  if (!caught) return [name, bug, suite, "**not caught**", `${number(after)} cases`];
  if (after === 0) return [name, bug, suite, "the fault-free run", "0 cases"];
  return [name, bug, suite, code(noticed), after === 1 ? "1 case" : `${number(after)} cases`];
}

function failuresText(suites: Recorded["suites"], more: readonly string[] = []): readonly string[] {
  const failing = Object.entries(suites).filter(([, { failures }]) => failures > 0);
  if (failing.length === 0) return [];
  return [
    "## Failures\n",
    ...failing.flatMap(([name, { failed, failures }]) => [
      `${name}: ${number(failures)}, of which these come first.\n`,
      ...failed.map(
        ({ name: one, wrong }) =>
          `- ${code(["npm run simulate --", `--suite ${name}`, ...more, `--case '${one}'`].join(" "))}\n${wrong.map((line) => `  ${code(line.replaceAll("\n", " "))}`).join("\\\n")}`,
      ),
      "",
    ]),
  ];
}
