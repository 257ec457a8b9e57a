// The process environment of a command: arguments, variables, folder, streams, signals. Nothing else is global.

import type { Readable } from "node:stream";
import type { Signals } from "./signals.ts";
import type { Output } from "./streams.ts";

export type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

export interface ProcessContext {
  readonly env: ProcessEnvironment;
  /** The folder that relative paths start from; absolute. */
  readonly cwd: string;
  /** The user's home folder, for the profile file. */
  readonly home: string;
  /** Aborts when a run inside this process was given up: its requests end, as those of a process that is killed. */
  readonly abandoned?: AbortSignal | undefined;
}

export interface CommandContext extends ProcessContext {
  /** For data. */
  readonly stdout: Output;
  /** For progress, questions and diagnostics. */
  readonly stderr: Output;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly signals: Signals;
  /** Runs another command in this process and returns its exit code; the program sets it. */
  readonly runProgram?: (context: CommandContext, argv: readonly string[]) => Promise<number>;
}

/** A variable of the environment; empty counts as unset. */
export function fromEnv(context: ProcessContext, name: string): string | undefined {
  const value = context.env[name];
  return value === undefined || value === "" ? undefined : value;
}
