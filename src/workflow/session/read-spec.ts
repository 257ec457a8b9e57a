// Reads the spec that a command's options name.

import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { fromEnv } from "../../config/environment.ts";
import { fileStatsOf } from "../../config/files.ts";
import { dialectFrom, type HostOptions } from "../../config/settings.ts";
import { type Diagnostic, Failure, hasErrors } from "../../core/diagnostic.ts";
import { registry } from "../../providers/index.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import { loadSpec, type SpecInput } from "../../spec/load-spec.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { assertInCheckout, namedTarget, specFile, stateOfTarget } from "../invocation/target.ts";
import type { WorkflowContext } from "../invocation/workflow-context.ts";
import { ruleFiles } from "../rules/rule-folders.ts";

export interface SpecOptions {
  readonly file: string | undefined;
  readonly target: string | undefined;
  readonly var: readonly string[];
  readonly varFile: readonly string[];
  /** Folders of rules; only with it, the spec's own rules are read as well. */
  readonly rules?: readonly string[] | undefined;
  /** Receives the paths that the run reads. */
  readonly seen?: SpecInput["seen"];
}

/** The state does not belong to the spec, and its files cannot be sources. */
type Reading = SpecOptions &
  Partial<HostOptions> & {
    readonly state?: string | undefined;
    readonly mayLackSecrets?: boolean;
    readonly allTargets?: boolean;
  };

/** How secrets' values become digests; without it none is read. */
export type DigestFn = (bytes: Uint8Array) => string;

interface ReadSpec {
  readonly spec: Spec;
  /** The observer has them already; for output that is a document. */
  readonly warnings: readonly Diagnostic[];
}

/** Throws Failure with everything that is wrong; warnings go to the observer. */
export async function readSpec(
  context: WorkflowContext,
  options: Reading,
  keyed: DigestFn | undefined,
  untrusted = false,
): Promise<ReadSpec> {
  prepareForLargeFile(specFile(context, options));
  const { spec, diagnostics } = await checkSpec(context, options, keyed, untrusted);
  if (spec === undefined || hasErrors(diagnostics)) throw new Failure(...diagnostics);
  context.observer.found(diagnostics);
  prepareForLargePlan(spec);
  return { spec, warnings: diagnostics };
}

/** The spec, unless something is wrong with it, and everything that was found. */
export function checkSpec(
  context: WorkflowContext,
  options: Reading,
  keyed: DigestFn | undefined,
  untrusted = false,
): ReturnType<typeof loadSpec> {
  const rules = ruleFiles(context, options, untrusted);
  return loadSpec({
    ...specInput(context, options, untrusted),
    rules,
    secrets: keyed === undefined ? "skip" : "resolve",
    mayLackSecrets: options.mayLackSecrets === true,
    allTargets: options.allTargets === true,
    keyed: keyed ?? (() => ""),
  });
}

export function specInput(context: WorkflowContext, options: Reading, untrusted = false): SpecInput {
  const target = namedTarget(context, options);
  const { seen } = options;
  const varFiles = options.varFile.map((path) => resolve(context.cwd, path));
  for (const path of varFiles) seen?.(path);
  const file = specFile(context, options);
  if (untrusted) assertInCheckout(context, file, varFiles);
  return {
    file,
    cwd: context.cwd,
    target,
    seen,
    vars: options.var,
    varFiles,
    env: untrusted ? {} : context.env,
    untrusted,
    states: statesOf(context, options, untrusted),
    registry: registryIn(registry, dialectFrom(context, options)),
  };
}

/** The folders that --state, WORKSPACE_STATE, and the target name; a state in another place leads to no folder. */
function statesOf(context: WorkflowContext, options: Reading, untrusted: boolean): readonly string[] {
  const ofTarget = untrusted ? undefined : stateOfTarget(context, options);
  const said = [options.state, fromEnv(context, "WORKSPACE_STATE"), ofTarget];
  return said.flatMap((state) => (state === undefined ? [] : [resolve(context.cwd, state)]));
}

/** For commands that need no workspace: secrets are declared, and none is read. */
export async function specWithoutSecrets(
  context: WorkflowContext,
  options: SpecOptions & Partial<HostOptions>,
): Promise<Spec> {
  return (await readSpec(context, options, undefined)).spec;
}

/** The file of the spec, or else all its resources, that call for less memory. */
const LARGE = { bytes: 2 * 1024 * 1024, resources: 20_000 };

/** V8 collects garbage when the heap is so many percent larger than what lives. At its end an apply needs more memory than a plan. */
const GROWTH = { plan: 120, apply: 50 };

/** Called before the first large value is read, the state: V8 keeps the young space that it has until then. */
export function prepareForLargeFile(spec: string): void {
  if ((fileStatsOf(spec)?.size ?? 0) >= LARGE.bytes) preferLessMemory(GROWTH.plan);
}

/** Called when the spec was read: its resources can come from many small files. */
function prepareForLargePlan(spec: Pick<Spec, "resources">): void {
  if (isLarge(spec)) preferLessMemory(GROWTH.plan);
}

/** Called before a plan is executed. */
export function prepareForLargeApply(spec: Pick<Spec, "resources">): void {
  if (isLarge(spec)) preferLessMemory(GROWTH.apply);
}

function isLarge({ resources }: Pick<Spec, "resources">): boolean {
  return resources.size >= LARGE.resources;
}

/** Most of a large plan lives as long as the run, so a growing young space only keeps it twice. */
function preferLessMemory(growth: number): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}
