// Converts values of a spec to data with their locations, sorted by key, and without sensitive values.

import type { Location } from "../../core/diagnostic.ts";
import type { Json } from "../../core/json.ts";
import { type Path, setMember, toPointer } from "../../core/pointer.ts";
import { SENSITIVE_TEXT, type SensitiveTexts } from "../../core/sensitive.ts";
import { type FieldSchema, itemSchema, memberSchema } from "../../resource/field-schema.ts";
import type { InstanceOrigin } from "../model/origin.ts";
import { locationOf, type Span } from "../model/source.ts";
import { escaped } from "../model/template.ts";
import type { MapNode, SpecNode } from "../model/tree.ts";

/** Where a value is written, and the modules through which it came, innermost first. */
export interface ValueOrigin {
  readonly at: Location;
  /** The instance, such as `team/ads`. */
  readonly module?: string;
  readonly usedAt: readonly Location[];
}

export type JsonMap = { [key: string]: Json };

export class RenderedValues {
  /** By the JSON pointer of each value that contains no other. */
  readonly origins = new Map<string, ValueOrigin>();
  readonly #sensitive: SensitiveTexts;

  constructor(sensitive: SensitiveTexts) {
    this.#sensitive = sensitive;
  }

  value(node: SpecNode, schema: FieldSchema, path: Path, origin: InstanceOrigin | undefined): Json {
    if (schema.sensitive === true) return this.note(path, node, origin, SENSITIVE_TEXT);
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
      const one = node.members.get(key);
      if (one === undefined) continue;
      const name = escaped(key);
      setMember(out, name, this.value(one.value, schemaOf(key), [...path, name], origin));
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
      ...(origin === undefined ? {} : { module: origin.prefix.slice(0, -1) }),
      usedAt: (origin?.uses ?? []).map((use) => locationOf(use, false)),
    });
    return value;
  }
}
