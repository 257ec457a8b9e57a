// Evaluates the sections of a spec or of an instance of a module. `for_each` makes one resource or instance for each entry, and `when` leaves one out.

import type { Code } from "../../core/codes.ts";
import { isEvaluated, literalOf, templateParts } from "../../expressions/template.ts";
import { checkSyntax, type Expander } from "../evaluate/expander.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import {
  describeNode,
  hasSensitive,
  isNull,
  type MapMember,
  type MapNode,
  mapAt,
  member,
  SHOWN_EVERYWHERE,
  type SpecNode,
  scalarAt,
  scalarText,
  withMembers,
} from "../model/tree.ts";
import type { ModuleLoading, ModuleUser } from "./loading.ts";
import type { EachValue } from "./scope.ts";

/** The sections of the spec, or of an instance of a module. */
export function expandSections(sections: MapNode, user: ModuleUser, loading: ModuleLoading): MapNode {
  const repeated: Record<string, MapMember> = {};
  for (const [kind, { key, value }] of sections.members) {
    if (value.kind !== "map" || loading.registry.find(kind) === undefined) continue;
    if (![...value.members.values()].some(isConditional)) continue;
    repeated[kind] = { key, value: expandKind(kind, value, user, loading) };
  }
  const expander = user.expander(user.scope);
  const kinds = Object.keys(repeated);
  if (kinds.length === 0) return expander.map(sections);
  const rest = expander.map(
    withMembers(sections, Object.fromEntries(kinds.map((kind) => [kind, undefined]))),
  );
  const names = new Set([...sections.members.keys(), ...rest.members.keys()]);
  const ordered = [...names].flatMap((name) => {
    const section = repeated[name] ?? rest.members.get(name);
    return section === undefined ? [] : [[name, section] as const];
  });
  return mapAt(sections, new Map(ordered));
}

const isConditional = ({ value }: MapMember): boolean =>
  value.kind === "map" && (value.members.has("for_each") || value.members.has("when"));

function expandKind(kind: string, section: MapNode, user: ModuleUser, loading: ModuleLoading): MapNode {
  const { findings } = loading;
  const plain = new Map([...section.members].filter(([, mapMember]) => !isConditional(mapMember)));
  const members = new Map(user.expander(user.scope).map(mapAt(section, plain)).members);
  for (const [key, { key: at, value: node }] of section.members) {
    if (node.kind !== "map" || plain.has(key)) continue;
    for (const { name, value } of copiesOf({ kind, key, at, node }, user, loading)) {
      if (!members.has(name)) members.set(name, { key: at, value });
      else
        findings.error("SPEC_DUPLICATE_KEY", `${kind} has ${JSON.stringify(name)} twice after for_each`, at, {
          hint: "the key of a resource with for_each contains ${each.key}",
        });
    }
  }
  return mapAt(section, members);
}

/** A resource with `for_each` or `when`. */
interface ConditionalResource {
  readonly kind: string;
  readonly key: string;
  readonly at: Span;
  readonly node: MapNode;
}

/** The resources that are not left out. */
function* copiesOf(
  resource: ConditionalResource,
  user: ModuleUser,
  loading: ModuleLoading,
): Iterable<{ readonly name: string; readonly value: MapNode }> {
  const { kind, key, at, node } = resource;
  const { findings, leftOut } = loading;
  const fields = withMembers(node, { for_each: undefined, when: undefined });
  let isEvaluatedOnce = false;
  for (const each of eachOf(resource, user, findings)) {
    if (each !== undefined && !loading.admitCopy(fields, at)) return;
    const expander = user.expander(each === undefined ? user.scope : user.scope.withEach(each));
    const whole = mapAt(node, new Map([[key, { key: at, value: mapAt(node, new Map()) }]]));
    const [name = key] = expander.map(whole).members.keys();
    if (isIncluded({ subject: `${kind}.${name}`, node, expander, findings })) {
      isEvaluatedOnce = true;
      yield { name, value: expander.map(fields) };
    } else leftOut.add(loading.addressOf(kind, name, user.origin?.prefix ?? ""));
  }
  if (!isEvaluatedOnce) checkSyntax(fields, loading.expanding.evaluator, findings);
}

/** The entries of `for_each`; without it, a single one that is undefined. */
function eachOf(
  { kind, key, at, node }: ConditionalResource,
  user: ModuleUser,
  findings: Findings,
): readonly (EachValue | undefined)[] {
  if (member(node, "for_each") === undefined) return [undefined];
  const subject = `${kind}.${key}`;
  const hasEachKey = (templateParts(key) ?? []).some(
    (part) => typeof part !== "string" && isEvaluated(part) && /\beach\.key\b/.test(part.expression),
  );
  if (hasEachKey)
    return entriesOfForEach({ subject, node, expander: user.expander(user.scope), findings }, false);
  findings.error(
    "SPEC_MODULE",
    `the key of ${subject} must contain \${each.key}, because it has for_each`,
    at,
  );
  return [];
}

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
