// The scope of a spec for expressions that a person types.

import type { HostOptions } from "../../config/settings.ts";
import { Failure, hasErrors } from "../../core/diagnostic.ts";
import { type ExpressionScope, openExpressions } from "../../spec/evaluate-text.ts";
import { type SpecOptions, specInput } from "../session/read-spec.ts";
import type { WorkflowContext } from "../session/workflow-context.ts";

export interface TypedExpressions extends ExpressionScope {
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
