// Parses references between resources, checks their places, and resolves those whose value is in the spec.

import { type Address, addressOf } from "../../core/address.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { type FieldSchema, itemSchema, memberSchema } from "../../resource/field-schema.ts";
import type { Span } from "../model/source.ts";
import type { Reference, ReferencePart } from "../model/spec.ts";
import { isTemplate } from "../model/template.ts";
import {
  type MapNode,
  member,
  type ScalarNode,
  type ScalarValue,
  type SpecNode,
  scalarAt,
  withItems,
  withValues,
} from "../model/tree.ts";
import type { WrittenResource } from "../model/written-resource.ts";
import { partsOrReport } from "../variables/interpolate.ts";
import { fieldOf } from "./field-walk.ts";
import { type ReferenceContext, type ReferenceTarget, referenceTargetOf } from "./reference-target.ts";

/** A resource with resolved references. */
export interface BoundReferences {
  /** Known values inserted and escapes resolved; references known only after the apply stay as text. */
  readonly fields: MapNode;
  readonly references: readonly Reference[];
  /** Everything that was referred to, also where its value was put in. */
  readonly targets: ReadonlySet<Address>;
}

export function bindReferences(written: WrittenResource, linkage: ReferenceContext): BoundReferences {
  if (isAllPlain(written)) return { fields: written.fields, ...NO_REFERENCES };
  const linking = new Linking(written, linkage);
  return { fields: linking.fields(), references: linking.references, targets: linking.targets };
}

const NO_REFERENCES = { references: [], targets: new Set<Address>() } as const;
function isAllPlain({ provider, fields }: WrittenResource): boolean {
  for (const [key, { value }] of fields.members) if (!isPlain(value, fieldOf(provider, key))) return false;
  return true;
}

class Linking {
  readonly references: Reference[] = [];
  readonly targets = new Set<Address>();
  readonly #written: WrittenResource;
  readonly #linkage: ReferenceContext;
  readonly #path: (string | number)[] = [];

  constructor(written: WrittenResource, linkage: ReferenceContext) {
    this.#written = written;
    this.#linkage = linkage;
  }

  fields(): MapNode {
    return this.#map(this.#written.fields, (key) => fieldOf(this.#written.provider, key));
  }

  #node(node: SpecNode, schema: FieldSchema): SpecNode {
    if (node.kind === "map") return this.#map(node, (key) => memberSchema(schema, key));
    if (node.kind === "list") return withItems(node, (item, at) => this.#below(at, item, itemSchema(schema)));
    if (typeof node.value !== "string") return node;
    return isTemplate(node.value)
      ? this.#text(node, node.value, schema)
      : this.#literal(node, node.value, schema);
  }

  #map(node: MapNode, schemaOf: (key: string) => FieldSchema): MapNode {
    return withValues(node, (value, key) => {
      const schema = schemaOf(key);
      return isPlain(value, schema) ? value : this.#below(key, value, schema);
    });
  }

  #below(key: string | number, node: SpecNode, schema: FieldSchema): SpecNode {
    this.#path.push(key);
    const value = this.#node(node, schema);
    this.#path.pop();
    return value;
  }

  #text(node: ScalarNode, text: string, schema: FieldSchema): SpecNode {
    const parts: ReferencePart[] = [];
    for (const part of partsOrReport(text, node, this.#linkage.findings) ?? []) {
      const read =
        typeof part === "string" ? part : referenceTargetOf(part, node, this.#linkage, this.#written.address);
      if (read === undefined) return node;
      parts.push(read);
    }
    for (const part of parts) if (typeof part !== "string") this.targets.add(part.address);
    this.#checkPlace(node, schema, parts);
    const values = parts.map((part) => (typeof part === "string" ? part : this.#known(part, schema)));
    const [only, ...more] = values;
    if (!values.includes(undefined))
      return scalarAt(node, only !== undefined && more.length === 0 ? only : values.map(String).join(""));
    this.references.push({ path: [...this.#path], parts });
    return node;
  }

  /** The value if it is in the spec: a natural name, or a field of another resource. */
  #known(target: ReferenceTarget, schema: FieldSchema): ScalarValue | undefined {
    const resource = this.#linkage.resources.get(target.address);
    if (resource === undefined) return undefined;
    const { provider } = resource;
    // A field of names receives the object's name, whichever attribute the reference uses.
    if (schema.names === provider.kind && target.attribute === provider.idAttribute) return resource.name;
    if (target.attribute === provider.nameField) return resource.name;
    const value = member(resource.fields, target.attribute);
    if (value?.kind !== "scalar" || value.value === null) return undefined;
    return typeof value.value === "string" && isTemplate(value.value) ? undefined : value.value;
  }

  /** A field that holds the id of one kind takes a reference to that kind's id, and nothing else that refers. */
  #checkPlace(at: Span, schema: FieldSchema, parts: readonly ReferencePart[]): void {
    if (schema.refersTo === undefined) return;
    const provider = this.#linkage.registry.find(schema.refersTo);
    const [only, ...more] = parts;
    if (provider === undefined || only === undefined) return;
    const fits =
      typeof only !== "string" &&
      more.length === 0 &&
      only.address.startsWith(`${provider.kind}.`) &&
      only.attribute === provider.idAttribute;
    if (fits) return;
    const place = `${this.#written.address}: ${toDottedPath(this.#path)}`;
    const hint = `write \${${provider.kind}.NAME.${provider.idAttribute}}`;
    this.#report(`${place} must be the ID of a ${provider.singular}`, at, { hint });
  }

  /** A name where an id belongs is most likely a reference that was not written as one. */
  #literal(node: ScalarNode, text: string, schema: FieldSchema): SpecNode {
    const provider = schema.refersTo === undefined ? undefined : this.#linkage.registry.find(schema.refersTo);
    if (provider !== undefined && this.#linkage.resources.has(addressOf(provider.kind, text))) {
      const { address } = this.#written;
      const target = `${provider.kind}.${text}`;
      const message = `${address}: ${toDottedPath(this.#path)} must be an ID, not a name`;
      const hint = `to refer to ${target}, write \${${target}.${provider.idAttribute}}`;
      this.#linkage.findings.warning("SPEC_REFERENCE", message, node, { address, hint });
    }
    return node;
  }

  #report(message: string, at: Span, details: { readonly hint?: string }): void {
    const { address } = this.#written;
    this.#linkage.findings.error("SPEC_REFERENCE", message, at, { address, ...details });
  }
}

function isPlain(node: SpecNode, schema: FieldSchema): boolean {
  if (node.kind !== "scalar") return false;
  return typeof node.value !== "string" || (schema.refersTo === undefined && !isTemplate(node.value));
}
