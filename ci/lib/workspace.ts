// Runs the program once and collects its reports.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { type AcceptedDrift, acceptedDrift } from "./accept.ts";
import { type DriftDigest, driftDigest } from "./drift.ts";
import { gitEnvironment } from "./git.ts";
import { log, withoutCommands } from "./log.ts";
import { BadInput, type Env, type Settings } from "./settings.ts";

export interface Finished {
  readonly exitCode: number;
  /** The report in Markdown, if the command made one. */
  readonly report: string | undefined;
  /** The longer report for a summary page, if the command made one. */
  readonly summary: string | undefined;
  /** The whole report as a page, if the command made one. */
  readonly page: string | undefined;
  /** The last lines of stderr. */
  readonly errors: string;
  /** The platform asked the run to stop. */
  readonly cancelled: boolean;
  /** What a drift left open. */
  readonly drift: DriftDigest | undefined;
  /** What accept did. */
  readonly accepted: AcceptedDrift | undefined;
}

/** Where the command runs. */
export interface Place {
  readonly cwd: string;
  readonly commit: string;
  /** A folder with the spec before the change. */
  readonly base?: string | undefined;
  /** What readers of the plan have to know about its base. */
  readonly notice?: string;
}

const ROOT = join(import.meta.dirname, "../..");
const SIGNALS = ["SIGINT", "SIGTERM"] as const;
const MOST_ERROR_LINES = 200;
/** Every comment and every summary has room for them. */
const MOST_ERROR_CHARACTERS = 50_000;

/** The reports that each platform reads without an action. */
const OWN_REPORTS: Readonly<Record<Settings["platform"], readonly string[]>> = {
  github: ["markdown-summary=summary.md", "github=annotations.txt", "sarif=workspace.sarif"],
  gitlab: ["gitlab=terraform.json", "codequality=codequality.json"],
  azure: ["markdown-summary=summary.md"],
  none: [],
};

const LONGEST_SUBJECT = 80;

/** On GitHub, the name of an artifact that is a single file; each job of a run has its own. */
function pageName({ platform, command, subject }: Settings): string {
  if (platform !== "github") return "report.html";
  const { target, folder } = subject;
  const whole = folder === "." ? target : `${target}-${folder}`;
  const short = whole.replaceAll(/[^\w.-]+/g, "-").slice(0, LONGEST_SUBJECT);
  // Two subjects can look alike.
  const digest = createHash("sha256")
    .update(JSON.stringify([target, folder]))
    .digest("hex")
    .slice(0, 8);
  return `workspace-${command}-${short === target ? target : `${short}-${digest}`}.html`;
}

/** The arguments of one run. The folder `base` comes before the ref of the settings. */
export function argumentsOf(settings: Settings, hasHost: boolean, base?: string): readonly string[] {
  const { command, subject, target, state, planFile, untrusted, platform } = settings;
  const reports = resolve(settings.reports);
  const written = ["markdown=report.md", `html=${pageName(settings)}`, "json=report.json", "junit=junit.xml"];
  const outputs = ["text", ...written, ...OWN_REPORTS[platform]].filter(
    (one) => command !== "validate" || !/^(?:html|gitlab)=/.test(one),
  );
  const file = subject.folder === "." ? "workspace.yaml" : `${subject.folder}/workspace.yaml`;
  if (command === "accept") {
    const selected = target === undefined ? [] : ["--target", target];
    const stored = state === undefined ? [] : ["--state", stateInCheckout(state)];
    const options = ["--keep-going", "--file", file, ...selected, ...stored, "--output", "json"];
    return ["drift", "accept", ...settings.addresses, ...options, ...settings.more];
  }
  const args: string[] = [command];
  if (command === "apply") args.push(resolve(planFile ?? ""));
  args.push("--no-input", "--file", file);
  if (target !== undefined) args.push("--target", target);
  if (state !== undefined && command !== "validate") args.push("--state", stateInCheckout(state));
  if (command === "plan") {
    args.push("--detailed-exitcode");
    const compared = base === undefined ? settings.base : base;
    if (compared !== undefined)
      args.push(base === undefined ? "--base-ref" : "--base", compared, "--exitcode-for", "change");
    if (planFile !== undefined) args.push("--out", resolve(planFile));
    if (untrusted) args.push("--untrusted", ...(hasHost ? [] : ["--offline"]));
  }
  if (settings.since) args.push("--since", "last");
  if (command !== "validate") args.push("--metrics", join(reports, "metrics.prom"));
  for (const output of outputs) {
    const [format, name] = output.split("=");
    args.push("--output", name === undefined ? output : `${format}=${join(reports, name)}`);
  }
  return [...args, ...(untrusted ? fromCheckout(settings.more) : settings.more)];
}

const PATH_OPTIONS = [
  ...["--ca-file", "--var-file", "--rules", "--prices", "--base", "--metrics", "--state", "--output"],
];
const WITH_PATH = new RegExp(`^((?:${PATH_OPTIONS.join("|")})=|-o=?)(.+)$`, "s");

/** The paths count from the checkout, also where the command runs in a folder that an external contributor wrote. */
function fromCheckout(more: readonly string[]): readonly string[] {
  return more.map((one, at) => {
    const before = more[at - 1] ?? "";
    if (before === "-o" || PATH_OPTIONS.includes(before)) return inCheckout(before, one);
    const [, option, value] = WITH_PATH.exec(one) ?? [];
    return option === undefined || value === undefined ? one : `${option}${inCheckout(option, value)}`;
  });
}

/** `option` starts with the flag, or is the variable of a path. */
function inCheckout(option: string, value: string): string {
  if (option.startsWith("--state") || option === "WORKSPACE_STATE") return stateInCheckout(value);
  // A format without a file goes to standard output.
  if (option.startsWith("-o") || option.startsWith("--output"))
    return value.replace(/=(.+)$/s, (_, file: string) => `=${resolve(file)}`);
  return resolve(value);
}

/** A folder, or a location in the workspace or in a database; the URL of a database can name files. */
function stateInCheckout(location: string): string {
  if (!/^(?:workspace|postgres(?:ql)?):/i.test(location)) return resolve(location);
  const checkout = encodeURIComponent(resolve("."));
  return location.replace(/([?&]ssl(?:rootcert|cert|key)=)(?!\/|%2f|&|#|$)/gi, `$1${checkout}/`);
}

const HOST_VARIABLES = [
  ...["WORKSPACE_HOST", "WORKSPACE_PROFILE", "WORKSPACE_CONFIG_FILE"],
  ...["DATABRICKS_HOST", "DATABRICKS_CONFIG_PROFILE", "DATABRICKS_CONFIG_FILE"],
];

/** Whether the variables or the arguments name the host of the workspace, or a profile that names it. */
export function hasHost({ more }: Settings, env: Env): boolean {
  const isSet = HOST_VARIABLES.some((name) => (env[name] ?? "") !== "");
  return isSet || more.some((one) => /^--(?:host|profile)(?:=|$)/.test(one));
}

/** Whether the job says where the state is. An untrusted spec cannot, so an offline plan without it starts from an empty state. */
function hasState({ state, more }: Settings, env: Env): boolean {
  const isSet = state !== undefined || (env.WORKSPACE_STATE ?? "") !== "";
  return isSet || more.some((one) => /^--state(?:=|$)/.test(one));
}

/** A new folder in the folder that the platform empties after the job. */
export function temporaryFolder(env: Env, prefix: string): string {
  return mkdtempSync(join(env.RUNNER_TEMP ?? env.AGENT_TEMPDIRECTORY ?? tmpdir(), prefix));
}

const OFFLINE = "The plan is offline because neither WORKSPACE_HOST nor WORKSPACE_PROFILE is set.";

/** Runs the command. The program does not get a token of the platform. */
export async function runWorkspace(settings: Settings, env: Env, place: Place): Promise<Finished> {
  const reports = resolve(settings.reports);
  if (hasFilesOfCheckout(reports, env))
    throw new BadInput(
      `the folder of reports ${settings.reports} contains files of the checkout; name another one`,
    );
  // A report of an earlier run must not be taken for one of this run.
  rmSync(reports, { recursive: true, force: true });
  mkdirSync(reports, { recursive: true });
  const isKnown = hasHost(settings, env);
  const isOffline = settings.untrusted && !isKnown;
  if (isOffline) log(OFFLINE);
  const emptyState =
    isOffline && !hasState(settings, env) ? temporaryFolder(env, "workspace-state-") : undefined;
  const args = argumentsOf({ ...settings, state: emptyState ?? settings.state }, isKnown, place.base);
  const [program = "", ...first] =
    env.WORKSPACE_CI_PROGRAM === undefined
      ? [process.execPath, join(ROOT, "bin/workspace.js")]
      : [env.WORKSPACE_CI_PROGRAM];
  const child = spawn(program, [...first, ...args], {
    cwd: place.cwd,
    env: environmentOf(settings, env, place),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let cancelled = false;
  const stop = (signal: NodeJS.Signals): void => {
    cancelled = true;
    child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  const errors: string[] = [];
  const answer: string[] = [];
  const done = Promise.all([
    copyLines(child.stdout, process.stdout, (line) => {
      if (settings.command === "accept") answer.push(line);
    }),
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
  if (emptyState !== undefined) rmSync(emptyState, { recursive: true, force: true });
  // From here on, a signal ends this process.
  for (const signal of SIGNALS) process.off(signal, stop);
  const accepted = acceptedDrift(answer.join("\n"));
  const page = join(reports, pageName(settings));
  if (accepted !== undefined) writeFileSync(join(reports, "report.md"), accepted.report);
  return {
    exitCode,
    accepted,
    report: noted(textOf(join(reports, "report.md")), isOffline),
    summary: noted(textOf(join(reports, "summary.md")), isOffline),
    page: existsSync(page) ? page : undefined,
    errors: errors.join("\n").slice(-MOST_ERROR_CHARACTERS).toWellFormed(),
    cancelled,
    // The JSON of apply is one event a line.
    drift:
      settings.command === "drift"
        ? driftDigest(textOf(join(reports, "report.json")), leastOf(settings))
        : undefined,
  };
}

function hasFilesOfCheckout(folder: string, env: Env): boolean {
  const below = relative(folder, process.cwd());
  if (below.split(sep)[0] !== ".." && !isAbsolute(below)) return true;
  const words = ["-c", "core.fsmonitor=false", "--literal-pathspecs", "ls-files", "--", folder];
  const { stdout } = spawnSync("git", words, {
    env: gitEnvironment(env),
    stdio: ["ignore", "pipe", "ignore"],
  });
  return (stdout?.length ?? 0) > 0;
}

function noted(report: string | undefined, isOffline: boolean): string | undefined {
  return report === undefined || !isOffline ? report : `${report}\n${OFFLINE}\n`;
}

async function copyLines(from: Readable, to: Writable, also?: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: from, crlfDelay: Number.POSITIVE_INFINITY })) {
    to.write(`${withoutCommands(line)}\n`);
    also?.(line);
  }
}

/** The value of `--fail-on` among the arguments of the caller. */
function leastOf({ more }: Settings): string | undefined {
  const at = more.findLastIndex((one) => one === "--fail-on" || one.startsWith("--fail-on="));
  return more[at] === "--fail-on" ? more[at + 1] : more[at]?.slice("--fail-on=".length);
}

/**
 * A spec can name a variable as the source of a secret, so the tokens of the platform are not among them. The request
 * token of a job with `id-token: write` stays: the program signs in with it.
 */
const TOKENS = [
  ...["WORKSPACE_CI_API_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN"],
  ...["CI_JOB_TOKEN", "CI_JOB_JWT", "CI_REPOSITORY_URL", "CI_REGISTRY_PASSWORD", "CI_DEPLOY_PASSWORD"],
  ...["CI_DEPENDENCY_PROXY_PASSWORD", "SYSTEM_ACCESSTOKEN"],
];

/** They name files of the checkout, also where the command runs in a folder that an external contributor wrote. */
const PATHS = [
  ...["WORKSPACE_RULES", "WORKSPACE_CA_FILE", "WORKSPACE_CONFIG_FILE", "WORKSPACE_STATE"],
  ...["DATABRICKS_CONFIG_FILE", "DATABRICKS_OIDC_TOKEN_FILEPATH", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"],
];

/** What another run writes meanwhile would be lost, or look like a change from outside. */
const WAITING: readonly Settings["command"][] = ["apply", "drift", "accept"];

/** Long enough to acquire the lock of a runner that was lost, which takes 2 minutes without a heartbeat. */
const LOCK_TIMEOUT = "5m";

/** Reports name the commit that people see: a platform checks out a merge of it. */
export function environmentOf({ command, run }: Settings, env: Env, { commit }: Place): NodeJS.ProcessEnv {
  const kept = Object.entries(env).flatMap(([name, value]) => {
    if (TOKENS.includes(name)) return [];
    const isPath = value && PATHS.includes(name) && !value.startsWith("~/");
    return [[name, isPath ? inCheckout(name, value) : value] as const];
  });
  return {
    ...(WAITING.includes(command) ? { WORKSPACE_LOCK_TIMEOUT: LOCK_TIMEOUT } : {}),
    ...Object.fromEntries(kept),
    ...(commit === "" ? {} : { WORKSPACE_COMMIT: commit }),
    ...(run.url === "" ? {} : { WORKSPACE_RUN_URL: run.url }),
  };
}

/** For a variable that is not set, Azure Pipelines passes `$(NAME)`, and GitLab passes `$NAME` if the variable has that name itself. */
export function withoutUnset(env: Env): Env {
  const isUnset = (name: string, value = ""): boolean =>
    env.TF_BUILD === "True"
      ? /^\$\([^()]+\)$/.test(value)
      : env.GITLAB_CI === "true" && [`$${name}`, `\${${name}}`].includes(value);
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isUnset(name, value)));
}

const textOf = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;
