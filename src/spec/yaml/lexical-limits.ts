// Checks the tokens of a YAML text against limits before anything recursive reads it, and converts YAML errors to messages.

import { createRequire } from "node:module";
import type * as Yaml from "yaml";
import type { CST, ErrorCode, YAMLError } from "yaml";
import { count, grouped, shortened } from "../../core/sentences.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import type { SourceText } from "../model/source.ts";

const load = createRequire(import.meta.url);

/** The package for YAML that `block-parser.ts` does not support: loaded on first use, because most specs do not need it. */
export const yaml = (): typeof Yaml => load("yaml") as typeof Yaml;

/** The concrete syntax of a source, or undefined if it exceeds a limit; the reason goes into `findings`. */
export function lexicalTokens(source: SourceText, findings: Findings): readonly CST.Token[] | undefined {
  const { Lexer, Parser } = yaml();
  const guard = new Guard(source);
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let documents = 0;
  const take = (token: CST.Token): boolean => {
    tokens.push(token);
    if (token.type === "document" && ++documents > 1) {
      const at = { source, start: token.offset, end: token.offset + 3 };
      findings.error("SPEC_YAML", "the file contains more than one YAML document", at, {
        hint: "keep one document per file, and list the other files under include",
      });
      return false;
    }
    return true;
  };
  for (const lexeme of new Lexer().lex(source.text)) {
    const refusal = guard.check(lexeme);
    if (refusal !== undefined) {
      const at = { source, start: guard.at, end: guard.at + lexeme.length };
      hideUnreadable(source);
      findings.error(refusal.code, refusal.message, at, { hint: refusal.hint });
      return undefined;
    }
    for (const token of parser.next(lexeme)) if (!take(token)) return undefined;
  }
  for (const token of parser.end()) if (!take(token)) return undefined;
  return tokens;
}

/** In a file that cannot be parsed, any line may be the value of a sensitive variable. */
export function hideUnreadable(source: SourceText): void {
  if (/\bsensitive\b["']?\s*:|^\s+["']?variables\b["']?\s*:/m.test(source.text)) source.hide();
}

interface Refused {
  readonly code: "SPEC_TOO_LARGE" | "SPEC_YAML";
  readonly message: string;
  readonly hint: string;
}

/** Follows the lexer, and estimates from above how deep what follows will nest. */
class Guard {
  /** Offset of the lexeme that was checked last. */
  at = 0;
  readonly #source: SourceText;
  readonly #typeOf = yaml().CST.tokenType;
  #next = 0;
  #lineStart = 0;
  #count = 0;
  #flow = 0;
  #aliases = 0;
  /** Columns of open collections that may contain values further right. */
  readonly #columns: number[] = [];

  constructor(source: SourceText) {
    this.#source = source;
  }

  check(lexeme: string): Refused | undefined {
    const type = this.#typeOf(lexeme);
    this.at = this.#next;
    // Marks that the lexer inserts (a scalar follows, a flow ended badly) do not belong to the source.
    if (type === "scalar" || type === "doc-mode" || type === "flow-error-end") return undefined;
    this.#next += lexeme.length;
    if (++this.#count > LIMITS.tokens)
      return tooLarge(
        `the file has more than ${grouped(LIMITS.tokens)} tokens`,
        "split the file and use include",
      );
    const refused = this.#meet(type, lexeme);
    this.#followLines(lexeme);
    return refused;
  }

  #meet(type: CST.TokenType | null, lexeme: string): Refused | undefined {
    switch (type) {
      case "space":
      case "newline":
      case "comment":
      case "doc-end":
      case "comma":
      case "byte-order-mark":
        return undefined;
      case "doc-start":
        this.#columns.length = 0;
        return undefined;
      case "flow-map-start":
      case "flow-seq-start":
        this.#flow++;
        break;
      case "flow-map-end":
      case "flow-seq-end":
        this.#flow = Math.max(0, this.#flow - 1);
        return undefined;
      case "alias":
        if (++this.#aliases > LIMITS.aliases)
          return tooLarge("the file uses too many aliases", "use variables instead");
        break;
      case "tag":
        return notUsable(
          this.#source.isHidden ? "a tag cannot be used" : `the tag ${shortened(lexeme, 40)} cannot be used`,
          "remove the tag; a spec contains plain values only",
        );
      case "directive-line":
        if (/^%YAML\s+1\.2\s*$/.test(lexeme)) return undefined;
        return notUsable("YAML directives cannot be used", "remove the line");
      default:
        if (this.#flow === 0) this.#indent(this.at - this.#lineStart);
    }
    if (this.#columns.length + this.#flow <= LIMITS.depth) return undefined;
    return tooLarge(
      `lists and maps are nested more than ${LIMITS.depth} levels deep`,
      "check for brackets that are never closed; a spec needs fewer than 10 levels",
    );
  }

  #indent(column: number): void {
    for (let top = this.#columns.at(-1); top !== undefined && top >= column; top = this.#columns.at(-1))
      this.#columns.pop();
    this.#columns.push(column);
  }

  #followLines(lexeme: string): void {
    const last = lexeme.lastIndexOf("\n");
    if (last >= 0) this.#lineStart = this.at + last + 1;
    else if (this.#source.text.charCodeAt(this.#next - 1) === 13) this.#lineStart = this.#next;
  }
}

const tooLarge = (message: string, hint: string): Refused => ({ code: "SPEC_TOO_LARGE", message, hint });
const notUsable = (message: string, hint: string): Refused => ({ code: "SPEC_YAML", message, hint });

interface Words {
  readonly message: string;
  readonly hint?: string;
}

const WORDS: Partial<Record<ErrorCode, Words>> = {
  BAD_INDENT: {
    message: "the indentation is not valid",
    hint: "start all entries of one map or list in the same column",
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "the line contains a second key",
    hint: "move it to a separate line, or quote the string if the colon belongs to it",
  },
  MISSING_CHAR: {
    message: "a character is missing",
    hint: "close the quote or bracket, or add a space after the colon",
  },
  MULTILINE_IMPLICIT_KEY: { message: "a key spans several lines", hint: "check for a missing colon" },
  UNEXPECTED_TOKEN: { message: "unexpected text", hint: "quote it if it belongs to a string" },
  BAD_DQ_ESCAPE: {
    message: "the string contains an unknown escape sequence",
    hint: "for a backslash, write \\\\, or use single quotes",
  },
  BAD_SCALAR_START: { message: "a string cannot start with this character", hint: "quote the string" },
};

const UNCLOSED: Words = {
  message: "a bracket or brace is not closed, or its content is not indented enough",
  hint: "close it, or indent its content",
};

/** `{ a: ${var.b} }`: YAML reads the brace of the expression as the start of a map. */
function isUnquoted({ code, pos: [at] }: YAMLError, { text }: SourceText): boolean {
  return code === "UNEXPECTED_TOKEN" && text.slice(at - 1, at + 1) === "${";
}

/** A line that git writes where two versions of a file conflict. */
const CONFLICT = /^(<{7}|>{7})( .*)?$/m;

/** Reports what causes other problems alone (a conflict, tabs, unquoted expressions), or else the first problem of each line. */
export function reportSyntax(errors: readonly YAMLError[], source: SourceText, findings: Findings): void {
  hideUnreadable(source);
  const conflict = CONFLICT.exec(source.text);
  if (conflict !== null) {
    const at = { source, start: conflict.index, end: conflict.index + 7 };
    findings.error("SPEC_YAML", "the file contains an unresolved merge conflict", at, {
      hint: "keep one of the versions, and remove the lines with <<<<<<<, =======, and >>>>>>>",
    });
    return;
  }
  const tabs = errors.filter(({ code }) => code === "TAB_AS_INDENT");
  const [tab] = tabs;
  if (tab !== undefined) {
    const lines = new Set(tabs.map(({ pos: [start] }) => source.lineOf(start))).size;
    const more = lines === 1 ? "" : ` (and in ${count(lines - 1, "other line")})`;
    const [start, end] = tab.pos;
    findings.error(
      "SPEC_YAML",
      `a tab is used for indentation${more}`,
      { source, start, end },
      { hint: "indent with spaces" },
    );
    return;
  }
  const unquoted = errors.filter((error) => isUnquoted(error, source));
  for (const { pos } of unquoted.slice(0, LIMITS.syntaxErrors))
    findings.error(
      "SPEC_YAML",
      "an expression inside { } or [ ] must be quoted",
      { source, start: pos[0] - 1, end: pos[1] },
      { hint: 'write "${…}"' },
    );
  if (unquoted.length > 0) return;
  const lines = new Map<number, YAMLError>();
  for (const error of errors) {
    const line = source.text.lastIndexOf("\n", error.pos[0] - 1);
    if (!lines.has(line)) lines.set(line, error);
  }
  for (const error of [...lines.values()].slice(0, LIMITS.syntaxErrors)) {
    const isUnclosed = error.code === "BAD_INDENT" && error.message.startsWith("Flow");
    const words = isUnclosed ? UNCLOSED : WORDS[error.code];
    const [start, end] = error.pos;
    const message = words?.message ?? "the text is not valid YAML";
    // The parser's words quote the text.
    const cause = source.isHidden ? {} : { cause: shortened(error.message.split("\n", 1)[0] ?? "", 200) };
    findings.error("SPEC_YAML", message, { source, start, end }, { ...cause, hint: words?.hint });
  }
}
