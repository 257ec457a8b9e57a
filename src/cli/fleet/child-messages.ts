// The messages between a worker of a fleet and the child process of a run.

import type { FleetCommand, WorkspaceResult } from "../../fleet/model/result.ts";

/** Everything that a run needs. It contains credentials, so it goes through the channel to the child and into no argument or file. */
export interface RunRequest {
  readonly command: FleetCommand;
  /** The name in the fleet file, for the log. */
  readonly workspace: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
  readonly file: string;
  readonly target?: string | undefined;
  readonly host?: string | undefined;
  readonly profile?: string | undefined;
  readonly state: string;
  /** `name=value`, as `--var` takes it. */
  readonly variables: readonly string[];
  readonly adopt: boolean;
  readonly lockTimeoutMs?: number | undefined;
}

/** What a run ended with; the worker adds who ran it, and when. */
export type RunAnswer = Omit<
  WorkspaceResult,
  "workspace" | "command" | "startedAt" | "durationMs" | "attempt" | "triedAgain" | "worker" | "version"
>;

/** `alive` says that the worker still holds the leases of the workspaces. */
export type MessageToChild =
  | { readonly type: "run"; readonly run: number; readonly request: RunRequest; readonly sentAtMs: number }
  | { readonly type: "stop"; readonly run: number }
  | { readonly type: "alive" };

export interface RunProgress {
  readonly requests: NonNullable<RunAnswer["requests"]>;
  readonly wrote: RunAnswer["wrote"];
}

/** What a run sends until its answer. */
export type RunMessage =
  | { readonly type: "log"; readonly text: string }
  /** Up to now, for a run that will not report it itself. */
  | ({ readonly type: "progress" } & RunProgress)
  /** `busyMs`: how long the process computed since the run began, for this run or for others in it. */
  | { readonly type: "answer"; readonly answer: RunAnswer; readonly busyMs: number };

export type MessageFromChild = { readonly run: number } & RunMessage;

/** A child ends if its worker said nothing for this long: before the lease of the workspace expires. */
export const SILENCE_LIMIT_MS = 20_000;
export const ALIVE_INTERVAL_MS = 5_000;
