// Validates values against kind schemas. Loads the full validator, which is slow, only if the fast check is inconclusive.

import type { PlannedKind } from "../../resource/provider.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { Reporting } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import { keySpanOf, type SpecNode, spanOf } from "../model/tree.ts";
import { schemaMessages } from "./error-messages.ts";
import { standaloneSchema } from "./json-schema.ts";
import { type QuickCheck, quickCheck } from "./quick-check.ts";
import { policySchema, ruleSchema } from "./sections.ts";
import type { SchemaError, SpecValidator } from "./validate.ts";

const SATISFIED: SpecValidator = { resource: () => [], policy: () => [], rule: () => [] };

/** A validator for these resources. Loading the real one and compiling schemas takes longer than a whole valid spec. */
export async function validatorFor(
  registry: PlanningRegistry,
  resources: Iterable<{ readonly provider: PlannedKind; readonly node: SpecNode }>,
): Promise<SpecValidator> {
  const checks = new Map<PlannedKind, QuickCheck>();
  for (const { provider, node } of resources) {
    const check = checks.get(provider) ?? quickCheck(standaloneSchema(provider));
    checks.set(provider, check);
    if (!check(node)) return realOf(registry);
  }
  return SATISFIED;
}

export async function validatorForPolicy(
  registry: PlanningRegistry,
  policy: SpecNode,
): Promise<SpecValidator> {
  return quickCheck(policySchema(registry))(policy) ? SATISFIED : realOf(registry);
}

export async function validatorForRules(
  registry: PlanningRegistry,
  rules: readonly SpecNode[],
): Promise<SpecValidator> {
  const check = quickCheck(ruleSchema(registry));
  return rules.every(check) ? SATISFIED : realOf(registry);
}

/** Reports each error of a value at its place; `whole`: the place of errors that are about all of it. */
export function reportErrors(
  errors: readonly SchemaError[],
  name: string,
  node: SpecNode,
  { suggest, findings }: Reporting,
  whole: Span = node,
): void {
  for (const { code, message, path, onKey, hint } of schemaMessages(errors, name, suggest)) {
    const at = onKey ? keySpanOf(node, path) : spanOf(node, path);
    findings.error(code, message, path.length === 0 ? whole : at, { hint });
  }
}

async function realOf(registry: PlanningRegistry): Promise<SpecValidator> {
  const { validatorOf } = await import("./validate.ts");
  return validatorOf(registry);
}
