// The process environment of a command: arguments, variables, folder, streams, signals, and the CI run. Nothing else is global.

import type { Readable } from "node:stream";
import type { Output, Signals } from "./streams.ts";

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

export interface ProcessContext {
  readonly env: ProcessEnvironment;
  /** The folder that relative paths start from; absolute. */
  readonly cwd: string;
  /** The user's home folder, for the profile file. */
  readonly home: string;
  /** Aborts when a run was given up: its requests end, as those of a process that is killed. */
  readonly abandoned?: AbortSignal | undefined;
}

export interface CommandContext extends ProcessContext {
  /** For data. */
  readonly stdout: Output;
  /** For progress, questions and diagnostics. */
  readonly stderr: Output;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly signals: Signals;
}

/** A variable of the environment; empty counts as unset. */
export function fromEnv(context: ProcessContext, name: string): string | undefined {
  const value = context.env[name];
  return value === undefined || value === "" ? undefined : value;
}

/** Azure Pipelines sets no CI. Some shells cannot unset a variable, so people set it to "false". */
export function isCi(context: ProcessContext): boolean {
  const variable = fromEnv(context, "CI") ?? fromEnv(context, "TF_BUILD");
  return variable !== undefined && !/^(?:false|no|off|0)$/i.test(variable);
}

const LONGEST = 500;

export function ciCommit(context: ProcessContext): string | undefined {
  const commit = first(context, ["WORKSPACE_COMMIT", "GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION"]);
  return commit !== undefined && /^[0-9a-f]{7,64}$/i.test(commit) ? commit : undefined;
}

/** The URL of the CI run; never a URL with credentials. */
export function ciRunUrl(context: ProcessContext): string | undefined {
  const text = urlText(context);
  const url = text === undefined || text.length > LONGEST ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return url.username === "" && url.password === "" ? url.href : undefined;
}

/** The person that a CI service names; undefined outside of one. */
export function ciActor(context: ProcessContext): string | undefined {
  const names = [
    "WORKSPACE_ACTOR",
    "GITHUB_TRIGGERING_ACTOR",
    "GITHUB_ACTOR",
    "GITLAB_USER_LOGIN",
    "BUILD_REQUESTEDFOR",
  ];
  return first(context, names)?.slice(0, LONGEST);
}

function urlText(context: ProcessContext): string | undefined {
  const variable = first(context, ["WORKSPACE_RUN_URL", "CI_JOB_URL", "CI_PIPELINE_URL"]);
  if (variable !== undefined) return variable;
  const from = (name: string) => fromEnv(context, name);
  const [server, repository, run] = ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"].map(from);
  if (server !== undefined && repository !== undefined && run !== undefined)
    return `${server}/${repository}/actions/runs/${run}`;
  const names = ["SYSTEM_COLLECTIONURI", "SYSTEM_TEAMPROJECT", "BUILD_BUILDID"];
  const [collection, project, build] = names.map(from);
  if (collection === undefined || project === undefined || build === undefined) return undefined;
  return `${collection}${encodeURIComponent(project)}/_build/results?buildId=${build}`;
}

function first(context: ProcessContext, names: readonly string[]): string | undefined {
  return names.map((name) => fromEnv(context, name)).find((value) => value !== undefined);
}
