// Evaluates the sections of a spec or of an instance of a module. `for_each` makes one resource or instance for each entry, and `when` leaves one out.

import { type Address, addressOf } from "../../core/address.ts";
import type { Code } from "../../core/codes.ts";
import { isEvaluated, literalOf, templateParts } from "../../expressions/template.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import type { Evaluator } from "../evaluate/evaluator.ts";
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
import type { EachValue, SpecScope } from "./scope.ts";

export interface ResourceExpansion {
  readonly registry: PlanningRegistry;
  readonly evaluator: Evaluator;
  readonly findings: Findings;
  readonly scope: SpecScope;
  expander(scope: SpecScope): Expander;
  /** What the addresses of kinds with a name field begin with: `team/ads/` in a module. */
  readonly prefix: string;
  /** Whether the limits leave room for a copy; reported once if not. */
  admit(copied: SpecNode, at: Span): boolean;
  /** The addresses of resources that are left out are added. */
  readonly leftOut: Set<Address>;
}

export function expandSections(sections: MapNode, expansion: ResourceExpansion): MapNode {
  const repeated: Record<string, MapMember> = {};
  for (const [kind, { key, value }] of sections.members) {
    if (value.kind !== "map" || expansion.registry.find(kind) === undefined) continue;
    if (!hasConditional(value)) continue;
    repeated[kind] = { key, value: expandKind(kind, value, expansion) };
  }
  const expander = expansion.expander(expansion.scope);
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

function hasConditional({ members }: MapNode): boolean {
  for (const resource of members.values()) if (isConditional(resource)) return true;
  return false;
}

const isConditional = ({ value }: MapMember): boolean =>
  value.kind === "map" && (value.members.has("for_each") || value.members.has("when"));

function expandKind(kind: string, section: MapNode, expansion: ResourceExpansion): MapNode {
  const { scope, findings } = expansion;
  const plain = new Map([...section.members].filter(([, mapMember]) => !isConditional(mapMember)));
  const members = new Map(expansion.expander(scope).map(mapAt(section, plain)).members);
  for (const [key, { key: at, value: node }] of section.members) {
    if (node.kind !== "map" || plain.has(key)) continue;
    const resource = new Resource(kind, key, node, expansion);
    for (const { name, value } of resource.copies(at)) {
      if (!members.has(name)) members.set(name, { key: at, value });
      else
        findings.error("SPEC_DUPLICATE_KEY", `${kind} has ${JSON.stringify(name)} twice after for_each`, at, {
          hint: "the key of a resource with for_each contains ${each.key}",
        });
    }
  }
  return mapAt(section, members);
}

class Resource {
  readonly #kind: string;
  readonly #key: string;
  readonly #node: MapNode;
  readonly #fields: MapNode;
  readonly #expansion: ResourceExpansion;

  constructor(kind: string, key: string, node: MapNode, expansion: ResourceExpansion) {
    this.#kind = kind;
    this.#key = key;
    this.#node = node;
    this.#fields = withMembers(node, { for_each: undefined, when: undefined });
    this.#expansion = expansion;
  }

  /** The resources that are not left out. */
  *copies(at: Span): Iterable<{ readonly name: string; readonly value: MapNode }> {
    const { findings, scope, evaluator } = this.#expansion;
    let isEvaluatedOnce = false;
    for (const each of this.#entries(at)) {
      if (each !== undefined && !this.#expansion.admit(this.#fields, at)) return;
      const expander = this.#expansion.expander(each === undefined ? scope : scope.withEach(each));
      const whole = mapAt(
        this.#node,
        new Map([[this.#key, { key: at, value: mapAt(this.#node, new Map()) }]]),
      );
      const [name = this.#key] = expander.map(whole).members.keys();
      const subject = `${this.#kind}.${name}`;
      if (isIncluded({ subject, node: this.#node, expander, findings })) {
        isEvaluatedOnce = true;
        yield { name, value: expander.map(this.#fields) };
      } else this.#expansion.leftOut.add(this.#addressOf(name));
    }
    if (!isEvaluatedOnce) checkSyntax(this.#fields, evaluator, findings);
  }

  #entries(at: Span): readonly (EachValue | undefined)[] {
    if (member(this.#node, "for_each") === undefined) return [undefined];
    const { findings, scope } = this.#expansion;
    const subject = `${this.#kind}.${this.#key}`;
    if (!this.#hasEachKey) {
      findings.error(
        "SPEC_MODULE",
        `the key of ${subject} must contain \${each.key}, because it has for_each`,
        at,
      );
      return [];
    }
    const expander = this.#expansion.expander(scope);
    return entriesOfForEach({ subject, node: this.#node, expander, findings }, false);
  }

  get #hasEachKey(): boolean {
    const parts = templateParts(this.#key) ?? [];
    return parts.some(
      (part) => typeof part !== "string" && isEvaluated(part) && /\beach\.key\b/.test(part.expression),
    );
  }

  #addressOf(name: string): Address {
    const { registry, prefix } = this.#expansion;
    const isNamed = registry.find(this.#kind)?.nameField !== undefined;
    return addressOf(this.#kind, `${isNamed ? prefix : ""}${name}`);
  }
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
