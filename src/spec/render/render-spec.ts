// The resolved spec of one target as data that is itself a spec, without sensitive values, with the location of each value.

import { nameOf } from "../../core/address.ts";
import type { Location } from "../../core/diagnostic.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { type Path, setMember, toPointer } from "../../core/pointer.ts";
import { SENSITIVE_TEXT, SensitiveTexts } from "../../core/sensitive/texts.ts";
import { escaped } from "../../expressions/template.ts";
import { type FieldSchema, itemSchema, memberSchema } from "../../resource/field-schema.ts";
import { hasContent, type PlanningRegistry, secretField } from "../../resource/kind.ts";
import { pathBeside } from "../files/spec-folder.ts";
import { locationOf, type Span } from "../model/source.ts";
import type { DeclaredSpec, InstanceOrigin, Spec, WrittenResource } from "../model/spec.ts";
import {
  listAt,
  type MapNode,
  member,
  type SpecNode,
  scalarAt,
  scalarText,
  withMembers,
} from "../model/tree.ts";
import { fieldOf } from "../resolve/field-walk.ts";

export interface RenderedSpec {
  readonly document: JsonObject;
  /** By JSON pointer. A default of the program has none. */
  readonly origins: ReadonlyMap<string, ValueOrigin>;
}

/** Paths of files start from the folder of the main spec. The order of the files and their keys has no effect. */
export function renderSpec(spec: Spec, declared: DeclaredSpec, registry: PlanningRegistry): RenderedSpec {
  const values = new RenderedValues(spec.sensitive ?? new SensitiveTexts());
  const document: JsonMap = {};
  const { target } = spec;
  if (target !== undefined) document.targets = targetOf(target, values);
  document.policy = policyIn(declared.root, spec, values);
  Object.assign(document, entriesOf(spec, values));
  if (declared.rules !== undefined)
    document.rules = values.value(asList(declared.rules), {}, ["rules"], undefined);
  const byParent = Map.groupBy(declared.resources, (written) => written.parent ?? "");
  const section = (resources: readonly WrittenResource[], path: Path): JsonMap => {
    const out: JsonMap = {};
    for (const written of resources.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
      const name = escaped(ownKey(written));
      setMember(out, name, resource(written, [...path, name]));
    }
    return out;
  };
  const resource = (written: WrittenResource, path: Path): JsonMap => {
    const { provider, origin, lifecycle, address } = written;
    const out = values.map(fromMain(written), (key) => fieldOf(provider, key), path, origin);
    if (lifecycle !== undefined) out.lifecycle = values.value(lifecycle, {}, [...path, "lifecycle"], origin);
    for (const { kind, nested } of registry.kinds) {
      if (nested === undefined || !written.owns.includes(kind)) continue;
      const inner = (byParent.get(address) ?? []).filter((child) => child.provider.kind === kind);
      const below = [...path, nested.under];
      const jsonMap = section(inner, below);
      setMember(
        out,
        nested.under,
        inner.length === 0 ? values.note(below, written.at, origin, jsonMap) : jsonMap,
      );
    }
    return out;
  };
  for (const { kind, nested } of registry.kinds) {
    const own = nested === undefined ? (byParent.get("") ?? []) : [];
    const resources = own.filter(({ provider }) => provider.kind === kind);
    if (resources.length > 0) document[kind] = section(resources, [kind]);
  }
  return { document, origins: values.origins };
}

/** The key of a nested resource begins with that of its parent. */
function ownKey({ key, parent }: WrittenResource): string {
  return parent === undefined ? key : key.slice(nameOf(parent).length + 1);
}

/** The fields with paths of files as the main spec would write them. */
function fromMain({ provider, fields }: WrittenResource): MapNode {
  const field = hasContent(provider) ? "source" : secretField(provider) === undefined ? undefined : "file";
  const node = field === undefined ? undefined : member(fields, field);
  const text = scalarText(node);
  if (field === undefined || node === undefined || text === undefined) return fields;
  const path = pathBeside(node.source.path, text);
  return path === undefined
    ? fields
    : withMembers(fields, { [field]: { key: node, value: scalarAt(node, path) } });
}

function targetOf(target: NonNullable<Spec["target"]>, values: RenderedValues): JsonMap {
  const { name, at, host, profile, state } = target;
  const written = { default: true, protected: target.protected, host, profile, state };
  const settings: JsonMap = {};
  for (const [key, value] of Object.entries(written))
    if (value !== undefined) settings[key] = values.note(["targets", name, key], at, undefined, value);
  const out: JsonMap = {};
  setMember(out, name, settings);
  return out;
}

/** Rules of several files are kept by name. A spec has them as a list. */
function asList(rules: SpecNode): SpecNode {
  if (rules.kind !== "map") return rules;
  const names = [...rules.members.keys()].sort();
  return listAt(
    rules,
    names.flatMap((name) => rules.members.get(name)?.value ?? []),
  );
}

/** The written fields, and the values of those that are not. */
function policyIn(root: MapNode, { policy }: Spec, values: RenderedValues): JsonMap {
  const { authoritative, duplicate_names, on_immutable_change } = policy;
  const written = member(root, "policy");
  const own = written?.kind === "map" ? values.map(written, () => ({}), ["policy"], undefined) : {};
  return { authoritative, duplicate_names, max_deletes: "30%", on_immutable_change, ...own };
}

function entriesOf({ stateEntries }: Spec, values: RenderedValues): JsonMap {
  if (stateEntries === undefined) return {};
  const { moved, removed, imports } = stateEntries;
  const list = <T extends { readonly at: Parameters<RenderedValues["note"]>[1] }>(
    name: string,
    entries: readonly T[],
    fields: (entry: T) => Readonly<Record<string, string | boolean>>,
  ): JsonMap => {
    if (entries.length === 0) return {};
    const items = entries.map((entry, number) => {
      const item: JsonMap = {};
      for (const [key, value] of Object.entries(fields(entry))) {
        const data: Json = typeof value === "string" ? escaped(values.masked(value)) : value;
        item[key] = values.note([name, number, key], entry.at, undefined, data);
      }
      return item;
    });
    return { [name]: items };
  };
  return {
    ...list("moved", moved, ({ from, to }) => ({ from, to })),
    ...list("removed", removed, ({ address, destroy }) => ({ address, destroy })),
    ...list("import", imports, ({ to, id }) => ({ to, id })),
  };
}

/** Where a value is written, and the modules through which it came, innermost first. */
interface ValueOrigin {
  readonly at: Location;
  /** The instance, such as `team/ads`. */
  readonly module?: string;
  readonly usedAt: readonly Location[];
}

type JsonMap = { [key: string]: Json };

class RenderedValues {
  /** By the JSON pointer of each value that contains no other. */
  readonly origins = new Map<string, ValueOrigin>();
  readonly #sensitive: SensitiveTexts;

  constructor(sensitive: SensitiveTexts) {
    this.#sensitive = sensitive;
  }

  value(node: SpecNode, schema: FieldSchema, path: Path, origin: InstanceOrigin | undefined): Json {
    if (schema.sensitive === true || node.sensitive === true)
      return this.note(path, node, origin, SENSITIVE_TEXT);
    if (node.kind === "map") return this.map(node, (key) => memberSchema(schema, key), path, origin);
    if (node.kind === "scalar") {
      const { value } = node;
      return this.note(path, node, origin, typeof value === "string" ? this.masked(value) : value);
    }
    if (node.items.length === 0) this.note(path, node, origin, []);
    return node.items.map((item, at) => this.value(item, itemSchema(schema), [...path, at], origin));
  }

  map(
    node: MapNode,
    schemaOf: (key: string) => FieldSchema,
    path: Path,
    origin: InstanceOrigin | undefined,
  ): JsonMap {
    const out: JsonMap = {};
    if (node.members.size === 0) this.note(path, node, origin, out);
    for (const key of [...node.members.keys()].sort()) {
      const mapMember = node.members.get(key);
      if (mapMember === undefined) continue;
      const name = escaped(key);
      setMember(out, name, this.value(mapMember.value, schemaOf(key), [...path, name], origin));
    }
    return out;
  }

  masked(text: string): string {
    return this.#sensitive.masked(text);
  }

  note<T extends Json>(path: Path, at: Span | Location, origin: InstanceOrigin | undefined, value: T): T {
    const { file, line, column } = "source" in at ? locationOf(at, false) : at;
    this.origins.set(toPointer(path), {
      at: { file, line, column },
      module: origin?.prefix.slice(0, -1),
      usedAt: (origin?.uses ?? []).map((use) => locationOf(use, false)),
    });
    return value;
  }
}
