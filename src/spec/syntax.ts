// YAML's own problems in words for people who did not read its specification.

import type { ErrorCode, YAMLError } from "yaml";
import type { Findings } from "./finding.ts";
import { LIMITS } from "./limits.ts";
import type { Source } from "./locate.ts";

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
export function reportSyntax(errors: readonly YAMLError[], source: Source, findings: Findings): void {
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
