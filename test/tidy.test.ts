// The house rules as a test: who may import whom, no cycles, no barrels, small files that say what they hold, fresh schemas.

import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { staleSchemas } from "../scripts/schemas.ts";
import { CODES } from "../src/core/codes.ts";

/** What each folder of src/ may import. `types` may be named in type imports only. */
const MAY_IMPORT: Readonly<
  Record<string, { readonly values: readonly string[]; readonly types?: readonly string[] }>
> = {
  core: { values: [] },
  resource: { values: ["core"] },
  state: { values: ["core"], types: ["resource"] },
  api: { values: ["core"] },
  spec: { values: ["core", "resource"] },
  providers: { values: ["core", "resource", "api"] },
  planner: { values: ["core", "resource"], types: ["spec", "state"] },
  engine: { values: ["core", "resource", "api", "state", "planner"] },
  report: { values: ["core", "resource", "planner"] },
  emulator: { values: ["core"] },
};

/** The only files that touch the machine. */
const MAY_USE_NODE = [
  /^src\/main\.ts$/,
  /^src\/cli\//,
  /^src\/api\/transport\.ts$/,
  /^src\/spec\/(load|rare)\.ts$/,
  /^src\/state\/(file\/(node-ports|regular-file)|seal|derive|postgres\/pg-database)\.ts$/,
  /^src\/emulator\/(server|embedded|store[\w-]*)\.ts$/,
];

/** Files that only list things may do so in one place. */
const LISTS = new Set(["src/providers/index.ts", "src/emulator/areas.ts"]);

const MOST_LINES = 250;

interface Import {
  readonly to: string;
  readonly typeOnly: boolean;
  /** Loaded when it is needed: such a circle is never entered while modules load. */
  readonly later: boolean;
}

interface Source {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const IMPORT = /^(?:import|export)\s+(type\s+)?([^;"']*?)\s*from\s+["']([^"']+)["']/gm;
const DYNAMIC = /\bimport\(\s*["']([^"']+)["']\s*\)/g;
const BARE = /^import\s+["']([^"']+)["']/gm;

function sourceOf(path: string): Source {
  const text = readFileSync(path, "utf8");
  const named = [...text.matchAll(IMPORT)].map(([, type, names = "", to = ""]) => ({
    to,
    typeOnly: type !== undefined || onlyTypes(names),
    later: false,
  }));
  const dynamic = [...text.matchAll(DYNAMIC)].map(([, to = ""]) => ({ to, typeOnly: false, later: true }));
  const bare = [...text.matchAll(BARE)].map(([, to = ""]) => ({ to, typeOnly: false, later: false }));
  return { path, text, imports: [...named, ...dynamic, ...bare] };
}

function onlyTypes(names: string): boolean {
  const inside = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
  if (inside === undefined) return false;
  return inside.split(",").every((one) => one.trim() === "" || one.trim().startsWith("type "));
}

function target(source: Source, one: Import): string | undefined {
  return one.to.startsWith(".") ? normalize(join(dirname(source.path), one.to)) : undefined;
}

const sources = globSync("src/**/*.ts").sort().map(sourceOf);
const roomOf = (path: string): string => path.split("/")[1] ?? "";

describe("tidy", () => {
  test("each folder imports only what it may", () => {
    const wrong = sources.flatMap((source) => {
      const room = roomOf(source.path);
      const may = MAY_IMPORT[room];
      if (may === undefined) return [];
      return source.imports.flatMap((one) => {
        const to = target(source, one);
        const other = to?.startsWith("src/") === true ? roomOf(to) : undefined;
        if (other === undefined || other === room || may.values.includes(other)) return [];
        if (one.typeOnly && may.types?.includes(other) === true) return [];
        return [`${room} may not import ${other}: ${source.path} imports ${to}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  test("ARCHITECTURE.md shows the same table", () => {
    const rows = readFileSync("ARCHITECTURE.md", "utf8").matchAll(/^\| `src\/(\w+)` \|.*\| ([^|]*) \|$/gm);
    const shown = [...rows].map(([, room = "", may = ""]) => [room, may] as const);
    const held = Object.entries(MAY_IMPORT).map(([room, { values, types = [] }]) => {
      const may = [...values, ...types.map((type) => `${type} (types)`)];
      return [room, may.join(", ") || "nothing"] as const;
    });
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(held));
  });

  test("only the edges touch the machine", () => {
    const wrong = sources
      .filter((source) => !MAY_USE_NODE.some((allowed) => allowed.test(source.path)))
      .flatMap((source) =>
        source.imports
          .filter((one) => one.to.startsWith("node:"))
          .map((one) => `${source.path} imports ${one.to}`),
      );
    expect(wrong).toEqual([]);
  });

  test("time, randomness and the process are parameters away from the edges", () => {
    const ambient =
      /\b(Date\.now\(|Math\.random\(|new Date\(\)|setTimeout\(|setInterval\(|process\.|performance\.now\()/;
    const wrong = sources
      .filter((source) => !MAY_USE_NODE.some((allowed) => allowed.test(source.path)))
      .flatMap((source) =>
        source.text
          .split("\n")
          .flatMap((line, at) =>
            ambient.test(line.replace(/\/\/.*$|^\s*\/?\*.*$/, ""))
              ? [`${source.path}:${at + 1} ${line.trim()}`]
              : [],
          ),
      );
    expect(wrong).toEqual([]);
  });

  test("no imports run in a circle", () => {
    const edges = new Map(
      sources.map((source) => [
        source.path,
        source.imports
          .filter((one) => !one.typeOnly && !one.later)
          .flatMap((one) => target(source, one) ?? []),
      ]),
    );
    expect(circles(edges)).toEqual([]);
  });

  test("no file only re-exports", () => {
    const barrels = sources.filter(({ path, text }) => {
      const code = text
        .replace(/\/\/.*$/gm, "")
        .replace(/\/\*[\s\S]*?\*\//g, "")
        .trim();
      const left = code
        .replace(/export\s+(type\s+)?(\*|\{[^}]*\})\s*(as\s+\w+\s+)?from\s+"[^"]+";?/g, "")
        .trim();
      return code !== "" && left === "" && !LISTS.has(path);
    });
    expect(barrels.map((source) => source.path)).toEqual([]);
  });

  test("every code of a diagnostic is told somewhere", () => {
    const told = sources.filter(({ path }) => path !== "src/core/codes.ts").map(({ text }) => text);
    const silent = Object.keys(CODES).filter((code) => !told.some((text) => text.includes(`"${code}"`)));
    expect(silent).toEqual([]);
  });

  test("every file opens with a sentence on what it holds", () => {
    const all = [
      ...sources,
      ...globSync(["test/**/!(*.test).ts", "scripts/*.{ts,js}", "bench/**/*.ts", "bin/*.js"]).map(sourceOf),
    ];
    const wrong = all.filter(({ text }) => !/^(#!.*\n)?\/\/ \S.{15,}/.test(text));
    expect(wrong.map((source) => source.path)).toEqual([]);
  });

  test(`no source file is longer than ${MOST_LINES} lines`, () => {
    const long = sources
      .map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }))
      .filter(({ lines }) => lines > MOST_LINES);
    expect(long).toEqual([]);
  });

  test("test files mirror the sources that they test", () => {
    const rooms = new Set([...Object.keys(MAY_IMPORT), "cli", "laws", "acceptance", "simulation"]);
    const strangers = globSync("test/*/").filter((folder) => !rooms.has(folder.split("/")[1] ?? ""));
    expect(strangers).toEqual([]);
  });

  test("the written schemas are what the kinds say", () => {
    expect(staleSchemas()).toEqual([]);
  });
});

/** One circle for each group of files that import each other. */
function circles(edges: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, above: readonly string[]): void => {
    const start = above.indexOf(path);
    if (start >= 0) found.push([...above.slice(start), path].join(" -> "));
    if (start >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...above, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return found;
}
