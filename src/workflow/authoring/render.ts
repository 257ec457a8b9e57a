// The resolved spec of a target. No secret is read.

import type { HostOptions } from "../../config/settings.ts";
import { Failure, hasErrors } from "../../core/diagnostic.ts";
import { type RenderedSpec, renderSpec } from "../../spec/render/render-spec.ts";
import { checkSpec, type SpecOptions, specInput } from "../session/read-spec.ts";
import type { WorkflowContext } from "../session/workflow-context.ts";

export interface ResolvedSpec extends RenderedSpec {
  readonly target: string | undefined;
  /** Whether values are replaced by a placeholder. */
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
