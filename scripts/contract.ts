// Writes docs/contract.md from the rules of the contract and the names of the tests (npm run contract), and reports
// errors.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sections } from "../test/emulator/contract/rules.ts";
import { claimOf, join, unmatched, untested } from "./contract/join.ts";
import { namesIn } from "./contract/names.ts";
import { pageOf } from "./contract/page.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PAGE = new URL("../docs/contract.md", import.meta.url);

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

if (import.meta.main) {
  const { page, missing, unmatched: lost } = contractReport();
  writeFileSync(PAGE, page);
  for (const one of missing) console.error(`no test shows ${one}`);
  for (const one of lost) console.error(`no such rule: ${one}`);
  process.exitCode = missing.length + lost.length > 0 ? 1 : 0;
}
