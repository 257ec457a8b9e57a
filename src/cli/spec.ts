// Reads the spec that a command's options name.

import { resolve } from "node:path";
import { Failure, hasErrors } from "../core/diagnostic.ts";
import { registry } from "../providers/index.ts";
import { loadSpec } from "../spec/read.ts";
import type { Spec } from "../spec/spec.ts";
import { fromEnv } from "./config.ts";
import type { Context } from "./context.ts";
import { DEFAULT_FILE } from "./files.ts";
import { tell } from "./trouble.ts";

export interface SpecOptions {
  readonly file: string | undefined;
  readonly target: string | undefined;
  readonly var: readonly string[];
  readonly varFile: readonly string[];
}

/** How secrets' values become digests; without it none is read. */
export type Keyed = (bytes: Uint8Array) => string;

/** The spec's path; absolute. */
export function specFile(context: Context, options: Pick<SpecOptions, "file">): string {
  return resolve(context.cwd, options.file ?? fromEnv(context, "WORKSPACE_FILE") ?? DEFAULT_FILE);
}

export function targetOf(context: Context, options: Pick<SpecOptions, "target">): string | undefined {
  return options.target ?? fromEnv(context, "WORKSPACE_TARGET");
}

/** Throws Failure with everything that is wrong; warnings go to stderr. */
export async function readSpec(
  context: Context,
  options: SpecOptions,
  keyed: Keyed | undefined,
  untrusted = false,
  turn?: () => Promise<void>,
): Promise<Spec> {
  const { spec, diagnostics } = await judgedSpec(context, options, keyed, untrusted, turn);
  if (spec === undefined || hasErrors(diagnostics)) throw new Failure(...diagnostics);
  tell(context, diagnostics);
  return spec;
}

/** The spec, unless something is wrong with it, and everything that was found. */
export function judgedSpec(
  context: Context,
  options: SpecOptions,
  keyed: Keyed | undefined,
  untrusted = false,
  turn?: () => Promise<void>,
): ReturnType<typeof loadSpec> {
  const target = targetOf(context, options);
  return loadSpec({
    file: specFile(context, options),
    cwd: context.cwd,
    ...(target === undefined ? {} : { target }),
    vars: options.var,
    varFiles: options.varFile.map((path) => resolve(context.cwd, path)),
    env: untrusted ? {} : context.env,
    untrusted,
    ...(turn === undefined ? {} : { turn }),
    registry,
    secrets: keyed === undefined ? "skip" : "resolve",
    keyed: keyed ?? (() => ""),
  });
}

/** For commands that need no workspace: secrets are declared, and none is read. */
export function specWithoutSecrets(context: Context, options: SpecOptions): Promise<Spec> {
  return readSpec(context, options, undefined);
}
