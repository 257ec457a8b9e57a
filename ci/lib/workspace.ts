// Runs the program once and collects its reports.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { isRecord } from "./http.ts";
import type { Env, Settings } from "./settings.ts";

export interface Finished {
  readonly exitCode: number;
  /** The report in Markdown, if the command made one. */
  readonly report: string | undefined;
  /** The longer report for a summary page, if the command made one. */
  readonly summary: string | undefined;
  /** The last lines of stderr. */
  readonly errors: string;
  /** Digest of the reported differences. */
  readonly digest: string | undefined;
}

const ROOT = join(import.meta.dirname, "../..");
const MOST_ERROR_LINES = 200;

/** The reports that each platform reads by itself. */
const OWN_REPORTS: Readonly<Record<Settings["platform"], readonly string[]>> = {
  github: ["markdown-summary=summary.md", "github=annotations.txt", "sarif=workspace.sarif"],
  gitlab: ["gitlab=terraform.json", "codequality=codequality.json"],
  azure: ["markdown-summary=summary.md"],
  none: [],
};

/** The arguments of one run. `reports` is the folder of the report files. */
export function argumentsOf(settings: Settings, hasHost: boolean): readonly string[] {
  const { command, subject, state, base, planFile, untrusted, platform } = settings;
  const reports = resolve(settings.reports);
  const outputs = ["text", "markdown=report.md", "json=report.json", "junit=junit.xml"];
  if (command === "plan") outputs.push(...OWN_REPORTS[platform]);
  const file = subject.folder === "." ? "workspace.yaml" : `${subject.folder}/workspace.yaml`;
  const args: string[] = [command];
  if (command === "apply") args.push(resolve(planFile ?? ""));
  args.push("--no-input", "--file", file);
  if (subject.target !== "default") args.push("--target", subject.target);
  if (state !== undefined && command !== "validate") args.push("--state", state);
  if (command === "plan") {
    args.push("--detailed-exitcode");
    if (base !== undefined) args.push("--base-ref", base, "--exitcode-for", "change");
    if (planFile !== undefined) args.push("--out", resolve(planFile));
    if (untrusted) args.push("--untrusted", ...(hasHost ? [] : ["--offline"]));
  }
  for (const output of outputs) {
    const [format, name] = output.split("=");
    args.push("--output", name === undefined ? output : `${format}=${join(reports, name)}`);
  }
  return [...args, ...settings.more];
}

/** Runs the command in `cwd`. The program does not get the token of the platform. */
export async function runWorkspace(settings: Settings, env: Env, cwd: string): Promise<Finished> {
  const reports = resolve(settings.reports);
  // A report of an earlier run must not be taken for one of this run.
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });
  const args = argumentsOf(settings, (env.WORKSPACE_HOST ?? "") !== "");
  const [program = "", ...first] =
    env.WORKSPACE_CI_PROGRAM === undefined
      ? [process.execPath, join(ROOT, "bin/workspace.js")]
      : [env.WORKSPACE_CI_PROGRAM];
  const child = spawn(program, [...first, ...args], {
    cwd,
    env: withoutTokens(env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  const errors: string[] = [];
  const done = Promise.all([
    copyLines(child.stdout, process.stdout),
    copyLines(child.stderr, process.stderr, (line) => {
      errors.push(line);
      if (errors.length > MOST_ERROR_LINES) errors.shift();
    }),
  ]);
  const exitCode = await new Promise<number>((settle, reject) => {
    child.on("error", reject);
    child.on("close", (code) => settle(code ?? 1));
  });
  await done;
  return {
    exitCode,
    report: textOf(join(reports, "report.md")),
    summary: textOf(join(reports, "summary.md")),
    errors: errors.join("\n"),
    // The JSON of apply is one event a line.
    digest: settings.command === "drift" ? digestOf(textOf(join(reports, "report.json"))) : undefined,
  };
}

/** Log lines of the program must not become commands of the runner. */
export const withoutCommands = (line: string): string =>
  line.replace(/^(\s*)::/, "$1: :").replaceAll(/##(?=\[|vso\[)/g, "# #");

async function copyLines(from: Readable, to: Writable, also?: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: from, crlfDelay: Number.POSITIVE_INFINITY })) {
    to.write(`${withoutCommands(line)}\n`);
    also?.(line);
  }
}

function withoutTokens(env: Env): NodeJS.ProcessEnv {
  const { WORKSPACE_CI_API_TOKEN: _api, SYSTEM_ACCESSTOKEN: _system, ...rest } = env;
  return rest;
}

/** Azure Pipelines passes `$(NAME)` for a variable that is not set. */
export function withoutUnset(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => !/^\$\([\w.]+\)$/.test(value ?? "")));
}

const textOf = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;

function digestOf(json: string | undefined): string | undefined {
  if (json === undefined) return undefined;
  const report: unknown = JSON.parse(json);
  const drift = isRecord(report) ? report.drift : undefined;
  return drift === undefined
    ? undefined
    : createHash("sha256").update(JSON.stringify(drift)).digest("hex").slice(0, 16);
}
