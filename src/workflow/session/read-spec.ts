// Reads the spec of an invocation: to work with it, resolved to show it, or as the scope of expressions.

import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { fileStatsOf } from "../../config/files.ts";
import { type Diagnostic, Failure, hasErrors } from "../../core/diagnostic.ts";
import type { KeyedDigest } from "../../core/digest.ts";
import { registry } from "../../providers/index.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import type { ExpressionScope } from "../../spec/evaluate-text.ts";
import { loadSpec, type SpecInput } from "../../spec/load-spec.ts";
import type { DeclaredSpec, Spec } from "../../spec/model/spec.ts";
import type { RenderedSpec } from "../../spec/render/render-spec.ts";
import { assertInCheckout } from "../invocation/checkout.ts";
import type { Invocation } from "../invocation/invocation.ts";
import { stateOfTarget } from "../invocation/target.ts";
import { ruleFiles } from "../rules/rule-folders.ts";

export interface SpecReading {
  /** Without it, no secret is read. */
  readonly digest?: KeyedDigest | undefined;
  /** Secrets without a value are warnings. */
  readonly mayLackSecrets?: boolean;
  readonly allTargets?: boolean;
  /** Unsaved contents of files, by path in the folder of the spec. */
  readonly edited?: ReadonlyMap<string, Uint8Array>;
}

/** A spec without errors. */
interface ValidSpec {
  readonly spec: Spec;
  readonly declared: DeclaredSpec;
  /** The observer has them already; for output that is a document. */
  readonly warnings: readonly Diagnostic[];
}

/** Throws Failure with everything that is wrong; warnings go to the observer. */
export async function readSpec(invocation: Invocation, reading: SpecReading): Promise<ValidSpec> {
  const { spec, declared, diagnostics } = await checkSpec(invocation, reading);
  if (spec === undefined || declared === undefined || hasErrors(diagnostics))
    throw new Failure(...diagnostics);
  invocation.observer.report(diagnostics);
  preferLessMemoryForSpec(spec, "plan");
  return { spec, declared, warnings: diagnostics };
}

/** The spec, unless something is wrong with it, and everything that was found. */
export function checkSpec(
  invocation: Invocation,
  { digest, mayLackSecrets, allTargets, edited }: SpecReading = {},
): ReturnType<typeof loadSpec> {
  const rules = ruleFiles(invocation);
  return loadSpec({
    ...specInput(invocation),
    rules,
    secrets: digest === undefined ? "skip" : "resolve",
    mayLackSecrets,
    allTargets,
    edited,
    keyed: digest ?? (() => ""),
  });
}

export function specInput(invocation: Invocation): SpecInput {
  const { file, cwd, env, targetName, vars, varFiles, untrusted, onPathRead } = invocation;
  for (const path of varFiles) onPathRead?.(path);
  if (untrusted) assertInCheckout(invocation, file, varFiles);
  return {
    file,
    cwd,
    target: targetName,
    onPathRead,
    onYaml: (bytes) => {
      if (bytes >= LARGE.file) preferLessMemory(GROWTH.plan);
    },
    vars,
    varFiles,
    env: untrusted ? {} : env,
    untrusted,
    states: stateFolders(invocation),
    registry: registryIn(registry, invocation.dialect()),
  };
}

/** The files of a state do not belong to the spec, so they cannot be sources. A state in another place leads to no folder. */
function stateFolders(invocation: Invocation): readonly string[] {
  const ofTarget = invocation.untrusted ? undefined : stateOfTarget(invocation);
  const states = [...invocation.namedStates, ...(ofTarget === undefined ? [] : [ofTarget])];
  return states.map((state) => resolve(invocation.cwd, state));
}

/** The files of the spec, the state, or else all resources of the spec that call for less memory. The state of 20,000 resources takes at least 6 MiB. */
const LARGE = { file: 2 * 1024 * 1024, state: 6 * 1024 * 1024, resources: 20_000 };

/** V8 collects garbage when the heap is so many percent larger than what lives. The end of an apply needs more memory than a plan. */
const GROWTH = { plan: 50, apply: 25 };

/** Called before a spec, a state in a folder, or a plan file is read: V8 keeps the young space that it has until then. */
export function preferLessMemoryForFile(file: string, kind: "file" | "state" = "file"): void {
  if ((fileStatsOf(file)?.size ?? 0) >= LARGE[kind]) preferLessMemory(GROWTH.plan);
}

/** Called when the spec was read, whose resources can come from many small files, and before a plan is executed. */
export function preferLessMemoryForSpec(
  { resources }: Pick<Spec, "resources">,
  phase: keyof typeof GROWTH,
): void {
  if (resources.size >= LARGE.resources) preferLessMemory(GROWTH[phase]);
}

/** Most of a large plan lives as long as the run, so a growing young space only keeps it twice. */
function preferLessMemory(growth: number): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}

/** The resolved spec of a target. */
export interface ResolvedSpec extends RenderedSpec {
  readonly target: string | undefined;
  readonly hasSensitive: boolean;
}

/** Throws Failure with everything that is wrong with the spec; warnings go to the observer. */
export async function resolvedSpec(invocation: Invocation): Promise<ResolvedSpec> {
  const { spec, declared } = await readSpec(invocation, {});
  const { registry } = specInput(invocation);
  const { renderSpec } = await import("../../spec/render/render-spec.ts");
  return {
    ...renderSpec(spec, declared, registry),
    target: spec.target?.name,
    hasSensitive: (spec.sensitive?.size ?? 0) > 0,
  };
}

interface TypedExpressions extends ExpressionScope {
  /** Whether the spec has errors. What does not depend on them can be evaluated. */
  readonly hasErrors: boolean;
}

/** Problems of the spec go to the observer. Throws Failure if its files cannot be read. */
export async function expressionScope(invocation: Invocation): Promise<TypedExpressions> {
  const { openExpressions } = await import("../../spec/evaluate-text.ts");
  const { scope, diagnostics } = await openExpressions(specInput(invocation));
  if (scope === undefined) throw new Failure(...diagnostics);
  invocation.observer.report(diagnostics);
  return { ...scope, hasErrors: hasErrors(diagnostics) };
}
