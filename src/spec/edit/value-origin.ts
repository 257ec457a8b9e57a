// What decides a value of a spec: where a resource declares it, and the variables, locals, inputs, and targets that it comes from.

import type { Location } from "../../core/diagnostic.ts";
import { isTemplate } from "../../expressions/template.ts";
import { locationOf } from "../model/source.ts";
import type { SpecNode } from "../model/tree.ts";
import type { DocumentPlace, SpecEdits } from "./spec-edits.ts";

/**
 * `outside`: a value that no file of the spec has; its name is `--var size`, `WORKSPACE_VAR_size`, or the path of a file. `resource`:
 * an attribute of another resource.
 */
type SourceKind = "variable" | "local" | "input" | "output" | "for_each" | "outside" | "field" | "resource";

interface ValueSource {
  readonly what: SourceKind;
  readonly name: string;
  /** Absent for a value from the command line or the environment. */
  readonly at?: Location;
  /** The target whose section has the value. */
  readonly target?: string;
}

export interface DecidedOrigin {
  /** Where the resource declares the value. */
  readonly at: Location;
  /** The text there, if it has an expression. */
  readonly expression?: string;
  /** The target that declares it in its own section. */
  readonly target?: string;
  /** From near to far. */
  readonly sources: readonly ValueSource[];
}

export function originOfValue(node: SpecNode, edits: SpecEdits): DecidedOrigin {
  const place = edits.placeOf(node);
  const text = place === undefined ? undefined : edits.valueAt(place);
  const sources = new Map<string, ValueSource>();
  for (const read of sourceNodes(node)) {
    // The result of an expression has the place of the expression.
    if (read.source === node.source && read.start >= node.start && read.end <= node.end) continue;
    const source = sourceOf(read, edits);
    const key = JSON.stringify([source.what, source.name, source.target]);
    if (!sources.has(key)) sources.set(key, source);
  }
  return {
    at: locationOf(node, false),
    ...(typeof text === "string" && isTemplate(text) ? { expression: text } : {}),
    ...targetOf(place),
    sources: [...sources.values()],
  };
}

/** The values that a value, or one in it, is copied or computed from, and theirs. */
function sourceNodes(node: SpecNode): ReadonlySet<SpecNode> {
  const all = new Set<SpecNode>();
  const open = insideOf(node).flatMap(readBy);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (all.has(next)) continue;
    all.add(next);
    open.push(...readBy(next));
  }
  return all;
}

const readBy = ({ copiedFrom, computedFrom = [] }: SpecNode): SpecNode[] =>
  copiedFrom === undefined ? [...computedFrom] : [copiedFrom, ...computedFrom];

/** A value and the values in it; what is copied as a whole has one source. */
function insideOf(node: SpecNode): readonly SpecNode[] {
  if (node.copiedFrom !== undefined || node.kind === "scalar") return [node];
  const inner = node.kind === "list" ? node.items : [...node.members.values()].map(({ value }) => value);
  return [node, ...inner.flatMap(insideOf)];
}

function sourceOf(node: SpecNode, edits: SpecEdits): ValueSource {
  const place = edits.placeOf(node);
  if (place === undefined) {
    const { source } = node;
    return source.isHidden || source.path === ""
      ? { what: "outside", name: source.file }
      : { what: "field", name: source.path, at: locationOf(node, false) };
  }
  return { ...namedAt(place), ...targetOf(place), at: locationOf(node, false) };
}

const SECTIONS: Readonly<Record<string, SourceKind>> = {
  variables: "variable",
  locals: "local",
  inputs: "input",
  outputs: "output",
};

/** `variables.size.default` is the variable `size`; `modules.ads.with.size` is the input `size` of `modules.ads`. */
function namedAt({ path }: DocumentPlace): Pick<ValueSource, "what" | "name"> {
  const keys = (path[0] === "targets" ? path.slice(2) : path).map(String);
  const [section = "", name = "", part, inner] = keys;
  const what = SECTIONS[section];
  if (what !== undefined) return { what, name };
  if (part === "for_each") return { what: "for_each", name: `${section}.${name}` };
  if (section === "modules" && part === "with")
    return { what: "input", name: `${inner} of ${section}.${name}` };
  return { what: "field", name: keys.join(".") };
}

const targetOf = (place: DocumentPlace | undefined): Pick<ValueSource, "target"> =>
  place?.path[0] === "targets" ? { target: String(place.path[1]) } : {};
