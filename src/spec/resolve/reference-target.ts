// Looks up what a reference refers to, and reports a reference to nothing.

import { type Address, addressOf } from "../../core/address.ts";
import { listed } from "../../core/sentences.ts";
import { didYouMean } from "../../core/suggest.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { Finding, Reporting } from "../model/findings.ts";
import type { ReferencePart } from "../model/spec.ts";
import { type Expression, isEvaluated, isTemplate } from "../model/template.ts";
import type { ScalarNode, SpecNode } from "../model/tree.ts";
import type { WrittenResource } from "../model/written-resource.ts";
import { partsOrReport } from "../variables/interpolate.ts";
import { attributesOf, hasAttribute } from "./field-walk.ts";

export type ReferenceTarget = Exclude<ReferencePart, string>;

/** The context for checking all references of a spec. */
export interface ReferenceContext extends Reporting {
  readonly registry: PlanningRegistry;
  readonly resources: ReadonlyMap<Address, WrittenResource>;
  readonly keysOf: (kind: string) => readonly string[];
}

/** Undefined after reporting an error. `user`: the resource with the reference; of a value that none may use, undefined. */
export function referenceTargetOf(
  part: Expression,
  at: ScalarNode,
  context: ReferenceContext,
  user: Address | undefined,
): ReferenceTarget | undefined {
  // An expression that is still there has no value, which was reported.
  if (isEvaluated(part)) return undefined;
  const { registry, resources, keysOf, suggest } = context;
  const report = (message: string, details: { readonly hint?: string }, severity?: "warning"): undefined =>
    reportTarget({ message, severity: severity ?? "error", ...details }, at, user, context);
  const { expression, raw } = part;
  const first = expression.indexOf(".");
  const last = expression.lastIndexOf(".");
  if (first <= 0 || last === first || last === expression.length - 1)
    return report(`${raw} is neither a variable nor a reference`, {
      hint: "write ${var.name} or ${kind.name.attribute}; for a literal ${, write $${",
    });
  const kind = expression.slice(0, first);
  const provider = registry.find(kind);
  if (provider === undefined) {
    const kinds = registry.kinds.map((one) => one.kind);
    const message = `${raw} refers to the kind ${JSON.stringify(kind)}, which does not exist`;
    return report(message, didYouMean(suggest(kind, [...kinds, "var"]), `the kinds are ${listed(kinds)}`));
  }
  const [name, attribute] = [expression.slice(first + 1, last), expression.slice(last + 1)];
  const address = addressOf(provider.kind, name);
  if (!resources.has(address)) {
    const keys = keysOf(kind);
    const known = keys.length > 0 ? `declared ${kind}: ${listed(keys)}` : `the spec declares no ${kind}`;
    const hint = didYouMean(suggest(name, keys), known);
    // Another target may declare it, together with what uses the value.
    const severity = user === undefined ? "warning" : undefined;
    return report(`${raw} refers to ${address}, which is not in the spec`, hint, severity);
  }
  if (hasAttribute(provider, attribute)) return { address, attribute };
  const known = attributesOf(provider);
  const message = `${raw} refers to the attribute ${JSON.stringify(attribute)}, which ${kind} do not have`;
  return report(message, didYouMean(suggest(attribute, known), `the attributes are ${listed(known)}`));
}

/** Reports the references to nothing in a value that no resource may use. */
export function checkReferences(node: SpecNode, context: ReferenceContext): void {
  if (node.kind === "map") for (const { value } of node.members.values()) checkReferences(value, context);
  else if (node.kind === "list") for (const item of node.items) checkReferences(item, context);
  else if (typeof node.value === "string" && isTemplate(node.value))
    for (const part of partsOrReport(node.value, node, context.findings) ?? [])
      if (typeof part !== "string") referenceTargetOf(part, node, context, undefined);
}

/** At the place where the reference is written. */
function reportTarget(
  problem: Pick<Finding, "severity" | "message" | "hint">,
  node: ScalarNode,
  user: Address | undefined,
  { findings }: ReferenceContext,
): undefined {
  const { written } = node;
  const at = written ?? node;
  // A resource that uses the value has reported it.
  if (user === undefined && findings.hasAt(at)) return;
  findings.add({
    code: "SPEC_REFERENCE",
    at,
    ...problem,
    ...(user === undefined ? {} : { address: user }),
    ...(written === undefined ? {} : { usedAt: [node] }),
  });
}
