// The names of tests, read from their files without running them.

/** A test's name as its file writes it; placeholders of `test.each` stay where no rule is named by them. */
export interface TestName {
  readonly name: string;
  readonly file: string;
}

const CALL = /(?<![\w.$])(?:test|it)(\.each|\.runIf|\.skipIf)?\s*\(/g;

/** Tests that are skipped or have yet to be written have no name here. */
export function namesIn(file: string, source: string): TestName[] {
  return [...source.matchAll(CALL)].flatMap((call) => {
    const open = call.index + call[0].length;
    if (call[1] === undefined) return named(file, literalAt(source, open));
    const close = closing(source, open);
    const name = literalAt(source, source.indexOf("(", close) + 1);
    if (call[1] !== ".each" || name === undefined) return named(file, name);
    return filled(name, table(source, source.slice(open, close))).flatMap((one) => named(file, one));
  });
}

function named(file: string, name: string | undefined): TestName[] {
  return name === undefined ? [] : [{ name, file }];
}

const LITERAL = /\s*(?:"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/y;

function literalAt(source: string, at: number): string | undefined {
  LITERAL.lastIndex = at;
  const found = LITERAL.exec(source);
  return found === null ? undefined : (found[1] ?? found[2] ?? "").replaceAll('\\"', '"');
}

const DEPTH: Readonly<Record<string, number>> = { "(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1 };
const PIECE = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\/[^\n]*|[()[\]{}]/g;

/** Where the bracket that was opened just before `from` is closed. */
function closing(source: string, from: number): number {
  let depth = 1;
  for (const piece of source.slice(from).matchAll(PIECE)) {
    depth += DEPTH[piece[0]] ?? 0;
    if (depth === 0) return from + piece.index;
  }
  return source.length;
}

/** The table that `test.each` runs through, as text: written in place, or a constant of the same file. */
function table(source: string, argument: string): string {
  const constant = /^\s*(\w+)\s*$/.exec(argument)?.[1];
  if (constant === undefined) {
    const list = argument.trim();
    return list.startsWith("[") ? list.slice(0, closing(list, 1) + 1) : "";
  }
  const start = new RegExp(`\\bconst ${constant}\\b[^=]*=\\s*\\[`).exec(source);
  if (start === null) return "";
  const open = start.index + start[0].length;
  return source.slice(open - 1, closing(source, open) + 1);
}

/** The text before the colon, which names rules. */
const HEAD = /^[^:]*:/;
const PLACEHOLDER = /%[sj]/;
/** A longer table of values is one test if it names no rules. */
const MOST_ROWS = 12;

/** A name with placeholders appears once for each row of its table, filled with the first texts of the row. */
function filled(name: string, rows: string): string[] {
  if (!PLACEHOLDER.test(name)) return [name];
  const texts = rowsOf(rows);
  const namesRules = PLACEHOLDER.test(HEAD.exec(name)?.[0] ?? "");
  if (texts === undefined || (texts.length > MOST_ROWS && !namesRules)) return [name];
  const fill = (before: string, text: string) =>
    before.replace(PLACEHOLDER, (found) => (found === "%j" ? JSON.stringify(text) : text));
  const each = texts.map((row) => row.reduce(fill, name));
  return [...new Set(each)];
}

const TEXTS = /^\[?((?:\s*"(?:[^"\\\n]|\\.)*"\s*,?)+)/;

/** For each row the texts that it begins with; undefined where a row begins with anything else. */
function rowsOf(rows: string): string[][] | undefined {
  const found: string[][] = [];
  for (let at = 1; at < rows.length - 1; at++) {
    if (/[\s,]/.test(rows[at] ?? "")) continue;
    const texts = [...(TEXTS.exec(rows.slice(at))?.[1] ?? "").matchAll(/"((?:[^"\\\n]|\\.)*)"/g)];
    if (texts.length === 0) return undefined;
    const row = texts.map(([, text = ""]) => text);
    if (rows[at] !== "[") {
      // A flat list of texts, each a row of its own.
      const rest = rows.slice(at).replaceAll(/"(?:[^"\\\n]|\\.)*"/g, "");
      return /^[\s,]*\]?$/.test(rest) ? row.map((text) => [text]) : undefined;
    }
    found.push(row);
    at = closing(rows, at + 1);
  }
  return found.length === 0 ? undefined : found;
}
