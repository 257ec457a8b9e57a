// Loads the resolved spec of a target, and the scope of its expressions. Reads no secret.

import { Failure, hasErrors } from "../../core/diagnostic.ts";
import { type ExpressionScope, openExpressions } from "../../spec/evaluate-text.ts";
import { type RenderedSpec, renderSpec } from "../../spec/render/render-spec.ts";
import type { Invocation } from "../invocation/invocation.ts";
import { checkSpec, specInput } from "../session/read-spec.ts";

export interface ResolvedSpec extends RenderedSpec {
  readonly target: string | undefined;
  readonly hasSensitive: boolean;
}

/** Throws Failure with everything that is wrong with the spec; warnings go to the observer. */
export async function resolvedSpec(invocation: Invocation): Promise<ResolvedSpec> {
  const { spec, declared, diagnostics } = await checkSpec(invocation);
  if (spec === undefined || declared === undefined || hasErrors(diagnostics))
    throw new Failure(...diagnostics);
  invocation.observer.report(diagnostics);
  const { registry } = specInput(invocation);
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
  const { scope, diagnostics } = await openExpressions(specInput(invocation));
  if (scope === undefined) throw new Failure(...diagnostics);
  invocation.observer.report(diagnostics);
  return { ...scope, hasErrors: hasErrors(diagnostics) };
}
