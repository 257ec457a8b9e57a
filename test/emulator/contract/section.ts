// What a section of the contract is here: its rules, what it leaves open, and what it tells that no request can show.

/** One thing that a rule says, in few words, and how the claims of the tests that show it read. */
export type Clauses = Readonly<Record<string, RegExp>>;

/**
 * `id` and the subject of a rule are what the name of a test begins with: `A4.4 rule 5: …`. A rule that says several things
 * has a clause for each.
 */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly rules: Readonly<Record<string, string | Clauses>>;
  /** What the contract does not show or leaves to choose, and what the emulator does there. */
  readonly open: Readonly<Record<string, readonly [question: string, decided: string]>>;
  /** What the contract tells its readers; no answer of the service depends on it. */
  readonly told: Readonly<Record<string, readonly [says: string, why: string]>>;
}

export function section(
  id: string,
  title: string,
  rules: Section["rules"],
  more: Partial<Pick<Section, "open" | "told">> = {},
): Section {
  return { id, title, rules, open: {}, told: {}, ...more };
}
