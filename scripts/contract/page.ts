// The page docs/contract.md: a table for each section of the contract, rule by rule, with the tests that show it.

import { type Claim, type Joined, untested } from "./join.ts";

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
  return `${readable} ([${name}](../${file}))`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
