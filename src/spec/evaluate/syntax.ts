// The grammar of expressions: literals, paths such as `each.value.size`, and calls such as `lower(var.env)`.

import { ROOTS, type Root } from "../../expressions/template.ts";
import type { ScalarValue } from "../model/tree.ts";
import { plainScalar } from "../yaml/scalars.ts";

export type PathStep = string | number;

export interface SyntaxPlace {
  readonly start: number;
  readonly end: number;
}

export type Syntax =
  | { readonly type: "literal"; readonly value: ScalarValue }
  | ({ readonly type: "path"; readonly root: Root; readonly path: readonly PathStep[] } & SyntaxPlace)
  | ({ readonly type: "call"; readonly name: string; readonly operands: readonly Syntax[] } & SyntaxPlace);

/** Thrown for a string that is not an expression; the message continues `${…}: `. */
export class SyntaxProblem extends Error {
  readonly at: SyntaxPlace;

  constructor(message: string, at: SyntaxPlace) {
    super(message);
    this.at = at;
  }
}

const LONGEST = 4_096;
const DEEPEST = 16;

export function parseExpression(text: string): Syntax {
  if (text.length > LONGEST)
    throw new SyntaxProblem(`an expression has at most ${LONGEST} characters`, {
      start: 0,
      end: text.length,
    });
  const parser = new Parser(text);
  const syntax = parser.expression(0);
  parser.end();
  return syntax;
}

const TOKEN =
  /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(-?\d+(?:\.\d+)?(?![\w.-]))|([A-Za-z_][\w-]*)|([.,()[\]]))/y;
const SEGMENT = /[\w-]+(?:\/[\w-]+)*/y;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  expression(depth: number): Syntax {
    const start = this.#at + (/^\s*/.exec(this.#text.slice(this.#at))?.[0].length ?? 0);
    if (depth > DEEPEST)
      throw new SyntaxProblem(`calls nest at most ${DEEPEST} deep`, { start, end: this.#text.length });
    const [, string, number, name] = this.#token() ?? [];
    if (string !== undefined) return { type: "literal", value: unquoted(string) };
    if (number !== undefined) return { type: "literal", value: plainScalar(number) ?? Number(number) };
    if (name === undefined) throw this.#unexpected(start);
    if (this.#take("(")) {
      const operands = this.#operands(depth);
      return { type: "call", name, operands, start, end: this.#at };
    }
    const root = ROOTS.find((one) => one === name);
    if (root !== undefined) return this.#path(root, start);
    if (name === "true" || name === "false") return { type: "literal", value: name === "true" };
    if (name === "null") return { type: "literal", value: null };
    throw new SyntaxProblem(
      `${JSON.stringify(name)} is not a value; paths begin with ${ROOTS.slice(0, -1).join(", ")}, or modules`,
      { start, end: this.#at },
    );
  }

  end(): void {
    if (this.#text.slice(this.#at).trim() !== "") throw this.#unexpected(this.#at);
  }

  #operands(depth: number): readonly Syntax[] {
    const operands: Syntax[] = [];
    if (this.#take(")")) return operands;
    do operands.push(this.expression(depth + 1));
    while (this.#take(","));
    if (!this.#take(")")) throw this.#unexpected(this.#at);
    return operands;
  }

  #path(root: Root, start: number): Syntax {
    const path: PathStep[] = [];
    for (;;)
      if (this.#take(".")) path.push(this.#segment());
      else if (this.#take("[")) path.push(this.#index());
      else break;
    const place = { start, end: this.#at };
    if (path.length === 0) throw new SyntaxProblem(`${root} needs a name, as in ${root}.name`, place);
    return { type: "path", root, path, ...place };
  }

  #segment(): string {
    SEGMENT.lastIndex = this.#at;
    const found = SEGMENT.exec(this.#text)?.[0];
    if (found === undefined) throw this.#unexpected(this.#at);
    this.#at += found.length;
    return found;
  }

  #index(): PathStep {
    const start = this.#at;
    const [, string, number] = this.#token() ?? [];
    if (!this.#take("]")) throw this.#unexpected(this.#at);
    if (string !== undefined) return unquoted(string);
    if (number === undefined || !/^\d+$/.test(number)) throw this.#unexpected(start);
    return Number(number);
  }

  #token(): RegExpExecArray | undefined {
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text) ?? undefined;
    if (found !== undefined) this.#at = TOKEN.lastIndex;
    return found;
  }

  #take(mark: string): boolean {
    const before = this.#at;
    if (this.#token()?.[4] === mark) return true;
    this.#at = before;
    return false;
  }

  #unexpected(at: number): SyntaxProblem {
    const rest = this.#text.slice(at).trim();
    return new SyntaxProblem(
      rest === ""
        ? "the expression is incomplete"
        : `${JSON.stringify(rest.slice(0, 40))} is not expected here`,
      { start: rest === "" ? this.#text.length : this.#text.indexOf(rest, at), end: this.#text.length },
    );
  }
}

function unquoted(literal: string): string {
  return literal.slice(1, -1).replace(/\\(.)/g, (_, one: string) => (one === "n" ? "\n" : one));
}
