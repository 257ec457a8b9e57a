// The house rules as a test: who may import whom, no cycles, no barrels, small files that say what they hold, fresh schemas.

import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { staleSchemas } from "../scripts/schemas.ts";
import { CODES } from "../src/core/codes.ts";
import { importedFile, readSource, readSources, roomOf } from "./sources.ts";

/** What each folder of src/ may import. `types` may be named in type imports only. */
const MAY_IMPORT: Readonly<
  Record<string, { readonly values: readonly string[]; readonly types?: readonly string[] }>
> = {
  core: { values: [] },
  expressions: { values: ["core"] },
  resource: { values: ["core"], types: ["api"] },
  state: { values: ["core"], types: ["resource", "api"] },
  api: { values: ["core"] },
  spec: { values: ["core", "resource", "expressions"] },
  providers: { values: ["core", "resource", "api"] },
  planner: { values: ["core", "resource"], types: ["spec", "state"] },
  engine: { values: ["core", "resource", "api", "state", "planner"] },
  report: { values: ["core", "resource", "planner"] },
  fleet: { values: ["core", "resource", "spec", "state", "report"] },
  emulator: { values: ["core"] },
  config: { values: ["core", "api"] },
  workflow: {
    values: [
      "core",
      "api",
      "resource",
      "expressions",
      "spec",
      "state",
      "providers",
      "planner",
      "engine",
      "emulator",
      "config",
    ],
  },
};

/** The only files that touch the machine. */
const MAY_USE_NODE = [
  "src/cli/",
  "src/config/",
  "src/workflow/",
  "src/core/digest.ts",
  "src/core/address.ts",
  "src/core/regular-file.ts",
  "src/api/http/transport.ts",
  "src/emulator/embedded.ts",
  "src/emulator/server.ts",
  "src/emulator/store/blobs.ts",
  "src/emulator/http/contract.ts",
  "src/emulator/store/sqlite.ts",
  "src/emulator/store/store.ts",
  "src/fleet/result-file.ts",
  "src/main.ts",
  "src/spec/files/spec-folder.ts",
  "src/expressions/functions.ts",
  "src/spec/yaml/lexical-limits.ts",
  "src/state/format/encryption.ts",
  "src/state/backends/file/node-ports.ts",
  "../src/core/regular-file.ts",
  "src/state/backends/postgres/pg-database.ts",
  "src/state/format/encryption.ts",
];

const mayUseNode = (path: string): boolean =>
  MAY_USE_NODE.some((allowed) => path === allowed || (allowed.endsWith("/") && path.startsWith(allowed)));

/** Files that only list entries may do so in one place. */
const LISTS = new Set(["src/providers/index.ts", "src/emulator/routes/areas.ts"]);

const MOST_LINES = 500;

const sources = readSources();

describe("tidy", () => {
  test("each folder imports only what it may", () => {
    const wrong = sources.flatMap((source) => {
      const room = roomOf(source.path);
      const may = MAY_IMPORT[room];
      if (may === undefined) return [];
      return source.imports.flatMap((one) => {
        const to = importedFile(source, one);
        const other = to?.startsWith("src/") === true ? roomOf(to) : undefined;
        if (other === undefined || other === room || may.values.includes(other)) return [];
        if (one.typeOnly && may.types?.includes(other) === true) return [];
        return [`${room} may not import ${other}: ${source.path} imports ${to}`];
      });
    });
    expect(wrong.sort()).toEqual([]);
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
      .filter((source) => !mayUseNode(source.path))
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
    // The text of this file runs in a browser.
    const wrong = sources
      .filter(({ path }) => !mayUseNode(path) && path !== "src/report/html/page-script.ts")
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

  test("every diagnostic code is used", () => {
    const told = sources.filter(({ path }) => path !== "src/core/codes.ts").map(({ text }) => text);
    const silent = Object.keys(CODES).filter((code) => !told.some((text) => text.includes(`"${code}"`)));
    expect(silent).toEqual([]);
  });

  test("every word that a message puts into a command to run is quoted for a shell", () => {
    const commands = /\\`(?:workspace|chmod) [^`]*?\\`/g;
    const isNumber = /^(?:id|run|run_id|last\.id)$/;
    const isFixed = /^(?:shellWord\(.*\)|operation(?:\.id)?|named)$/;
    const unquoted = sources.flatMap(({ path, text }) =>
      [...text.matchAll(commands)]
        .flatMap(([command]) => [...command.matchAll(/\$\{([^}]*)\}/g)])
        .flatMap(([, value = ""]) =>
          isNumber.test(value) || isFixed.test(value) ? [] : `${path}: ${value}`,
        ),
    );
    expect(unquoted).toEqual([]);
  });

  test("every file opens with a sentence on what it holds", () => {
    const all = [
      ...sources,
      ...globSync(["test/**/!(*.test).ts", "scripts/*.{ts,js}", "bench/**/*.ts", "bin/*.js"]).map(readSource),
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
    const rooms = new Set([
      ...Object.keys(MAY_IMPORT),
      "cli",
      "laws",
      "acceptance",
      "simulation",
      "docs",
      "ci",
      "bench",
      "editors",
    ]);
    const strangers = globSync("test/*/").filter((folder) => !rooms.has(folder.split("/")[1] ?? ""));
    expect(strangers).toEqual([]);
  });

  test("the written schemas are what the kinds say", () => {
    expect(staleSchemas()).toEqual([]);
  });
});
