// The lexical check of a YAML text before anything recursive sees it: nesting, size, aliases, tags and directives.

import type { CST } from "yaml";
import type { Findings } from "./finding.ts";
import { LIMITS } from "./limits.ts";
import type { Source } from "./locate.ts";
import { yaml } from "./rare.ts";

/** The concrete syntax of a text, or undefined where a limit is exceeded; the reason goes into `findings`. */
export function tokensOf(source: Source, findings: Findings): readonly CST.Token[] | undefined {
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
  readonly #source: Source;
  readonly #typeOf = yaml().CST.tokenType;
  #next = 0;
  #lineStart = 0;
  #count = 0;
  #flow = 0;
  #aliases = 0;
  /** Columns at which something started that may hold what comes further right. */
  readonly #columns: number[] = [];

  constructor(source: Source) {
    this.#source = source;
  }

  check(lexeme: string): Refused | undefined {
    const type = this.#typeOf(lexeme);
    this.at = this.#next;
    // The lexer's own marks (a scalar follows, flow ended badly) are no part of the text.
    if (type === "scalar" || type === "doc-mode" || type === "flow-error-end") return undefined;
    this.#next += lexeme.length;
    if (++this.#count > LIMITS.tokens)
      return { code: "SPEC_TOO_LARGE", message: "the file is too large", hint: "split it and use include" };
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
