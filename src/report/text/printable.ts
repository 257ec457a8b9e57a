// Escapes data for output: characters that could control a terminal, a log, or mislead a reader become visible.

import { stringifyJson } from "../../core/exact-json.ts";
import { shownText } from "../../core/sensitive/digests.ts";

/** Controls, bidi marks, zero-width and other ignorable characters, lone surrogates, and unusual spaces. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;
const ANY_INVISIBLE = new RegExp(INVISIBLE.source, "u");
const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** One line of text in which nothing is hidden and no CI service finds a command (`::x::`, `##[x]`, `##vso[x]`). */
export function printable(whole: string): string {
  const text = shownText(whole);
  const shown = ANY_INVISIBLE.test(text) ? text.replace(INVISIBLE, escaped) : text;
  return withoutCommands(shown);
}

/** The same for a whole text whose line ends stay. */
export function printableLines(text: string): readonly string[] {
  return text.split(/\r\n|\n/).map((line) => printable(line.replaceAll("\t", "  ")));
}

function escaped(character: string): string {
  const named = NAMED[character];
  if (named !== undefined) return named;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, "0")}`;
}

/** The `::` of an address such as `http://[::1]` cannot begin a command: commands are at the start of a line. */
const ADDRESS_OR_COLONS = /(\/\/\[[\d:A-Fa-f.]+\])|::/g;

/** Escapes that JSON readers undo and that CI services do not see through. */
function withoutCommands(text: string): string {
  return text
    .replace(ADDRESS_OR_COLONS, (_, address?: string) => address ?? ":\\u003a")
    .replace(/##(?=\w*\[)/g, "#\\u0023");
}

/** Whether output shows a string with escapes. */
export function hidesSomething(text: string): boolean {
  return printable(text) !== text;
}

/** JSON text that reads back as the same value and shows every invisible character as an escape. */
export function printableJson(value: unknown, indent?: number): string {
  return printableQuoted(shownText(stringifyJson(value, indent)));
}

/** Of every JSON document of `-o json`, and of every line of the commands that print one document a line (docs/json.md). */
export const JSON_FORMAT = "1.0";

/** The text of a document of `-o json`, which begins with its format. Without `indent`, it is one line. */
export function jsonDocument(members: Readonly<Record<string, unknown>>, indent?: number): string {
  return `${printableJson({ format_version: JSON_FORMAT, ...members }, indent)}\n`;
}

/** A list of a document whose items are made one after the other, when they are printed. */
export class PrintedList<T> {
  readonly items: readonly T[];
  readonly json: (item: T) => unknown;

  constructor(items: readonly T[], json: (item: T) => unknown) {
    this.items = items;
    this.json = json;
  }
}

/** Characters of a piece: fewer, larger writes take less time. */
const PIECE = 65_536;

/** The text of `printableJson(document, 2)` in pieces; a `PrintedList` is printed item by item, so that its values are never in memory together. */
export function* printablePieces(document: Readonly<Record<string, unknown>>): Generator<string> {
  let text = "{";
  let separator = "";
  for (const [name, value] of Object.entries(document)) {
    if (value === undefined) continue;
    text += `${separator}\n  ${JSON.stringify(name)}: `;
    separator = ",";
    if (!(value instanceof PrintedList)) text += printableJson(value, 2).replaceAll("\n", "\n  ");
    else if (value.items.length === 0) text += "[]";
    else {
      let before = "[";
      for (const item of value.items) {
        text += `${before}\n    ${printableJson(value.json(item), 2).replaceAll("\n", "\n    ")}`;
        before = ",";
        if (text.length < PIECE) continue;
        yield text;
        text = "";
      }
      text += "\n  ]";
    }
  }
  yield separator === "" ? "{}" : `${text}\n}`;
}

/** A string with escapes, inside double quotes, where an escape is read as its character. */
export function printableQuoted(text: string): string {
  const shown = text.replace(INVISIBLE, (character) =>
    character === "\n" ? character : character.split("").map(unitEscape).join(""),
  );
  return withoutCommands(shown);
}

function unitEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const MARKS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "\ufffe": "\\ufffe",
  "\uffff": "\\uffff",
};

/** Text or an attribute's value in HTML and XML: no tag, no entity, and no character that XML forbids. */
export function markupText(text: string): string {
  return printable(text).replace(/[&<>"'\ufffe\uffff]/g, (character) => MARKS[character] ?? "");
}

/** A Markdown code span, not for tables: no markup, mention, link or tag inside it has an effect. */
export function markdownCode(text: string): string {
  const shown = printable(text);
  const fence = "`".repeat(longestBackticks(shown) + 1);
  const pad = shown.startsWith("`") || shown.endsWith("`") || shown === "" ? " " : "";
  return `${fence}${pad}${shown}${pad}${fence}`;
}

/** Characters with a meaning inside a line; an underscore inside a word and a colon before a blank have none. */
const MARKUP = /[\\`*{}[\]()#!|~<>&^$]|(?<!\w)_|_(?!\w)|:(?=\S)/g;

/** Running text for Markdown: every character with a meaning there is escaped; an `@` alone in its element cannot mention anyone. */
export function markdownText(text: string): string {
  return printable(text)
    .replace(MARKUP, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll("@", "<span>&#64;</span>")
    .replace(/\b(https?|www|ftp|mailto)(?=[.&])/gi, "<span>$1</span>");
}

/** Running text in which backticks enclose code spans. Each piece is escaped separately, so no name can open or close a span. */
export function markdownSentence(text: string): string {
  return printable(text)
    .split(/(`[^`]+`)/)
    .map((piece) => (/^`[^`]+`$/.test(piece) ? markdownCode(piece.slice(1, -1)) : markdownText(piece)))
    .join("");
}

export function markdownBlock(language: string, lines: readonly string[]): readonly string[] {
  const longest = lines.reduce((most, line) => Math.max(most, longestBackticks(line)), 2);
  const fence = "`".repeat(longest + 1);
  return [`${fence}${language}`, ...lines, fence];
}

function longestBackticks(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
}
