// Collects problems of a spec: diagnostics with spans, because only shown problems need a line and column.

import type { Address } from "../../core/address.ts";
import type { Code } from "../../core/codes.ts";
import type { Diagnostic, Location } from "../../core/diagnostic.ts";
import { SensitiveTexts } from "../../core/sensitive/texts.ts";
import { count, listed } from "../../core/sentences.ts";
import { didYouMean, suggester, type Vocabulary } from "../../core/suggest.ts";
import { locationOf, type Span } from "./source.ts";
import type { InstanceOrigin } from "./spec.ts";
import { describeNode, isNull, type MapNode, type SpecNode, type ValueSpan } from "./tree.ts";

export interface Finding {
  readonly severity: "error" | "warning";
  readonly code: Code;
  readonly message: string;
  readonly at: Span | undefined;
  readonly address?: Address;
  readonly hint?: string | undefined;
  readonly cause?: string;
  /** The places that use the value at `at`. */
  readonly usedAt?: readonly Span[];
  /** The instance of a module in which it was found. */
  readonly origin?: InstanceOrigin;
}

/** A finding, and the other resources of `for_each` and instances of the module in which it was found as well. */
interface Kept {
  readonly finding: Finding;
  readonly origin: InstanceOrigin | undefined;
  readonly addresses: Set<Address>;
  readonly others: Set<string>;
}

type Details = Partial<Pick<Finding, "address" | "hint" | "cause" | "usedAt">>;

/** All findings. The same sentence at the same place is kept once, with the other addresses of `for_each`, and counted for the instances of a module. */
export class Findings {
  readonly #all: Kept[] = [];
  readonly #byKey = new Map<string, Kept>();
  readonly #origins = new Map<Address, InstanceOrigin>();
  #origin: InstanceOrigin | undefined;
  readonly #ignored = new Set<Code>();
  #errors = 0;
  /** What no message and no frame may show, also of a spec with errors, as far as it could be read. */
  readonly sensitive = new SensitiveTexts();
  readonly suggest = suggester();

  /** A hint with the choice that is near; `otherwise` where none is. */
  didYouMean(
    word: string,
    choices: Iterable<string>,
    otherwise?: string,
    vocabulary: Vocabulary = "words",
  ): { readonly hint?: string } {
    return didYouMean(this.suggest(word, choices, vocabulary), otherwise);
  }

  error(code: Code, message: string, at: Span | undefined, details: Details = {}): void {
    this.add({ severity: "error", code, message, at, ...details });
  }

  warning(code: Code, message: string, at: Span | undefined, details: Details = {}): void {
    this.add({ severity: "warning", code, message, at, ...details });
  }

  wrongType(subject: string, wanted: string, node: SpecNode, details?: Details): void {
    this.error("SPEC_TYPE", `${subject} must be ${wanted}, not ${describeNode(node)}`, node, details);
  }

  /** The members of a map of names; none where it is absent, or after reporting that it is none. */
  names(subject: string, node: SpecNode | undefined): MapNode["members"] {
    if (node?.kind === "map") return node.members;
    if (node !== undefined && !isNull(node)) this.wrongType(subject, "a map of names", node);
    return new Map();
  }

  /** Reports each member of a map that is not one of its fields. */
  onlyFields(
    subject: string,
    node: MapNode,
    fields: readonly string[],
    details: (field: string) => Details,
  ): void {
    for (const [field, { key }] of node.members)
      if (!fields.includes(field))
        this.error(
          "SPEC_UNKNOWN_FIELD",
          `${subject} has no field ${JSON.stringify(field)}`,
          key,
          details(field),
        );
  }

  add(finding: Finding): void {
    if (this.#ignored.has(finding.code)) return;
    const origin = finding.origin ?? this.#originOf(finding);
    const unaddressed = finding.message.replaceAll(finding.address ?? "\n", "\n");
    const message = origin === undefined ? unaddressed : unaddressed.replaceAll(origin.prefix, "/");
    const key = `${finding.code}\n${message}\n${finding.at?.source.file}\n${finding.at?.start}`;
    const same = this.#byKey.get(key);
    if (same !== undefined) {
      if (origin !== undefined && origin.prefix !== same.origin?.prefix) same.others.add(origin.prefix);
      else if (finding.address !== undefined && finding.address !== same.finding.address)
        same.addresses.add(finding.address);
      return;
    }
    const kept = { finding, origin, addresses: new Set<Address>(), others: new Set<string>() };
    this.#byKey.set(key, kept);
    this.#all.push(kept);
    if (finding.severity === "error") this.#errors++;
  }

  /** Does work of an instance of a module: what is found meanwhile is found there. */
  within<T>(origin: InstanceOrigin | undefined, work: () => T): T {
    const before = this.#origin;
    this.#origin = origin;
    try {
      return work();
    } finally {
      this.#origin = before;
    }
  }

  /** From now on, what concerns an address is found in this instance. */
  belongs(address: Address, origin: InstanceOrigin): void {
    this.#origins.set(address, origin);
  }

  #originOf({ address }: Finding): InstanceOrigin | undefined {
    return this.#origin ?? (address === undefined ? undefined : this.#origins.get(address));
  }

  /** From now on these codes are not kept: what they would say may come from what is missing. */
  ignore(codes: readonly Code[]): void {
    for (const code of codes) this.#ignored.add(code);
  }

  /** Whether every error has one of these codes. */
  onlyOf(codes: readonly Code[]): boolean {
    return this.#all.every(({ finding }) => finding.severity !== "error" || codes.includes(finding.code));
  }

  has(code: Code): boolean {
    return this.#all.some(({ finding }) => finding.code === code);
  }

  hasAt({ source, start }: Span): boolean {
    return this.#all.some(({ finding: { at } }) => at?.source.file === source.file && at.start === start);
  }

  get failed(): boolean {
    return this.#errors > 0;
  }

  drain(): readonly Diagnostic[] {
    const diagnostics = this.diagnostics();
    this.#all.length = 0;
    this.#byKey.clear();
    this.#errors = 0;
    return diagnostics;
  }

  /** All findings, located, file by file, in the order of their places. */
  diagnostics(framed = FRAMED): readonly Diagnostic[] {
    const files = new Map<string, number>();
    for (const { finding } of this.#all)
      if (finding.at !== undefined && !files.has(finding.at.source.file))
        files.set(finding.at.source.file, files.size);
    const rank = ({ finding: { at } }: Kept): number =>
      at === undefined ? -1 : (files.get(at.source.file) ?? 0);
    const start = ({ finding }: Kept): number => finding.at?.start ?? 0;
    const sorted = this.#all.toSorted((a, b) => rank(a) - rank(b) || start(a) - start(b));
    const all = sorted.map((finding, at) => diagnosticOf(finding, at < framed));
    return this.sensitive.maskedMessages(all);
  }
}

/** The most frames that are drawn: drawing costs more than finding the problems. */
const FRAMED = 500;

function diagnosticOf({ finding, origin, addresses, others }: Kept, framed: boolean): Diagnostic {
  const { severity, code, message, at, usedAt = [], address, hint, cause } = finding;
  const forOthers = addresses.size === 0 ? "" : ` (and for ${listed([...addresses], "and", 3)})`;
  const repeated = others.size === 0 ? "" : ` (and in ${count(others.size, "other instance")} of the module)`;
  const uses = [...usedAt, ...usesOutside(at, origin)];
  return {
    severity,
    code,
    message: `${message}${forOthers}${repeated}`,
    address,
    at: at && locationOf(at, framed),
    usedAt: uses.length === 0 ? undefined : uses.map((use) => locationOf(use, false)),
    hint,
    cause,
  };
}

/** The place of a span, with those that a diagnostic shows: where its value was written, and what uses it. */
export function tracedLocationOf(span: ValueSpan, origin: InstanceOrigin | undefined): Location {
  const place = locationOf(span);
  const { written } = span;
  const uses = [...(written === undefined ? [] : [span]), ...usesOutside(written ?? span, origin)];
  if (uses.length === 0) return place;
  return Object.defineProperty(place, "traced", {
    get: () => ({ at: locationOf(written ?? span), usedAt: uses.map((use) => locationOf(use, false)) }),
  });
}

/** The uses of a module from outside the file of a place. What is wrong with the path of a module is found in its user. */
function usesOutside(at: Span | undefined, origin: InstanceOrigin | undefined): readonly Span[] {
  const uses = origin?.uses ?? [];
  const first = uses.findIndex(({ source }) => source.file !== at?.source.file);
  return first < 0 ? [] : uses.slice(first);
}
