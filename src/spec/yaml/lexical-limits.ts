// The lexical check of a YAML text before anything recursive sees it: nesting, size, aliases, tags and directives.
// YAML's own problems in words for people who did not read its specification.

import type { CST, ErrorCode, YAMLError } from "yaml";
import { grouped } from "../../core/sentences.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import type { SourceText } from "../model/source.ts";
import { yaml } from "./rare.ts";

/** The concrete syntax of a text, or undefined where a limit is exceeded; the reason goes into `findings`. */
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
      findings.error("SPEC_YAML", "the file holds more than one YAML document", at, {
        hint: "keep one document in a file, and name further files under include",
      });
      return false;
    }
    return true;
  };
  for (const lexeme of new Lexer().lex(source.text)) {
    const refusal = guard.check(lexeme);
    if (refusal !== undefined) {
      const at = { source, start: guard.at, end: guard.at + lexeme.length };
      findings.error(refusal.code, refusal.message, at, { hint: refusal.hint });
      return undefined;
    }
    for (const token of parser.next(lexeme)) if (!take(token)) return undefined;
  }
  for (const token of parser.end()) if (!take(token)) return undefined;
  return tokens;
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
  /** Columns at which something started that may hold what comes further right. */
  readonly #columns: number[] = [];

  constructor(source: SourceText) {
    this.#source = source;
  }

  check(lexeme: string): Refused | undefined {
    const type = this.#typeOf(lexeme);
    this.at = this.#next;
    // The lexer's own marks (a scalar follows, flow ended badly) are no part of the text.
    if (type === "scalar" || type === "doc-mode" || type === "flow-error-end") return undefined;
    this.#next += lexeme.length;
    if (++this.#count > LIMITS.tokens)
      return {
        code: "SPEC_TOO_LARGE",
        message: `the file has more than ${grouped(LIMITS.tokens)} tokens, which is the limit`,
        hint: "split it and use include",
      };
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
          return {
            code: "SPEC_TOO_LARGE",
            message: "the file uses too many aliases",
            hint: "write variables instead",
          };
        break;
      case "tag":
        return tagRefused(lexeme);
      case "directive-line":
        return directiveRefused(lexeme);
      default:
        if (this.#flow === 0) this.#indent(this.at - this.#lineStart);
    }
    return this.#columns.length + this.#flow > LIMITS.depth ? tooDeep() : undefined;
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

function tooDeep(): Refused {
  return {
    code: "SPEC_TOO_LARGE",
    message: `lists and maps are nested more than ${LIMITS.depth} deep`,
    hint: "a spec needs less than ten levels; look for brackets that are never closed",
  };
}

function tagRefused(tag: string): Refused {
  return {
    code: "SPEC_YAML",
    message: `the tag ${tag.slice(0, 40)} cannot be used`,
    hint: "a spec holds plain values only; take the tag away",
  };
}

function directiveRefused(line: string): Refused | undefined {
  if (/^%YAML\s+1\.2\s*$/.test(line)) return undefined;
  return { code: "SPEC_YAML", message: "YAML directives cannot be used", hint: "take the line away" };
}

interface Words {
  readonly message: string;
  readonly hint?: string;
}

const WORDS: Partial<Record<ErrorCode, Words>> = {
  BAD_INDENT: {
    message: "the indentation does not fit",
    hint: "entries of one map or list start in the same column",
  },
  TAB_AS_INDENT: { message: "a tab is used for indentation", hint: "indent with spaces" },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "a second key stands on the same line",
    hint: "put it on a line of its own, or put the text in quotes if the colon belongs to it",
  },
  MISSING_CHAR: {
    message: "a character is missing",
    hint: "close the quote or bracket, or put a space after the colon",
  },
  MULTILINE_IMPLICIT_KEY: { message: "a key goes over several lines", hint: "a colon may be missing here" },
  UNEXPECTED_TOKEN: {
    message: "this is not expected here",
    hint: "put the text in quotes if it is one text",
  },
  BAD_DQ_ESCAPE: {
    message: "an escape in the text is unknown",
    hint: "write \\\\ for a backslash, or use single quotes",
  },
  BAD_SCALAR_START: { message: "a text may not start with this character", hint: "put the text in quotes" },
};

const UNCLOSED: Words = {
  message: "a bracket or brace is not closed, or its content starts too far left",
  hint: "close it, or indent what is in it",
};

function wordsFor(error: YAMLError): Words | undefined {
  return error.code === "BAD_INDENT" && error.message.startsWith("Flow") ? UNCLOSED : WORDS[error.code];
}

/** Reports what the YAML reader refused, the first problems only: later ones mostly follow from them. */
export function reportSyntax(errors: readonly YAMLError[], source: SourceText, findings: Findings): void {
  for (const error of errors.slice(0, LIMITS.syntaxErrors)) {
    const words = wordsFor(error);
    const [start, end] = error.pos;
    findings.error(
      "SPEC_YAML",
      words?.message ?? "the text is not YAML",
      { source, start, end },
      {
        cause: firstLine(error.message),
        ...(words?.hint === undefined ? {} : { hint: words.hint }),
      },
    );
  }
}

function firstLine(text: string): string {
  return text.slice(0, 200).split("\n", 1)[0] ?? "";
}
