// Loads the resolved spec of a target, and the scope of its expressions. Reads no secret.

import type { HostOptions } from "../../config/settings.ts";
import { Failure, hasErrors } from "../../core/diagnostic.ts";
import { type ExpressionScope, openExpressions } from "../../spec/evaluate-text.ts";
import { type RenderedSpec, renderSpec } from "../../spec/render/render-spec.ts";
import type { WorkflowContext } from "../invocation/workflow-context.ts";
import { checkSpec, type SpecOptions, specInput } from "../session/read-spec.ts";

export interface ResolvedSpec extends RenderedSpec {
  readonly target: string | undefined;
  readonly hasSensitive: boolean;
}

/** Throws Failure with everything that is wrong with the spec; warnings go to the observer. */
export async function resolvedSpec(
  context: WorkflowContext,
  options: SpecOptions & Partial<HostOptions>,
): Promise<ResolvedSpec> {
  const { spec, declared, diagnostics } = await checkSpec(context, options, undefined);
  if (spec === undefined || declared === undefined || hasErrors(diagnostics))
    throw new Failure(...diagnostics);
  context.observer.found(diagnostics);
  const { registry } = specInput(context, options);
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
export async function expressionScope(
  context: WorkflowContext,
  options: SpecOptions & Partial<HostOptions>,
): Promise<TypedExpressions> {
  const { scope, diagnostics } = await openExpressions(specInput(context, options));
  if (scope === undefined) throw new Failure(...diagnostics);
  context.observer.found(diagnostics);
  return { ...scope, hasErrors: hasErrors(diagnostics) };
}
