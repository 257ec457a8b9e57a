// Sections of the contract for tests: rules, open points, and statements that no request can show.

/** Each clause of a rule, in few words, with a pattern for the claims of the tests that show it. */
export type Clauses = Readonly<Record<string, RegExp>>;

/**
 * The name of a test begins with `id` and the subject of a rule: `A4.4 rule 5: …`. A rule with several statements has a
 * clause for each.
 */
export interface Section {
  readonly id: string;
  readonly title: string;
  readonly rules: Readonly<Record<string, string | Clauses>>;
  /** Open points of the contract, and the behavior of the emulator. */
  readonly open: Readonly<Record<string, readonly [question: string, decided: string]>>;
  /** Statements that no answer of the service depends on. */
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
