// Specs that are damaged at random: good ones to begin with, what a seed makes of them, and what the program may say to that.

import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../../src/cli/program.ts";
import { contextWith } from "../cli/context.ts";

/** Where good specs lie, the file of each that is damaged, and the target that is asked for. */
const BASES: readonly (readonly [from: string, file: string, target?: string])[] = [
  ["test/spec/whole.yaml", "workspace.yaml", "prod"],
  ["examples/etl", "workspace.yaml"],
  ["test/spec/whole.yaml", "workspace.yaml", "prod"],
  ["examples/secrets", "workspace.yaml"],
  ["examples/team", "workspace.yaml"],
  ["test/spec/whole.yaml", "workspace.yaml", "prod"],
  ["examples/team", "teams/data.yaml"],
  ["examples/team", "teams/science.yaml"],
];
const ROOT = join(import.meta.dirname, "../..");
const LONG_MS = 1000;

/** Strings with a meaning in YAML or in a spec. */
export const DAMAGING_TEXTS = [
  "[",
  "]",
  "{",
  "}",
  ":",
  ": ",
  "-",
  "- ",
  "\n",
  "\n  ",
  "\t",
  "'",
  '"',
  "|",
  ">",
  "#",
  " #",
  "&a ",
  "*a",
  "!!x ",
  "%",
  "@",
  "`",
  "?",
  "? ",
  ",",
  "<<: ",
  "${",
  "${var.x}",
  "${pools.shared.instance_pool_id}",
  "$${",
  "null",
  "~",
  "true",
  "-1",
  "1e99",
  "9007199254740993",
  "\u001b",
  "\u202e",
  "__proto__: ",
  "constructor",
  "\\",
  "/",
  "..",
  "é",
  "\u{1f600}",
  "---\n",
  "...\n",
  "\r",
  "0",
  "targets: ",
  "include: x",
  "secrets: ",
  "lifecycle: {}",
];

/** A small generator of numbers, so that a seed gives the same damage everywhere. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39) >>> 0;
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
}

function damagedBy(text: string, next: (below: number) => number): string {
  let out = text;
  for (let times = 1 + next(1 + next(4)); times > 0; times--) {
    const at = next(out.length + 1);
    const piece = DAMAGING_TEXTS[next(DAMAGING_TEXTS.length)] ?? "";
    const span = next(30);
    switch (next(5)) {
      case 0:
        out = out.slice(0, at) + piece + out.slice(at);
        break;
      case 1:
        out = out.slice(0, at) + out.slice(at + span);
        break;
      case 2:
        out = out.slice(0, at) + piece + out.slice(at + piece.length);
        break;
      case 3:
        out = out.slice(0, at) + out.slice(at, at + span).repeat(2) + out.slice(at + span);
        break;
      default: {
        const lines = out.split("\n");
        const [line = ""] = lines.splice(next(lines.length), 1);
        lines.splice(next(lines.length + 1), 0, `${" ".repeat(next(4))}${line}`);
        out = lines.join("\n");
      }
    }
  }
  return out;
}

/** What an error may be about without a place in a file: the words of the command. */
const PLACELESS = new Set(["SPEC_TARGET"]);

interface Told {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly at?: object;
}

interface Base {
  readonly folder: string;
  readonly file: string;
  readonly good: string;
  readonly words: readonly string[];
}

/** Runs the program on damaged specs, one after another, in separate folders. */
export class Damages {
  refused = 0;
  tried = 0;
  /** The number that needed more than a second. */
  long = 0;
  longestMs = 0;
  readonly #root = mkdtempSync(join(tmpdir(), "damages-"));

  /** The text that the case with this number comes from, its folder, and its file there. */
  #base(at: number): Base {
    const index = at % BASES.length;
    const [from, file, target] = BASES[index] ?? ["", ""];
    const folder = join(this.#root, String(index));
    const source = join(ROOT, from);
    const isFile = from.endsWith(".yaml");
    if (!existsSync(folder)) cpSync(source, isFile ? join(folder, file) : folder, { recursive: true });
    const good = readFileSync(isFile ? source : join(source, file), "utf8");
    return { folder, file, good, words: target === undefined ? [] : ["--target", target] };
  }

  /** The errors in the program's reaction to one damaged spec. */
  async verdict(seed: number, at: number): Promise<readonly string[]> {
    const { folder, file, good, words } = this.#base(at);
    writeFileSync(join(folder, file), damagedBy(good, numbers(seed * 1_000_003 + at)));
    const begun = performance.now();
    const { code, out, err } = await run(folder, ["validate", "--output", "json", ...words]);
    const read = code === 0 ? await run(folder, ["plan", "--offline", ...words]) : undefined;
    this.#count(code === 0, performance.now() - begun);
    return [...badly(out, err, code), ...(read === undefined ? [] : badPlan(read))];
  }

  #count(isValid: boolean, ms: number): void {
    this.tried += 1;
    if (!isValid) this.refused += 1;
    if (ms > LONG_MS) this.long += 1;
    this.longestMs = Math.max(this.longestMs, ms);
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(folder: string, words: readonly string[]): Promise<Answer> {
  const env = { DB_PASSWORD: "x" };
  const context = contextWith(env, folder);
  const code = await runProgram(context, words);
  return { code, out: context.out(), err: context.err() };
}

const BUG = /CLI_INTERNAL|^\s+at \S+ \(/m;

function badly(out: string, err: string, code: number): readonly string[] {
  if (err !== "" || BUG.test(out)) return [`internal error: ${err}${out}`];
  if (code !== 0 && code !== 1) return [`validate ended with ${code}`];
  const { valid, diagnostics } = JSON.parse(out) as { valid: boolean; diagnostics: readonly Told[] };
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (valid) return errors.length === 0 && code === 0 ? [] : ["valid, with errors"];
  if (errors.length === 0) return ["refused, and nothing says why"];
  return errors.flatMap(({ code: told, message, at }) => [
    ...(/\bundefined\b|\[object |\bNaN\b/.test(message) ? [`the message says ${message}`] : []),
    ...(at === undefined && !PLACELESS.has(told) ? [`without a place: ${told} ${message}`] : []),
  ]);
}

/** A spec that is valid can be planned, or a guard or a source that is missing says why not. */
function badPlan({ code, out, err }: Answer): readonly string[] {
  if (BUG.test(err) || BUG.test(out)) return [`internal error: ${err}`];
  if (![0, 1, 3].includes(code)) return [`the plan ended with ${code}: ${err}`];
  return code === 0 || /^error [A-Z]+_/m.test(err) ? [] : [`the plan says nothing: ${err}`];
}
