// Reads what a file of a spec declares and where: resources, variables, locals, inputs, and modules, and the path of keys at a place.

import type { Registry } from "../../resource/kind.ts";
import { Findings } from "../../spec/model/findings.ts";
import { SourceText, type Span } from "../../spec/model/source.ts";
import { type MapNode, member, type SpecNode, scalarText } from "../../spec/model/tree.ts";
import { readYaml } from "../../spec/yaml/read-yaml.ts";

/** Lines and characters count from 0, characters in UTF-16 code units, as editors count them. */
export interface EditorPosition {
  readonly line: number;
  readonly character: number;
}

export interface EditorRange {
  readonly start: EditorPosition;
  readonly end: EditorPosition;
}

export interface Declaration {
  /** As an expression refers to it: `pools.shared`, `var.env`, `modules.team`. */
  readonly name: string;
  /** The kind of a resource. */
  readonly kind?: string;
  readonly range: EditorRange;
}

export interface PlaceInSpec {
  readonly path: readonly string[];
  /** The string at the place, unless it is a key. */
  readonly text?: string;
  readonly range: EditorRange;
}

/** Sections whose entries have names of their own, and what expressions call them. */
const NAMED_SECTIONS: Readonly<Record<string, string>> = {
  variables: "var",
  locals: "local",
  inputs: "input",
  modules: "modules",
};

export interface SpecOutline {
  readonly declarations: readonly Declaration[];
  at(position: EditorPosition): PlaceInSpec | undefined;
}

/** Undefined if the text is not YAML with a map at its top. */
export function outlineOf(text: string, registry: Registry): SpecOutline | undefined {
  const source = new SourceText("", text);
  const root = readYaml(source, new Findings());
  if (root?.kind !== "map") return undefined;
  return {
    declarations: [...declarationsIn(root, registry)],
    at: ({ line, character }) => placeAt(root, source.startOf(line) + character),
  };
}

function* declarationsIn(root: MapNode, registry: Registry): Generator<Declaration> {
  for (const [section, { value }] of root.members) {
    const prefix = NAMED_SECTIONS[section];
    if (value.kind !== "map") continue;
    if (prefix !== undefined)
      for (const [name, { key }] of value.members) yield { name: `${prefix}.${name}`, range: rangeOf(key) };
    else if (registry.find(section) !== undefined) yield* resourcesIn(section, value, registry);
  }
}

function* resourcesIn(kind: string, section: MapNode, registry: Registry): Generator<Declaration> {
  const nested = registry.kinds.filter((provider) => provider.nested?.kind === kind);
  for (const [name, { key, value }] of section.members) {
    yield { name: `${kind}.${name}`, kind, range: rangeOf(key) };
    for (const inner of nested) {
      const members = member(value, inner.nested?.under ?? "");
      if (members?.kind !== "map") continue;
      for (const [child, { key: at }] of members.members)
        yield { name: `${inner.kind}.${name}/${child}`, kind: inner.kind, range: rangeOf(at) };
    }
  }
}

function placeAt(root: SpecNode, offset: number): PlaceInSpec | undefined {
  const path: string[] = [];
  for (let node = root; ; ) {
    if (node.kind === "scalar")
      return isInside(node, offset) ? { path, text: scalarText(node), range: rangeOf(node) } : undefined;
    const entries =
      node.kind === "map"
        ? [...node.members].map(([name, { key, value }]) => ({ name, key, value }))
        : node.items.map((value, at) => ({ name: String(at), key: undefined, value }));
    const inKey = entries.find(({ key }) => key !== undefined && isInside(key, offset));
    if (inKey?.key !== undefined) return { path: [...path, inKey.name], range: rangeOf(inKey.key) };
    const next = entries.find(({ value }) => isInside(value, offset));
    if (next === undefined) return undefined;
    path.push(next.name);
    node = next.value;
  }
}

const isInside = ({ start, end }: Span, offset: number): boolean => start <= offset && offset <= end;

function rangeOf({ source, start, end }: Span): EditorRange {
  const at = (offset: number): EditorPosition => {
    const line = source.lineOf(offset);
    return { line, character: offset - source.startOf(line) };
  };
  return { start: at(start), end: at(end) };
}
