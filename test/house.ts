// What the tests of the house ask of the layout: sizes of folders, directions within a room, citations.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { folderIn, importedFile, roomOf, type SourceFile } from "./sources.ts";

export const MOST_FILES = 15;

/** Folders of each room from the bottom up: a folder imports those before it. `.` is the room's entrance. */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  api: ["contract", "http", "auth", "retry", "dialect", "."],
  spec: [
    "model",
    "yaml",
    "format",
    "files",
    "expressions",
    "variables",
    "schema",
    "modules",
    "resolve",
    "rules",
    "render",
    "export",
    "testing",
    ".",
  ],
  state: ["model", "format", "lock", "store", "backends"],
  providers: ["kit", "clusters", "jobs", "notebooks", "users", "."],
  planner: ["model", "diff", "decide", "check", "mode", "."],
  engine: [".", "observe", "recover", "apply"],
  report: ["text", "plan", "outcome", "inspect", "ci", "html", "metrics", "spec-tests", "."],
  emulator: ["world", "store", "http", "notebook", "routes", "dialect", "."],
};

/** `folder: files` of every folder with more files than a reader takes in at once. */
export function foldersTooLarge(sources: readonly SourceFile[]): readonly string[] {
  const sizes = Map.groupBy(sources, ({ path }) => dirname(path));
  return [...sizes].filter(([, files]) => files.length > MOST_FILES).map(([folder]) => folder);
}

/** Imports within a room that go up instead of down, `model/` to anything else of its room among them. */
export function wrongDirections(sources: readonly SourceFile[]): readonly string[] {
  return sources.flatMap((source) => {
    const order = FOLDERS[roomOf(source.path)];
    if (
      order === undefined ||
      !existsSync(`src/${roomOf(source.path)}/${order.find((folder) => folder !== ".")}`)
    )
      return [];
    const at = order.indexOf(folderIn(source.path));
    if (at < 0) return [`${source.path} lies in a folder that the table does not know`];
    return source.imports.flatMap((one) => {
      const to = importedFile(source, one);
      if (to === undefined || roomOf(to) !== roomOf(source.path)) return [];
      return order.indexOf(folderIn(to)) > at ? [`${source.path} -> ${to}`] : [];
    });
  });
}

const CITING = [
  "src/**/*.ts",
  "test/**/*.ts",
  "bench/**/*.ts",
  "scripts/**/*.{ts,js}",
  "*.md",
  "docs/**/*.md",
];

/** Paths, decisions and links that lead nowhere, as `file: citation`. */
export function brokenCitations(): readonly string[] {
  const decisions = new Set(
    globSync("docs/decisions/*.md").map((path) => path.split("/").at(-1)?.slice(0, 4)),
  );
  return globSync(CITING)
    .sort()
    .flatMap((path) => {
      const text = readFileSync(path, "utf8");
      const wrong = new Set<string>();
      for (const [all, number = ""] of text.matchAll(/\b[Dd]ecisions? (\d{4})\b/g))
        if (!decisions.has(number)) wrong.add(all);
      for (const [, cited = ""] of citedText(path, text).matchAll(
        /(?<![\w./-])((?:src|test|docs|bench|scripts|schemas|examples)\/[\w./-]*[\w/])/g,
      ))
        if (!CHANGES.has(path) && !exists(cited)) wrong.add(cited);
      if (path.endsWith(".md"))
        for (const [, link = ""] of text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g))
          if (!existsSync(normalize(join(dirname(path), link)))) wrong.add(link);
      return [...wrong].map((one) => `${path}: ${one}`);
    });
}

/** Historical documents are not checked. */
const CHANGES = new Set(["CHANGELOG.md"]);

/** A decision may be cited by its number. */
const exists = (path: string): boolean =>
  existsSync(path) || existsSync(`${path}.ts`) || globSync(`${path}-*.md`).length > 0;

/** A page whole; of code only the comments, for its strings name files of users too. */
function citedText(path: string, text: string): string {
  if (path.endsWith(".md")) return text;
  return [...text.matchAll(/^\s*(?:\/\/|\/?\*).*$/gm)].map(([line]) => line).join("\n");
}

/** Sections that the code cites by number and that their page lacks, as `file: citation`. */
export function missingSections(sources: readonly SourceFile[]): readonly string[] {
  const cited = [
    { page: "docs/design.md", pattern: /\bdesign (\d+)\b/g },
    { page: "docs/service-facts.md", pattern: /\bfacts (\d+\.\d+)\b/g },
  ];
  return cited.flatMap(({ page, pattern }) => {
    const headings = [...readFileSync(page, "utf8").matchAll(/^## (\S+) /gm)].map(([, number]) => number);
    return sources.flatMap(({ path, text }) =>
      [...text.matchAll(pattern)]
        .filter(([, number]) => !headings.includes(number))
        .map(([citation]) => `${path}: ${citation}`),
    );
  });
}
