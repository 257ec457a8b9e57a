// The messages between a worker and the child process that runs one command on one workspace.

import type { FleetCommand, RunAnswer } from "./result.ts";

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

/** `alive` says that the worker still holds the lease of the workspace. */
export type MessageToChild =
  | { readonly type: "run"; readonly request: RunRequest }
  | { readonly type: "stop" }
  | { readonly type: "alive" };

export type MessageFromChild =
  | { readonly type: "ready" }
  | { readonly type: "log"; readonly text: string }
  /** `requests`: up to now, for a run that will not report them itself. */
  | { readonly type: "progress"; readonly requests: NonNullable<RunAnswer["requests"]> }
  | { readonly type: "answer"; readonly answer: RunAnswer };

/** A child ends if its worker said nothing for this long: before the lease of the workspace expires. */
export const SILENCE_LIMIT_MS = 20_000;
export const ALIVE_INTERVAL_MS = 5_000;
