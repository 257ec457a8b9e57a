// Citations in code and pages: documents, sections, and files that they name, and spellings that are not allowed.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

export interface Citing {
  readonly path: string;
  readonly text: string;
}

const CITING = [
  "src/**/*.ts",
  "test/**/*.ts",
  "bench/**/*.ts",
  "scripts/**/*.{ts,js}",
  "*.md",
  "docs/**/*.md",
];

/** Lists the sections and rules of the contract by their number, so it is the one page without citations of them. */
const CONTRACT = "docs/internals/contract.md";
/** Historical documents are not checked. */
const CHANGES = "CHANGELOG.md";

export const citingFiles = (): readonly Citing[] =>
  globSync(CITING)
    .sort()
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));

/** Paths and links that lead nowhere, as `file: citation`. */
export function brokenPaths(files: readonly Citing[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const wrong = new Set<string>();
    for (const [, cited = ""] of citedText(path, text).matchAll(
      /(?<![\w./-])((?:src|test|docs|bench|scripts|schemas|examples)\/[\w./-]*[\w/])/g,
    ))
      if (path !== CHANGES && !existsSync(cited) && !existsSync(`${cited}.ts`)) wrong.add(cited);
    if (path.endsWith(".md"))
      for (const [, link = "", page = "", heading] of text.matchAll(
        /\]\((?!https?:)(([^)#\s]*)(?:#([^)\s]+))?)\)/g,
      )) {
        const target = page === "" ? undefined : normalize(join(dirname(path), page));
        if (target !== undefined && !existsSync(target)) wrong.add(link);
        else if (heading !== undefined && target?.endsWith(".md") !== false) {
          const linked = target === undefined ? text : readFileSync(target, "utf8");
          if (!headingIds(linked).has(heading)) wrong.add(link);
        }
      }
    return [...wrong].map((one) => `${path}: ${one}`);
  });
}

/** The IDs that GitHub and the site give the headings of a page. */
function headingIds(page: string): ReadonlySet<string> {
  const headings = page.replace(/^(`{3,})[\s\S]*?^\1$/gm, "").matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .replace(/\]\([^)]*\)/g, "")
        .toLowerCase()
        .replace(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}

const RULES = String.raw`(?: rules? (\d+(?:(?:, | and | to )\d+(?![.\d]))*))?`;
const CITATIONS = [
  new RegExp(String.raw`\bcontract [AB] (?:\d+(?:\.\d+)?|conventions)\b${RULES}`, "g"),
  /\b(?:design|facts) \d+(?:\.\d+)?\b/g,
  /\b[Dd]ecision \d{4}\b/g,
];

/** Cited sections, rules, and decisions that do not exist, as `file: citation`. */
export function missingSections(files: readonly Citing[]): readonly string[] {
  const known = citableSections();
  return reported(files, (text) =>
    CITATIONS.flatMap((pattern) =>
      [...text.matchAll(pattern)].flatMap(([citation, rules]) => {
        const section = citation.replace(/ rules? .*/, "").replace("Decision", "decision");
        const wanted = rules?.match(/\d+/g)?.map((rule) => `${section} rule ${rule}`) ?? [];
        return [section, ...wanted].every((one) => known.has(one)) ? [] : [citation];
      }),
    ),
  );
}

/** Everything that can be cited, in its one spelling. */
function citableSections(): ReadonlySet<string> {
  const found = (page: string, pattern: RegExp) => [...readFileSync(page, "utf8").matchAll(pattern)];
  return new Set([
    ...found(CONTRACT, /^## ([AB])([\d.]+) /gm).map(([, part, number]) => `contract ${part} ${number}`),
    ...found(CONTRACT, /^## ([AB]) (\w+)$/gm).map(
      ([, part, name]) => `contract ${part} ${name?.toLowerCase()}`,
    ),
    ...found(CONTRACT, /^\| ([AB])([\d.]+) (rule \d+) \|/gm).map(
      ([, part, number, rule]) => `contract ${part} ${number} ${rule}`,
    ),
    ...found("docs/internals/design.md", /^## (\d+) /gm).map(([, number]) => `design ${number}`),
    ...found("docs/internals/service-facts.md", /^## (\d+\.\d+) /gm).map(([, number]) => `facts ${number}`),
    ...globSync("docs/internals/decisions/*.md").map(
      (path) => `decision ${path.split("/").at(-1)?.slice(0, 4)}`,
    ),
  ]);
}

const OTHER_SPELLINGS = [
  /\bpart [AB],? (?:section )?\d[\d.]*/gi,
  /(?<!\bcontract )(?<![-\w])[AB],? \d(?:\.\d)?\b/g,
  // The names of the emulator's tests begin with `A4.4 rule 5:`; comments cite them as code.
  /(?<![`\w])[AB]\d(?:\.\d)?\b/g,
  /(?<!\bcontract [AB] )(?<![\w.])\d+\.\d+ rules? \d+/g,
  /\bcontract[,:]? (?:section )?[AB]?\d[\d.]*/g,
  /\b(?:design|facts)(?:, | section | #)\d[\d.]*/gi,
  /\bdecision(?:s|,| no\.?| #)? (?!\d{4}\b)\d+|\bdecisions \d{4}\b/gi,
  /(?<!\]\()\bdocs\/internals\/decisions\/\d{4}/g,
];

/** Citations in another spelling than `contract A 4.1 rule 2`, `design 5`, `facts 4.7`, or `decision 0012`. */
export function otherSpellings(files: readonly Citing[]): readonly string[] {
  return reported(
    files.filter(({ path }) => path !== CONTRACT),
    (text) => OTHER_SPELLINGS.flatMap((pattern) => [...text.matchAll(pattern)].map(([citation]) => citation)),
  );
}

/** Each finding once, as `file: citation`. A citation may be wrapped. */
function reported(files: readonly Citing[], find: (text: string) => readonly string[]): readonly string[] {
  return files.flatMap(({ path, text }) => {
    const unwrapped = citedText(path, text).replace(/\n\s*(?:\/\/|\*(?!\/))?\s*/g, " ");
    return [...new Set(find(unwrapped))].map((one) => `${path}: ${one}`);
  });
}

/** A page whole; of code only the comments, for its strings name files of users too. */
function citedText(path: string, text: string): string {
  if (path.endsWith(".md")) return text;
  return [...text.matchAll(/^\s*(?:\/\/|\/?\*).*$/gm)].map(([line]) => line).join("\n");
}
