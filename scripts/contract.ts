// Writes docs/internals/contract.md from the rules of the contract and the names of the tests (npm run contract), and reports
// errors.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sections } from "../test/emulator/contract/rules.ts";
import type { Section } from "../test/emulator/contract/section.ts";
import { namesIn, type TestName } from "./contract/names.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = new URL("../docs/internals/contract.md", import.meta.url);

export interface ContractReport {
  readonly page: string;
  readonly stale: boolean;
  /** What the contract says and no test shows. */
  readonly missing: readonly string[];
  /** Names of tests that begin with a rule which there is not. */
  readonly unmatched: readonly string[];
}

export function contractReport(): ContractReport {
  const files = globSync("test/emulator/**/*.test.ts", { cwd: ROOT }).sort();
  const claims = files
    .flatMap((file) => namesIn(file, readFileSync(`${ROOT}${file}`, "utf8")))
    .flatMap((test) => claimOf(test) ?? []);
  const joined = join(sections, claims);
  const page = pageOf(joined);
  return {
    page,
    stale: written() !== page,
    missing: untested(joined).map(({ rule, says }) => `${rule}: ${says}`),
    unmatched: unmatched(sections, claims).map(({ file, name }) => `${file}: ${name}`),
  };
}

function written(): string | undefined {
  try {
    return readFileSync(PAGE, "utf8");
  } catch {
    return undefined;
  }
}

/** A test that names a rule; its claim is the text after the colon. */
export interface Claim extends TestName {
  readonly claim: string;
  readonly rules: readonly string[];
}

/** One sentence of the contract, with the tests that show it. */
interface Row {
  readonly rule: string;
  readonly says: string;
  readonly tests: readonly Claim[];
}

interface Joined {
  readonly section: Section;
  readonly rows: readonly Row[];
  /** Questions that the contract leaves open. */
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

const ABOUT = `# The contract, rule by rule

Which test shows that the emulator obeys which rule of the workspace administration API. \`npm run contract\` writes this page from
the rules in \`test/emulator/contract\` and the names of the tests; \`npm test\` fails when it is stale, when a rule has no test, or
when a test names a rule that there is not.
`;

export function pageOf(joined: readonly Joined[]): string {
  const rows = joined.flatMap(({ rows }) => rows);
  const missing = untested(joined).length;
  const tests = new Set(joined.flatMap(({ rows, open }) => [...rows, ...open].flatMap((row) => row.tests)));
  const open = joined.flatMap((one) => one.open).length;
  const counts = `${rows.length} rules of the contract, ${missing} without a test; ${open} open points; ${tests.size} tests.\n`;
  return `${[ABOUT, counts, ...joined.map(sectionText)].join("\n")}`;
}

function sectionText({ section, rows, open }: Joined): string {
  const told = Object.entries(section.told);
  return [
    `## ${section.id} ${section.title}\n`,
    ...table(
      ["Rule", "It says", "Shown by"],
      rows.map((row) => [row.rule, row.says, shown(row.tests)]),
    ),
    ...table(
      ["Left open", "What the emulator does", "Shown by"],
      open.map((row) => [row.says, row.decided, row.tests.map(linked).join("<br>")]),
    ),
    ...table(
      ["Rule", "Told to readers", "Here"],
      told.map(([rule, row]) => [`${section.id} ${rule}`, ...row]),
    ),
  ].join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const lines = [head, head.map(() => "---"), ...rows.map((row) => row.map(cell))];
  return [...lines.map((line) => `| ${line.join(" | ")} |`), ""];
}

function shown(tests: readonly Claim[]): string {
  return tests.length === 0 ? "**missing**" : tests.map(linked).join("<br>");
}

/** The claim, with a link to its file. Placeholders of tables of tests are shown as dots. */
function linked({ claim, file }: Claim): string {
  const name = file.replace(/^.*?emulator\//, "").replace(/^routes\/|\.test\.ts$/g, "");
  const readable = claim
    .replaceAll(/%[sj]/g, "…")
    .replaceAll(/[<>]/g, (sign) => (sign === "<" ? "&lt;" : "&gt;"));
  return `${readable} ([${name}](../../${file}))`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

if (import.meta.main) {
  const { page, missing, unmatched: lost } = contractReport();
  writeFileSync(PAGE, page);
  for (const one of missing) console.error(`no test shows ${one}`);
  for (const one of lost) console.error(`no such rule: ${one}`);
  process.exitCode = missing.length + lost.length > 0 ? 1 : 0;
}
