// Measures each section of the page: its title, its figures, and its pictures.

import { cpSync } from "node:fs";
import { join } from "node:path";
import { CHROMIUM } from "../test/report/html/chromium.ts";
import { type AccessFigure, GROUPS, LISTS, measureAccess, USERS } from "./access.ts";
import type { BenchArguments, SectionName } from "./arguments.ts";
import { changesRows, measureChanges } from "./changes.ts";
import { installProgram } from "./installed.ts";
import { LARGE_SIZES, measureBare, measureLarge } from "./large.ts";
import { type Drawing, largePictures, largeRows } from "./large-rows.ts";
import { LIMIT, measureLimited } from "./limited.ts";
import { measureMain, measureSeries, measureSmall, measureStarts } from "./measure.ts";
import { INSTANCES, measureModules } from "./modules.ts";
import { measureOpening, OBJECTS } from "./opening.ts";
import { CHANGES, measurePage } from "./page.ts";
import { inFolder, ROOT } from "./process.ts";
import { against, described, mainRows, seriesRows, smallRows } from "./rows.ts";
import { MAIN, SERIES, type Sizes, SMALL, TINY, WITH_CONTENTS } from "./sizes.ts";
import { ms, type Row, table } from "./table.ts";
import { measureTerraform, type Timed } from "./terraform.ts";
import { CLI } from "./workspace.ts";

const HOME = join(import.meta.dirname, "..");
const REPEATS = 3;
const START_REPEATS = 15;

export interface MeasuredSection {
  readonly title: string;
  readonly figures: string;
  readonly pictures?: readonly Drawing[];
}

/** Undefined where this machine lacks what the section needs. */
export type Measure = () => Promise<MeasuredSection | undefined>;

export function measuresOf({ before, tiny }: BenchArguments): Readonly<Record<SectionName, Measure>> {
  const repeats = tiny ? 1 : REPEATS;
  const starts = tiny ? 1 : START_REPEATS;
  const sized = (sizes: Sizes): Sizes => (tiny ? TINY : sizes);
  const now = once(() => installProgram(HOME, "installed"));
  const then = once(() =>
    before === undefined ? undefined : optional(() => installProgram(before, "before")),
  );

  const large = async (): Promise<MeasuredSection> => {
    const sizes = tiny ? LARGE_SIZES.slice(0, 2) : LARGE_SIZES;
    const figures = [];
    const bares = [];
    for (const scopes of sizes) {
      figures.push(await measureLarge(scopes, repeats, now()));
      bares.push(await measureBare(scopes, repeats));
    }
    const program = then();
    const old = program === undefined ? undefined : await measureLarge(sizes.at(-1) ?? 1, repeats, program);
    const title = "Large workspaces";
    return {
      title,
      figures: table(`${title}: scopes of 1,000 secrets; installed`, largeRows(figures, bares, old)),
      pictures: largePictures(figures, bares),
    };
  };

  return {
    small: async () => {
      const installed = now();
      const old = then();
      const programs = [installed, CLI, ...(old === undefined ? [] : [old])];
      const names = ["installed", "sources", "before, installed"].slice(0, programs.length);
      const sizes = sized(SMALL);
      const rows = smallRows(names, await measureSmall(sizes, programs, repeats));
      const start = await startRows(names, programs, starts);
      return { title: "A small workspace", figures: table(described(sizes), [...rows, ...start]) };
    },
    main: async () => ({
      title: "Main workspace",
      figures: table(described(sized(MAIN)), mainRows(await measureMain(sized(MAIN), repeats))),
    }),
    contents: async () => {
      const sizes = tiny ? { ...TINY, directories: 2, notebooks: 2, files: 2 } : WITH_CONTENTS;
      const rows = mainRows(await measureMain(sizes, repeats));
      return { title: "With contents", figures: table(described(sizes), rows) };
    },
    series: async () => {
      const rows = seriesRows(await measureSeries(tiny ? SERIES.slice(0, 2) : SERIES, repeats));
      return { title: "First apply as the workspace grows", figures: table("First apply", rows) };
    },
    large,
    changes: async () => {
      const rows = (await measureChanges(now(), tiny ? 500 : undefined)).flatMap(changesRows);
      return {
        title: "When nearly everything changes",
        figures: table("Pools that all differ, installed", rows),
      };
    },
    limited: async () => {
      const rows = limitedRows(await measureLimited(sized(SMALL), now()));
      const title = `A service with ${LIMIT.latencyMs} ms a request and ${LIMIT.perSecond} requests a second for each endpoint`;
      return { title, figures: table("First apply, installed", rows) };
    },
    access: async () => ({
      title: "Effective access",
      figures: table(
        `The access diff of ${USERS.toLocaleString("en")} users in ${GROUPS} nested groups and ${LISTS} access lists`,
        measureAccess().map(accessRow),
      ),
    }),
    start: async () => ({ title: "Emulator", figures: table("Start", [await openingRow()]) }),
    modules: async () => ({ title: "Modules", figures: table("Load", [await moduleRow()]) }),
    page: async () =>
      CHROMIUM === undefined
        ? undefined
        : { title: "HTML page", figures: table("Chromium", await pageRows()) },
    terraform: async () => {
      const sizes = sized(SMALL);
      const { version, provider, ours, theirs } = await measureTerraform(sizes, "terraform", now());
      const rows = [
        terraformRow("first apply", ours.apply, theirs.apply),
        terraformRow("plan without changes", ours.plan, theirs.plan),
      ].flat();
      return {
        title: `Terraform ${version} with provider ${provider}`,
        figures: table(described(sizes), rows),
      };
    },
  };
}

/** The other figures are worth more than none. */
function optional<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (problem) {
    process.exitCode = 1;
    process.stderr.write(`--before is left out: ${problem instanceof Error ? problem.message : problem}\n`);
    return undefined;
  }
}

/** Installs a program at most once. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function startRows(names: readonly string[], programs: readonly string[], repeats: number): Promise<Row[]> {
  return inFolder(async (folder) => {
    cpSync(join(ROOT, "examples/quickstart"), folder, { recursive: true });
    const validate = ["validate", "--file", join(folder, "workspace.yaml")];
    const commands = programs.flatMap((program) => [
      [program, ...validate],
      [program, "--help"],
      [program, "--version"],
    ]);
    const [bare = 1, ...times] = await measureStarts([["-e", "0"], ...commands], repeats);
    return names.flatMap((name, at) => {
      const [checked = 0, help = 0, version = 0] = times.slice(3 * at);
      const row = (what: string, time: number, aim?: number): Row => ({
        ...against(`${name}: ${what}, time`, time, bare, "bare Node"),
        ...(aim === undefined ? {} : { aim }),
      });
      return [
        row("validate of the quickstart", checked, at === 0 ? 3 : undefined),
        row("--help", help),
        row("--version", version, at === 0 ? 2 : undefined),
      ];
    });
  });
}

function accessRow({ what, ms: time, rights }: AccessFigure): Row {
  return {
    what: `${what}, and ${rights.toLocaleString("en")} rights are gained`,
    measured: ms(time),
    against: "1000 ms allowed",
    ratio: time / 1_000,
    aim: 1,
  };
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
    ...against(
      `load of ${INSTANCES.toLocaleString("en")} instances of a module with 20 resources`,
      modularMs,
      flatMs,
      "written out",
    ),
    aim: 2,
  };
}

function limitedRows(figures: Awaited<ReturnType<typeof measureLimited>>): Row[] {
  const { resources, ms: took, leastMs, refused, lateRefused } = figures;
  return [
    { ...against(`first apply of ${resources} resources, time`, took, leastMs, "least possible"), aim: 1.1 },
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

function terraformRow(what: string, ours: Timed, theirs: Timed): Row[] {
  return [
    against(`${what}, time`, ours.ms, theirs.ms, "terraform"),
    {
      what: "  requests",
      measured: `${ours.reads + ours.writes}`,
      against: `${theirs.reads + theirs.writes} terraform`,
    },
  ];
}
