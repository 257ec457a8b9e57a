// Constraints of variables in addition to the type: `enum`, `pattern`, and `sensitive`.

import { canonicalJson } from "../../core/digest.ts";
import type { Json } from "../../core/json.ts";
import type { SensitiveTexts } from "../../core/sensitive.ts";
import { listed } from "../../core/sentences.ts";
import { escaped } from "../../expressions/template.ts";
import {
  type LinearPattern,
  type LinearPatterns,
  linearPatternProblem,
} from "../evaluate/linear-patterns.ts";
import { visitNodes } from "../evaluate/node-values.ts";
import type { Findings } from "../model/findings.ts";
import {
  asSensitive,
  isFlag,
  type MapNode,
  member,
  plain,
  type SpecNode,
  scalarText,
} from "../model/tree.ts";

export interface VariableConstraints {
  readonly allowed?: readonly Json[];
  readonly pattern?: { readonly text: string; readonly matches: LinearPattern };
  readonly sensitive: boolean;
}

export interface ConstraintParts {
  readonly findings: Findings;
  readonly patterns: LinearPatterns;
}

export const NO_CONSTRAINTS: VariableConstraints = { sensitive: false };

/** Reads `enum`, `pattern`, and `sensitive` of a declaration. */
export function constraintsOf(
  name: string,
  node: MapNode,
  type: string | undefined,
  { findings, patterns }: ConstraintParts,
): VariableConstraints {
  const allowed = member(node, "enum");
  if (allowed !== undefined && (allowed.kind !== "list" || allowed.items.length === 0))
    findings.error("SPEC_TYPE", `${name}: enum must be a list of values`, allowed);
  else if (allowed !== undefined) checkLiteral(`${name}: enum`, allowed, findings);
  const flag = member(node, "sensitive");
  const sensitive = isMarkedSensitive(node);
  if (flag !== undefined && !isFlag(flag)) findings.wrongType(`${name}: sensitive`, "true or false", flag);
  if (sensitive && type !== undefined && type !== "string")
    findings.error("SPEC_VALUE", `${name}: only a variable of type string can be sensitive`, flag);
  const pattern = patternIn(name, member(node, "pattern"), { findings, patterns });
  return {
    sensitive,
    ...(allowed?.kind === "list" ? { allowed: allowed.items.map((item) => plain(item)) } : {}),
    ...(pattern === undefined ? {} : { pattern }),
  };
}

/** A mistake in the flag must not show the value. */
export function isMarkedSensitive(declaration: SpecNode): boolean {
  const flag = member(declaration, "sensitive");
  return flag !== undefined && !(flag.kind === "scalar" && flag.value === false);
}

/** Reports each `${…}` in a part of a declaration: it would be taken as text. */
export function checkLiteral(subject: string, node: SpecNode, findings: Findings): void {
  if (node.kind === "scalar") {
    if (scalarText(node)?.includes("${") === true)
      findings.error("SPEC_VARIABLE", `${subject} cannot contain ${"${…}"}`, node);
    return;
  }
  const inner = node.kind === "list" ? node.items : [...node.members.values()].map(({ value }) => value);
  for (const one of inner) checkLiteral(subject, one, findings);
}

function patternIn(
  name: string,
  node: SpecNode | undefined,
  { findings, patterns }: ConstraintParts,
): VariableConstraints["pattern"] | undefined {
  if (node === undefined) return undefined;
  const text = scalarText(node);
  if (text === undefined) {
    findings.wrongType(`${name}: pattern`, "a string", node);
    return undefined;
  }
  const cause = linearPatternProblem(text);
  if (cause === undefined) return { text, matches: patterns.test(text) };
  findings.error("SPEC_VALUE", `${name}: pattern is not a valid regular expression`, node, {
    cause,
    hint: "lookahead and backreferences are not available",
  });
  return undefined;
}

/** Reports a value that the declaration does not allow; a sensitive one without showing it. */
export function checkConstraints(
  subject: string,
  { allowed, pattern, sensitive }: VariableConstraints,
  value: SpecNode,
  findings: Findings,
): void {
  const data = plain(value);
  const shown = sensitive || typeof data === "object" ? "" : `, not ${canonicalJson(data).slice(0, 80)}`;
  if (allowed !== undefined && !allowed.some((one) => canonicalJson(one) === canonicalJson(data))) {
    const values = `${allowed.length === 1 ? "" : "one of "}${listed(allowed.map(String), "or")}`;
    findings.error("SPEC_VARIABLE", `${subject} must be ${values}${shown}`, value);
  }
  if (pattern !== undefined && (typeof data !== "string" || !pattern.matches(data, value)))
    findings.error("SPEC_VARIABLE", `${subject} must match ${pattern.text}${shown}`, value);
}

/** The value with marks, which keep it out of every output; frames do not show its place. */
export function sensitiveValue(node: SpecNode, sensitive: SensitiveTexts): SpecNode {
  node.source.mask(node);
  visitNodes(node, (one) => {
    const { value } = one.kind === "scalar" ? one : {};
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") return;
    sensitive.add(String(value));
    sensitive.add(escaped(String(value)));
  });
  return asSensitive(node);
}
