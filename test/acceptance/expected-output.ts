// Expected output of scenarios and pages under `npm run test:update`: what a rewrite changes by exit code and by diagnostic
// code, and the refusal of a changed exit code and of an internal error.

import { appendFileSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { CODES } from "../../src/core/codes.ts";
import { parseScenario } from "./scenario.ts";

/** A command whose exit code or diagnostic codes a rewrite changes. */
export interface RewrittenCommand {
  readonly path: string;
  readonly command: string;
  /** Exit codes before and after the rewrite, if they differ. */
  readonly exit?: readonly [number, number];
  /** How often each diagnostic code occurs more (or less) often than before. */
  readonly codes: Readonly<Record<string, number>>;
}

/** What a rewrite of one file changes, as the workers of the tests pass it to `npm run test:update`. */
export interface Rewrite {
  readonly path: string;
  readonly commands: readonly RewrittenCommand[];
  /** Why the file was not written. */
  readonly refusals: readonly string[];
}

interface UpdateMode {
  /** The value of UPDATE: `1` rewrites, `failures` also accepts changed exit codes and internal errors. */
  readonly update: string | undefined;
  /** The file that collects a `Rewrite` a line. */
  readonly log?: string | undefined;
}

/**
 * Returns the expected text of the file at `path`. Under `npm run test:update` that is `now`, written to the file.
 * Throws if the rewrite changes an exit code or adds an internal error, unless UPDATE is `failures`.
 */
export function expectedText(
  path: string,
  text: string,
  now: string,
  { update, log }: UpdateMode = { update: process.env.UPDATE, log: process.env.UPDATE_LOG },
): string {
  if (update === undefined || now === text) return text;
  const rewrite = rewriteOf(relative(process.cwd(), path), text, now, update === "failures");
  if (log !== undefined) appendFileSync(log, `${JSON.stringify(rewrite)}\n`);
  if (rewrite.refusals.length > 0)
    throw new Error(`${rewrite.path} is not rewritten: ${rewrite.refusals.join("; ")}`);
  writeFileSync(path, now);
  return now;
}

function rewriteOf(path: string, text: string, now: string, acceptsFailures: boolean): Rewrite {
  const before = commandsOf(path, text);
  const commands = commandsOf(path, now).flatMap(({ command, exit, output }, at): RewrittenCommand[] => {
    const old = before[at] ?? { exit: 0, output: "" };
    const codes = codeChanges(old.output, output);
    if (exit === old.exit && Object.keys(codes).length === 0) return [];
    return [{ path, command, codes, ...(exit === old.exit ? {} : { exit: [old.exit, exit] }) }];
  });
  return { path, commands, refusals: acceptsFailures ? [] : commands.flatMap(refusalsOf) };
}

function refusalsOf({ command, exit, codes }: RewrittenCommand): readonly string[] {
  const internal = Object.keys(codes).filter((code) => code.endsWith("_INTERNAL") && (codes[code] ?? 0) > 0);
  return [
    ...(exit === undefined ? [] : [`\`${command}\` exits with ${exit[1]}, not ${exit[0]}`]),
    ...internal.map((code) => `\`${command}\` reports ${code}`),
  ];
}

/** The commands of a scenario with their output. A page is one command without an exit code: its blocks state theirs. */
function commandsOf(path: string, text: string) {
  if (!path.endsWith(".txt")) return [{ command: path, exit: 0, output: text }];
  return parseScenario(text).flatMap((step) =>
    step.type === "command"
      ? [{ command: step.line.slice(2), exit: exitCode(step.expected), output: step.expected.join("\n") }]
      : [],
  );
}

const exitCode = (lines: readonly string[]): number =>
  Number(lines.findLast((line) => line.startsWith("= exit "))?.slice("= exit ".length) ?? 0);

function codeChanges(before: string, after: string): Readonly<Record<string, number>> {
  const [old, now] = [countCodes(before), countCodes(after)];
  const changed = [...new Set([...old.keys(), ...now.keys()])]
    .map((code) => [code, (now.get(code) ?? 0) - (old.get(code) ?? 0)] as const)
    .filter(([, more]) => more !== 0);
  return Object.fromEntries(changed);
}

function countCodes(text: string): ReadonlyMap<string, number> {
  const words = text.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
  const counts = new Map<string, number>();
  for (const word of words)
    if (word in CODES || word.endsWith("_INTERNAL")) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** The lines that `npm run test:update` prints at the end. */
export function summaryLines(rewrites: readonly Rewrite[]): readonly string[] {
  const commands = rewrites.flatMap((rewrite) => rewrite.commands);
  const written = rewrites.filter(({ refusals }) => refusals.length === 0).length;
  const exits = commands.flatMap((command) =>
    command.exit === undefined ? [] : [[`exit ${command.exit[0]} → ${command.exit[1]}`, command] as const],
  );
  const codes = commands.flatMap((command) =>
    Object.entries(command.codes).map(
      ([code, more]) => [`${code} ${more > 0 ? "+" : "−"}${Math.abs(more)}`, command] as const,
    ),
  );
  const refusals = rewrites.flatMap((rewrite) => rewrite.refusals.map((why) => `${rewrite.path}: ${why}`));
  return [
    `Files rewritten: ${written}. Commands with another exit code: ${exits.length}; with other diagnostic codes: ${commands.filter((command) => Object.keys(command.codes).length > 0).length}.`,
    ...[...exits, ...codes].map(([change, { path, command }]) =>
      command === path ? `  ${change}  ${path}` : `  ${change}  ${path}: ${command}`,
    ),
    ...(refusals.length === 0
      ? []
      : [
          `Files refused, and not written: ${rewrites.length - written}. If a change is right, run \`npm run test:update -- --accept-failures\`.`,
          ...refusals.map((refusal) => `  ${refusal}`),
        ]),
  ];
}
