// The project's prose as pieces of text: blocks of Markdown, strings and comments of the program, names of tests.

import { globSync, readFileSync } from "node:fs";
import { type ESTree, parseSync, Visitor } from "rolldown/utils";

export interface Piece {
  readonly kind: "page" | "string" | "comment" | "name of a test" | "description";
  readonly path: string;
  readonly line: number;
  /** The words, without code spans, markup, and interpolations. */
  readonly text: string;
}

/** Strings of this file are SQL. */
const SQL = "src/state/backends/postgres/postgres-backend.ts";

const CODE = /`[^`\n]*`|<\/?[a-z][^<>]*>/g;

/** Stands for a code span or an interpolation, so that the words around it do not become neighbors. */
const GAP = "…";

const spoken = (text: string): string => text.replace(CODE, GAP).replace(/\s+/g, " ").trim();

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length;

export function allPieces(): readonly Piece[] {
  const pages = globSync(["*.md", "docs/**/*.md"]);
  const schemas = globSync("schemas/*.json");
  const scenarios = globSync("test/acceptance/**/*.txt");
  const files = globSync(["{src,test,bench,ci}/**/*.ts", "scripts/*.{ts,js}", "bin/*.js"]);
  return [
    ...pages.sort().flatMap((path) => markdownPieces(path, readFileSync(path, "utf8"))),
    ...schemas.sort().flatMap((path) => schemaPieces(path, readFileSync(path, "utf8"))),
    ...scenarios.sort().flatMap((path) => scenarioPieces(path, readFileSync(path, "utf8"))),
    ...files
      .filter((path) => !NOT_PROSE.has(path))
      .sort()
      .flatMap((path) => codePieces(path, readFileSync(path, "utf8"))),
  ];
}

/** The patterns themselves. */
const NOT_PROSE = new Set(["test/words.ts"]);

/** Descriptions of a JSON Schema. */
function schemaPieces(path: string, schema: string): readonly Piece[] {
  return [...schema.matchAll(/"description": ("(?:[^"\\]|\\.)*")/g)].map(({ index, 1: text = "" }) => ({
    kind: "description" as const,
    path,
    line: lineAt(schema, index),
    text: spoken(JSON.parse(text)),
  }));
}

/** The title and the comments of an acceptance scenario. */
function scenarioPieces(path: string, scenario: string): readonly Piece[] {
  return [...scenario.matchAll(/^# (.*)$/gm)].map(({ index, 1: text = "" }) => ({
    kind: "comment" as const,
    path,
    line: lineAt(scenario, index),
    text: spoken(text),
  }));
}

/** Paragraphs, headings, list items and table rows of a page, without its code blocks. */
export function markdownPieces(path: string, page: string): readonly Piece[] {
  const text = page.replace(/^(`{3,})[\s\S]*?^\1$/gm, (block) => block.replace(/[^\n]/g, " "));
  return [
    ...text.matchAll(
      /^(?:\|.*|#+ .*|(?: *(?:[-*]|\d+\.) )?[^\n|#].*(?:\n(?! *(?:[-*]|\d+\.) |[|#]|\s*\n).+)*)/gm,
    ),
  ]
    .map((found) => ({
      kind: "page" as const,
      path,
      line: lineAt(text, found.index),
      text: spoken(found[0].replace(/^(#+|[-*]|\d+\.) |\[|\]\([^)]*\)|\]/g, "")),
    }))
    .filter((piece) => piece.text !== "");
}

const TESTS = new Set(["test", "it", "describe"]);
/** Takes the suite first, then the name. */
const SUITE_TEST = "testSuite";

/** Strings of the program, names of tests, and comments, with runs of line comments joined. */
export function codePieces(path: string, code: string): readonly Piece[] {
  const { program, comments } = parseSync(path, code);
  const found: Piece[] = [];
  const add = (kind: Piece["kind"], { start }: { start: number }, text: string): void => {
    const words = spoken(text);
    if (/\s/.test(words)) found.push({ kind, path, line: lineAt(code, start), text: words });
  };
  const of = path.startsWith("test/") || path === SQL ? undefined : "string";
  const names = new Set<number>();
  const addString = (node: ESTree.Node): void => {
    const kind = names.has(node.start) ? "name of a test" : of;
    if (kind === undefined) return;
    if (node.type === "Literal" && typeof node.value === "string") add(kind, node, node.value);
    if (node.type === "TemplateLiteral")
      add(kind, node, node.quasis.map((one) => one.value.cooked).join(GAP));
  };
  new Visitor({
    CallExpression(call) {
      const callee = calledName(call.callee);
      const name = call.arguments[callee === SUITE_TEST ? 1 : 0];
      if (name !== undefined && path.startsWith("test/") && (callee === SUITE_TEST || TESTS.has(callee)))
        names.add(name.start);
    },
    Literal: addString,
    TemplateLiteral: addString,
  }).visit(program);
  for (const run of commentRuns(code, comments)) add("comment", run, run.text);
  return found;
}

/** `test` of `test(…)`, `test.skipIf(…)(…)` and `test.each(…)(…)`. */
function calledName(callee: ESTree.Node): string {
  if (callee.type === "Identifier") return callee.name;
  if (callee.type === "MemberExpression") return calledName(callee.object);
  return callee.type === "CallExpression" ? calledName(callee.callee) : "";
}

type Comment = ReturnType<typeof parseSync>["comments"][number];

function commentRuns(
  code: string,
  comments: readonly Comment[],
): readonly { start: number; end: number; text: string }[] {
  const runs: { start: number; end: number; text: string; line: boolean }[] = [];
  for (const { type, value, start, end } of comments) {
    const before = runs.at(-1);
    const line = type === "Line";
    const text = line ? value : value.replace(/^\s*\*+/gm, " ");
    if (before?.line && line && /^[ \t]*\n[ \t]*$/.test(code.slice(before.end, start))) {
      before.text += ` ${text}`;
      before.end = end;
    } else runs.push({ start, end, text, line });
  }
  return runs;
}
