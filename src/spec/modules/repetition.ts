// `for_each` and `when` of modules and of resources: the entries of an instance each, and whether one is left out.

import type { Code } from "../../core/codes.ts";
import { literalOf } from "../../expressions/template.ts";
import type { Expander } from "../evaluate/expander.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import {
  describeNode,
  hasSensitive,
  isNull,
  type MapNode,
  member,
  SHOWN_EVERYWHERE,
  type SpecNode,
  scalarAt,
  scalarText,
} from "../model/tree.ts";
import type { EachValue } from "./scope.ts";

/** Names of modules and of their instances: parts of an address, so without dots and slashes. */
export const PART_OF_ADDRESS = /^[A-Za-z0-9_][\w-]*$/;

export interface Repeated {
  /** `modules.team`, or the address of a resource. */
  readonly subject: string;
  readonly node: MapNode;
  readonly expander: Expander;
  readonly findings: Findings;
}

/** The entries of `for_each`: those of a map, or the strings of a list. `isPart`: keys are parts of addresses. */
export function entriesOfForEach(
  { subject, node, expander, findings }: Repeated,
  isPart: boolean,
): readonly EachValue[] {
  const forEach = member(node, "for_each");
  if (forEach === undefined) return [];
  const value = expander.node(forEach);
  const entries = new Map<string, EachValue>();
  const add = (key: string, entry: SpecNode, at: Span, isSensitive: boolean): void => {
    const error = (code: Code, message: string, hint?: string): void =>
      findings.error(code, `${subject}: ${message}`, at, { hint });
    if (isSensitive)
      error("SPEC_SENSITIVE", "a key of for_each cannot contain a sensitive value", SHOWN_EVERYWHERE);
    else if (isPart ? !PART_OF_ADDRESS.test(key) : key === "")
      error(
        "SPEC_MODULE",
        `${JSON.stringify(key)} cannot be a key of for_each`,
        "a key is part of addresses, so it contains letters, digits, dashes, and underscores only",
      );
    else if (entries.has(key))
      error("SPEC_DUPLICATE_KEY", `for_each has the key ${JSON.stringify(key)} twice`);
    else entries.set(key, { key, value: entry });
  };
  if (value.kind === "map")
    for (const [key, entry] of value.members) add(key, entry.value, entry.key, value.sensitive === true);
  else if (value.kind === "list")
    for (const item of value.items) {
      const text = scalarText(item);
      const key = text === undefined ? undefined : literalOf(text);
      const message = `${subject}: a list in for_each contains strings, not ${describeNode(item)}`;
      if (key === undefined) findings.error("SPEC_TYPE", message, item);
      else add(key, scalarAt(item, key), item, value.sensitive === true || item.sensitive === true);
    }
  else if (!isWithoutValue(value, forEach))
    findings.wrongType(`${subject}: for_each`, "a map or a list of strings", value, {
      hint: isNull(value) ? "for no instance, write for_each: []" : undefined,
    });
  return [...entries.values()];
}

/** Whether `when` is true, or absent. A problem is reported, and then nothing is left out. */
export function isIncluded({ subject, node, expander, findings }: Repeated): boolean {
  const when = member(node, "when");
  if (when === undefined) return true;
  const value = expander.node(when);
  if (hasSensitive(value)) {
    const message = `${subject}: when cannot contain a sensitive value`;
    findings.error("SPEC_SENSITIVE", message, when, { hint: SHOWN_EVERYWHERE });
  } else if (value.kind === "scalar" && typeof value.value === "boolean") return value.value;
  else if (!isWithoutValue(value, when)) findings.wrongType(`${subject}: when`, "true or false", value);
  return true;
}

/** The text of an expression without a value stays, and the problem was reported. */
function isWithoutValue(value: SpecNode, written: SpecNode): boolean {
  const text = scalarText(value);
  return text?.includes("${") === true && text === scalarText(written);
}
