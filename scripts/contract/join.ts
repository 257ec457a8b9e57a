// Which test shows which rule: the names of tests against the sections of the contract.

import type { Section } from "../../test/emulator/contract/section.ts";
import type { TestName } from "./names.ts";

/** A test that names a rule: its claim is what stands after the colon. */
export interface Claim extends TestName {
  readonly claim: string;
  readonly rules: readonly string[];
}

/** One thing that the contract says, with the tests that show it. */
export interface Row {
  readonly rule: string;
  readonly says: string;
  readonly tests: readonly Claim[];
}

export interface Joined {
  readonly section: Section;
  readonly rows: readonly Row[];
  /** What the contract leaves open: `says` is the question. */
  readonly open: readonly (Row & { readonly decided: string })[];
}

const CITES = /^(A conventions[^:]*|[AB]\d[^:]*): (.*)$/s;
const SECTION = /^(A(?= conventions)|[AB]\d(?:\.\d)?)\s*(.*)$/s;

/** The rules that a name begins with: `B6 CREATING, RUNNING: …` names two. Undefined for a name without a rule. */
export function claimOf(test: TestName): Claim | undefined {
  const [, head, claim] = CITES.exec(test.name) ?? [];
  if (head === undefined || claim === undefined) {
    return /^[AB]\d/.test(test.name) ? { ...test, claim: test.name, rules: [test.name] } : undefined;
  }
  let section = "";
  const rules = head.split(", ").map((part) => {
    const [, id = section, subject = part] = SECTION.exec(part) ?? [];
    section = id;
    return `${id} ${subject}`.trim();
  });
  return { ...test, claim, rules };
}

export function join(sections: readonly Section[], claims: readonly Claim[]): Joined[] {
  const byRule = new Map<string, Claim[]>();
  for (const claim of claims)
    for (const rule of claim.rules) byRule.set(rule, [...(byRule.get(rule) ?? []), claim]);
  const citing = (id: string, subject: string) => byRule.get(`${id} ${subject}`) ?? [];
  return sections.map((section) => ({
    section,
    rows: Object.entries(section.rules).flatMap(([subject, says]) =>
      rowsOf(`${section.id} ${subject}`, says, citing(section.id, subject)),
    ),
    open: Object.entries(section.open).map(([subject, [question, decided]]) => ({
      rule: `${section.id} ${subject}`,
      says: question,
      decided,
      tests: citing(section.id, subject),
    })),
  }));
}

function rowsOf(rule: string, says: Section["rules"][string], tests: readonly Claim[]): Row[] {
  if (typeof says === "string") return [{ rule, says, tests }];
  const rows = Object.entries(says).map(([clause, claimed]) => ({
    rule,
    says: clause,
    tests: tests.filter(({ claim }) => claimed.test(claim)),
  }));
  const others = tests.filter((test) => !rows.some((row) => row.tests.includes(test)));
  return others.length === 0 ? rows : [...rows, { rule, says: "also", tests: others }];
}

/** Rules, or clauses of rules, without a test. */
export function untested(joined: readonly Joined[]): Row[] {
  return joined.flatMap(({ rows }) => rows).filter(({ tests }) => tests.length === 0);
}

/** Tests that name a rule which there is not. */
export function unmatched(sections: readonly Section[], claims: readonly Claim[]): Claim[] {
  const known = new Set(
    sections.flatMap(({ id, rules, open }) =>
      [...Object.keys(rules), ...Object.keys(open)].map((subject) => `${id} ${subject}`),
    ),
  );
  return claims.filter(({ rules }) => rules.some((rule) => !known.has(rule)));
}
