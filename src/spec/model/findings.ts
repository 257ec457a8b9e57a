// What a check of the spec finds: a diagnostic whose place is still a span, so that locating costs only what is shown.

import type { Address } from "../../core/address.ts";
import type { Code } from "../../core/codes.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { locationOf, type Span } from "./source.ts";

export interface Finding {
  readonly severity: "error" | "warning";
  readonly code: Code;
  readonly message: string;
  readonly at: Span | undefined;
  readonly address?: Address;
  readonly hint?: string;
  readonly cause?: string;
}

type Details = Partial<Pick<Finding, "address" | "hint" | "cause">>;

/** Everything found so far. The same sentence at the same place is kept once. */
export class Findings {
  readonly #all: Finding[] = [];
  readonly #seen = new Set<string>();
  readonly #ignored = new Set<Code>();
  #errors = 0;

  error(code: Code, message: string, at: Span | undefined, details: Details = {}): void {
    this.add({ severity: "error", code, message, at, ...details });
  }

  warning(code: Code, message: string, at: Span | undefined, details: Details = {}): void {
    this.add({ severity: "warning", code, message, at, ...details });
  }

  add(finding: Finding): void {
    if (this.#ignored.has(finding.code)) return;
    const key = `${finding.code}\n${finding.message}\n${finding.at?.source.file}\n${finding.at?.start}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#all.push(finding);
    if (finding.severity === "error") this.#errors++;
  }

  /** From now on these codes are not kept: what they would say may come from what is missing. */
  ignore(codes: readonly Code[]): void {
    for (const code of codes) this.#ignored.add(code);
  }

  /** Whether every error so far has one of these codes. */
  onlyOf(codes: readonly Code[]): boolean {
    return this.#all.every((one) => one.severity !== "error" || codes.includes(one.code));
  }

  has(code: Code): boolean {
    return this.#all.some((one) => one.code === code);
  }

  get failed(): boolean {
    return this.#errors > 0;
  }

  /** All findings, located, file by file, in the order of their places. */
  diagnostics(framed = FRAMED): readonly Diagnostic[] {
    const files = new Map<string, number>();
    for (const { at } of this.#all)
      if (at !== undefined && !files.has(at.source.file)) files.set(at.source.file, files.size);
    const rank = (one: Finding): number => (one.at === undefined ? -1 : (files.get(one.at.source.file) ?? 0));
    const sorted = this.#all.toSorted((a, b) => rank(a) - rank(b) || (a.at?.start ?? 0) - (b.at?.start ?? 0));
    return sorted.map((one, at) => diagnosticOf(one, at < framed));
  }
}

/** Nobody reads more frames than these; drawing them all would cost more than finding what is wrong. */
const FRAMED = 500;

function diagnosticOf(finding: Finding, framed: boolean): Diagnostic {
  const { severity, code, message, at, address, hint, cause } = finding;
  return {
    severity,
    code,
    message,
    ...(address === undefined ? {} : { address }),
    ...(at === undefined ? {} : { at: locationOf(at, framed) }),
    ...(hint === undefined ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
  };
}
