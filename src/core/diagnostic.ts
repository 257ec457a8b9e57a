// A diagnostic: a problem as a value, with its location and a hint.

import type { Address } from "./address.ts";
import type { Code } from "./codes.ts";

/** A place in a spec file; line and column count from 1. `frame` shows the lines around it. */
export interface Location {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly frame?: string;
  /** Of a value in a module, or one that an expression takes from elsewhere: the places that a diagnostic shows. */
  readonly traced?: { readonly at: Location; readonly usedAt: readonly Location[] };
}

/** `workspace.yaml:3:11`. */
export function placeText({ file, line, column }: Location): string {
  return `${file}:${line}:${column}`;
}

export function withoutSourceLines({ file, line, column }: Location): Location {
  return { file, line, column };
}

/** The rule that a finding is about. `severity`: what the rule says about its violations. */
export interface DiagnosticRule {
  readonly name: string;
  readonly severity: string;
  readonly at: Location;
}

export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly code: Code;
  /** The problem, without a final period. */
  readonly message: string;
  readonly address?: Address;
  readonly at?: Location;
  /** In a module: the entries that use it, innermost first. */
  readonly usedAt?: readonly Location[];
  readonly rule?: DiagnosticRule;
  /** The next step. */
  readonly hint?: string;
  /** The underlying cause: a server's message or a system error. */
  readonly cause?: string;
}

type Details = Partial<Pick<Diagnostic, "address" | "at" | "hint" | "cause" | "rule">>;

export function error(code: Code, message: string, details: Details = {}): Diagnostic {
  return { severity: "error", code, message, ...traced(details) };
}

export function warning(code: Code, message: string, details: Details = {}): Diagnostic {
  return { severity: "warning", code, message, ...traced(details) };
}

/** With the place where the value was written first, and those that use it after it. */
function traced(details: Details): Details & Pick<Diagnostic, "usedAt"> {
  const { traced: trace } = details.at ?? {};
  return trace === undefined ? details : { ...details, ...trace };
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === "error");
}

/** The message of a thrown value, as the cause of a diagnostic. */
export function thrownText(problem: unknown): string {
  return problem instanceof Error ? problem.message : String(problem);
}

/** What the system, a library, or a database calls an error, such as ENOENT or an SQLSTATE. */
export function errorCode(problem: unknown): string | undefined {
  return problem instanceof Error && "code" in problem && typeof problem.code === "string"
    ? problem.code
    : undefined;
}

/** Carries diagnostics through code that cannot continue. */
export class Failure extends Error {
  readonly diagnostics: readonly Diagnostic[];
  constructor(...diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map((diagnostic) => `${diagnostic.code}: ${diagnostic.message}`).join("; "));
    this.diagnostics = diagnostics;
  }
}

export function failureOf(code: Code, message: string, details: Details = {}): Failure {
  return new Failure(error(code, message, details));
}
