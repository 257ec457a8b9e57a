// What a report shows of a plan, of drift, or of the history, by `--show` and `--hide`: filters by action, severity, kind, and address.

import { type Address, globMatcher, kindOf } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { count, listed } from "../../core/sentences.ts";
import { nearestHint } from "../../core/suggest.ts";
import type { Action } from "../../planner/model/change.ts";
import { summaryOf } from "../../planner/model/plan.ts";
import { SEVERITIES, type Severity } from "../../resource/field-schema.ts";
import { plannedCounts } from "../text/vocabulary.ts";

const WORDS = [
  "destroys",
  "creates",
  "updates",
  "replaces",
  "deletes",
  "adopts",
  "imports",
  "moves",
  "forgets",
  "compares",
  ...SEVERITIES,
  "drift",
  "changed",
  "deleted",
  "appeared",
  "unmanaged",
] as const;

/** What a state records of a run. */
export const ACTION_WORDS = WORDS.slice(0, 9);

type Word = (typeof WORDS)[number];

type Term =
  | { readonly by: "word"; readonly word: Word }
  | { readonly by: "kind" | "address"; readonly glob: string; matches(text: string): boolean };

/** An entry of a report as its filters see it. */
export interface Entry {
  readonly address: string;
  readonly kind: string;
  readonly words: readonly string[];
}

export interface Filter {
  /** As the user wrote it. */
  readonly text: string;
  /** Whether the entry fits at least one of the terms. */
  fits(entry: Entry): boolean;
  /** The kinds that it names without a glob. */
  readonly kinds: readonly string[];
}

/** An entry is shown if it fits each filter of `show` and none of `hide`. */
export interface Choice {
  readonly show: readonly Filter[];
  readonly hide: readonly Filter[];
}

export const SHOW_ALL: Choice = { show: [], hide: [] };

const GLOB = /[*?[{(]/;

/** A comma in the braces of a glob separates no terms. */
const BETWEEN_TERMS = /,(?![^{}]*\})/;

/** `destroys,security`, `kind=jobs`, or an address or a glob of addresses. Calls `refuse` for a term that is none of these. */
export function rowFilter(
  text: string,
  refuse: (why: string) => void,
  words: readonly Word[] = WORDS,
): Filter {
  const terms = text.split(BETWEEN_TERMS).flatMap((part): readonly Term[] => {
    const term = termOf(part.trim(), words);
    if (term !== undefined) return [term];
    const all = [...words, "kind=KIND", "address=ADDRESS"];
    refuse(nearestHint(part.trim(), words, `use one of ${all.join(", ")}`));
    return [];
  });
  return {
    text,
    fits: (entry) => terms.some((term) => fitsTerm(entry, term)),
    kinds: terms.flatMap((term) => (term.by === "kind" && !GLOB.test(term.glob) ? [term.glob] : [])),
  };
}

function termOf(text: string, words: readonly Word[]): Term | undefined {
  const word = words.find((choice) => choice === text || choice === `${text}s`);
  if (word !== undefined) return { by: "word", word };
  const [, by, glob = ""] = /^(kind|address)=(.+)$/s.exec(text) ?? [];
  if (by === "kind" || by === "address") return { by, glob, matches: globMatcher(glob) };
  const isAddress = /^\w+\./.test(text) || GLOB.test(text);
  return isAddress ? { by: "address", glob: text, matches: globMatcher(text) } : undefined;
}

function fitsTerm({ address, kind, words }: Entry, term: Term): boolean {
  if (term.by === "word") return words.includes(term.word);
  return term.matches(term.by === "kind" ? kind : address);
}

/** Errors for kinds that do not exist: a filter with one shows nothing, or hides nothing. */
export function unknownKinds({ show, hide }: Choice, kinds: readonly string[]): readonly Diagnostic[] {
  return [...show, ...hide].flatMap((filter) =>
    filter.kinds
      .filter((kind) => !kinds.includes(kind))
      .map((kind) =>
        error("CLI_USAGE", `no kind is named ${JSON.stringify(kind)}`, {
          hint: nearestHint(kind, kinds, `use one of ${kinds.join(", ")}`, "words"),
        }),
      ),
  );
}

export function isChosen({ show, hide }: Choice, entry: Entry): boolean {
  return show.every((filter) => filter.fits(entry)) && !hide.some((filter) => filter.fits(entry));
}

/** A run is shown if an entry fits each filter of `show`, and hidden if all entries fit one of `hide`. */
export function isRunChosen({ show, hide }: Choice, entries: readonly Entry[]): boolean {
  return (
    show.every((filter) => entries.some((entry) => filter.fits(entry))) &&
    !hide.some((filter) => entries.every((entry) => filter.fits(entry)))
  );
}

interface ChangeRow {
  readonly address: string;
  readonly kind: string;
  readonly action: Action;
  readonly destroys: boolean;
  readonly severity: Severity | undefined;
}

export function changeEntry({ address, kind, action, destroys, severity }: ChangeRow): Entry {
  const words = action === "report" ? ["unmanaged"] : [`${action}s`];
  return {
    address,
    kind,
    words: [...words, ...(destroys ? ["destroys"] : []), ...(severity === undefined ? [] : [severity])],
  };
}

interface DriftRow {
  readonly address: string;
  readonly kind: string;
  readonly what: string;
  readonly severity: Severity;
}

export function driftEntry({ address, kind, what, severity }: DriftRow): Entry {
  return { address, kind, words: ["drift", what, severity] };
}

export function unmanagedEntry({ address }: { readonly address: string }): Entry {
  return { address, kind: kindOf(address as Address), words: ["unmanaged"] };
}

interface Hidden {
  readonly changes?: readonly Pick<ChangeRow, "action">[];
  readonly drift?: number;
  readonly unmanaged?: number;
}

/** `Hidden by --hide: 12 changes (3 to create, 9 to update), drift of 2 resources.` Undefined if nothing is. */
export function hiddenLine(
  choice: Choice,
  { changes = [], drift = 0, unmanaged = 0 }: Hidden,
): string | undefined {
  const counts = plannedCounts(summaryOf(changes)).join(", ");
  return hiddenSentence(choice, [
    ...(changes.length === 0 ? [] : [`${count(changes.length, "change")} (${counts})`]),
    ...(drift === 0 ? [] : [`drift of ${count(drift, "resource")}`]),
    ...(unmanaged === 0 ? [] : [count(unmanaged, "unmanaged object")]),
  ]);
}

export function hiddenSentence({ show, hide }: Choice, parts: readonly string[]): string | undefined {
  if (parts.length === 0) return undefined;
  const options = [...(show.length === 0 ? [] : ["--show"]), ...(hide.length === 0 ? [] : ["--hide"])];
  return `Hidden by ${listed(options)}: ${parts.join(", ")}.`;
}

/** A document has everything; `chosen` says what the other forms show of it. */
export function choiceJson({ show, hide }: Choice, hidden: Readonly<Record<string, number>>) {
  if (show.length === 0 && hide.length === 0) return undefined;
  return { show: show.map(({ text }) => text), hide: hide.map(({ text }) => text), ...hidden };
}
