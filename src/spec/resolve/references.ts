// Parses references between resources, looks up what they refer to, checks their places, and resolves those whose value is in the spec.

import { type Address, addressOf } from "../../core/address.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import { type Expression, isEvaluated, isTemplate, templateParts } from "../../expressions/template.ts";
import { type FieldSchema, itemSchema, memberSchema } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import { partsOrReport } from "../evaluate/expander.ts";
import type { Finding, Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin, Reference, ReferencePart, WrittenResource } from "../model/spec.ts";
import {
  hasSensitive,
  type MapNode,
  member,
  type ScalarNode,
  type ScalarValue,
  type SpecNode,
  scalarAt,
  visitTexts,
  withItems,
  withValues,
} from "../model/tree.ts";
import { attributesOf, fieldOf, hasAttribute } from "./field-walk.ts";

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
        typeof part === "string" ? part : referenceTargetOf(part, node, this.#linkage, this.#written);
      if (read === undefined) return node;
      parts.push(read);
    }
    for (const part of parts) if (typeof part !== "string") this.targets.add(part.address);
    this.#checkPlace(node, schema, parts);
    const marked = refersToSensitive(parts, this.#linkage) ? { ...node, sensitive: true as const } : node;
    const values = parts.map((part) => (typeof part === "string" ? part : this.#valueInSpec(part, schema)));
    const [only, ...more] = values;
    if (!values.includes(undefined))
      return scalarAt(marked, only !== undefined && more.length === 0 ? only : values.map(String).join(""));
    this.references.push({ path: [...this.#path], parts });
    return marked;
  }

  /** The value if it is in the spec: a natural name, or a field of another resource. */
  #valueInSpec(target: ReferenceTarget, schema: FieldSchema): ScalarValue | undefined {
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
    const provider = this.#kindOfId(schema);
    const [only, ...more] = parts;
    if (provider === undefined || only === undefined) return;
    const fits =
      typeof only !== "string" &&
      more.length === 0 &&
      only.address.startsWith(`${provider.kind}.`) &&
      only.attribute === provider.idAttribute;
    if (fits) return;
    const subject = `${this.#written.address}: ${toDottedPath(this.#path)}`;
    const hint = `write \${${provider.kind}.NAME.${provider.idAttribute}}`;
    const message = `${subject} must be the ID of a ${provider.singular}`;
    this.#linkage.findings.error("SPEC_REFERENCE", message, at, { address: this.#written.address, hint });
  }

  /** A name where an id belongs is most likely a reference that was not written as one. */
  #literal(node: ScalarNode, text: string, schema: FieldSchema): SpecNode {
    const provider = this.#kindOfId(schema);
    if (provider !== undefined && this.#linkage.resources.has(addressOf(provider.kind, text))) {
      const { address } = this.#written;
      const target = `${provider.kind}.${text}`;
      const message = `${address}: ${toDottedPath(this.#path)} must be an ID, not a name`;
      const hint = `to refer to ${target}, write \${${target}.${provider.idAttribute}}`;
      this.#linkage.findings.warning("SPEC_REFERENCE", message, node, { address, hint });
    }
    return node;
  }

  #kindOfId({ refersTo }: FieldSchema): PlannedKind | undefined {
    return refersTo === undefined ? undefined : this.#linkage.registry.find(refersTo);
  }
}

function isPlain(node: SpecNode, schema: FieldSchema): boolean {
  if (node.kind !== "scalar") return false;
  return typeof node.value !== "string" || (schema.refersTo === undefined && !isTemplate(node.value));
}

type ReferenceTarget = Exclude<ReferencePart, string>;

/** The context for checking all references of a spec. */
export interface ReferenceContext {
  readonly findings: Findings;
  readonly registry: PlanningRegistry;
  readonly resources: ReadonlyMap<Address, WrittenResource>;
  /** The resources whose `when` is false. */
  readonly leftOut: ReadonlySet<Address>;
  readonly declared: (kind: string) => readonly WrittenResource[];
}

/** Where a reference is written. `address`: the resource with the reference; absent for a value that none may use. */
type ReferenceUser = Pick<WrittenResource, "origin"> & { readonly address?: Address };

/** `kind.name.attribute`, where the name may contain dots; undefined for any other text. */
function referencePath(expression: string) {
  const [first, last] = [expression.indexOf("."), expression.lastIndexOf(".")];
  if (last === first) return undefined;
  const name = expression.slice(first + 1, last);
  return { kind: expression.slice(0, first), name, attribute: expression.slice(last + 1) };
}

/** Undefined after reporting an error. */
function referenceTargetOf(
  part: Expression,
  at: ScalarNode,
  context: ReferenceContext,
  user: ReferenceUser,
): ReferenceTarget | undefined {
  // An expression that is still there has no value, which was reported.
  if (isEvaluated(part)) return undefined;
  const { registry, resources, findings } = context;
  const report = (message: string, details: { readonly hint?: string }, severity?: "warning"): undefined =>
    reportTarget({ message, severity: severity ?? "error", ...details }, at, user.address, context);
  const { raw } = part;
  const path = referencePath(part.expression);
  if (path === undefined || path.attribute === "")
    return report(`${raw} is neither a variable nor a reference`, {
      hint: "write ${var.name} or ${kind.name.attribute}; for a literal ${, write $${",
    });
  const { kind, name, attribute } = path;
  const provider = registry.find(kind);
  if (provider === undefined) {
    const kinds = registry.kinds.map(({ kind }) => kind);
    const message = `${raw} refers to the kind ${JSON.stringify(kind)}, which does not exist`;
    return report(message, findings.didYouMean(kind, [...kinds, "var"], `the kinds are ${listed(kinds)}`));
  }
  const address = addressOf(provider.kind, name);
  if (!resources.has(address)) {
    // Another target may declare it, together with what uses the value.
    const severity = user.address === undefined ? "warning" : undefined;
    if (context.leftOut.has(address))
      return report(`${raw} refers to ${address}, which its when leaves out`, {
        hint: "write a condition that chooses the reference only if the resource is declared",
      });
    const hint = undeclaredHint(provider, name, user, context);
    return report(`${raw} refers to ${address}, which is not in the spec`, hint, severity);
  }
  if (hasAttribute(provider, attribute)) return { address, attribute };
  if (/[^\w-]/.test(attribute))
    return report(`${raw} is not a path, and only a path can refer to a resource`, {
      hint: "name the reference under locals; an expression can choose and pass on such a local",
    });
  const attributes = attributesOf(provider);
  const message = `${raw} refers to the attribute ${JSON.stringify(attribute)}, which ${kind} do not have`;
  const hint = findings.didYouMean(attribute, attributes, `the attributes are ${listed(attributes)}`);
  return report(message, hint);
}

/** The names that can be written at this place: of the same spec or instance of a module, without its prefix. */
function undeclaredHint(
  { kind, nameField }: PlannedKind,
  name: string,
  { origin }: ReferenceUser,
  { declared, findings }: ReferenceContext,
): { readonly hint?: string } {
  const all = declared(kind);
  const isNamed = nameField !== undefined;
  const prefix = isNamed ? prefixOf(name, origin?.prefix ?? "") : "";
  const inScope = all.filter((resource) => !isNamed || (resource.origin?.prefix ?? "") === prefix);
  const names = inScope.map(({ key }) => key.slice(prefix.length));
  const scope = prefix === "" ? "spec" : "module";
  const output = all.length === 0 ? "" : "; for one inside a module, write ${modules.NAME.OUTPUT}";
  const known =
    names.length > 0 ? `declared ${kind}: ${listed(names)}` : `the ${scope} declares no ${kind}${output}`;
  return findings.didYouMean(name.slice(prefix.length), names, known, "names");
}

/** The prefix that a name was given where it is written: in the module of its user, or in one around it that passes it on. */
function prefixOf(name: string, prefix: string): string {
  if (name.startsWith(prefix)) return prefix;
  return prefixOf(name, prefix.slice(0, prefix.lastIndexOf("/", prefix.length - 2) + 1));
}

/** Whether the value of a reference comes from a sensitive one, also through references of the resources that it refers to. */
function refersToSensitive(
  parts: readonly ReferencePart[],
  context: ReferenceContext,
  passed: Set<string> = new Set(),
): boolean {
  return parts.some((part) => {
    if (typeof part === "string") return false;
    const output = `${part.address}\n${part.attribute}`;
    const resource = context.resources.get(part.address);
    const node = resource === undefined ? undefined : member(resource.fields, part.attribute);
    if (node === undefined || passed.has(output)) return false;
    passed.add(output);
    return (
      hasSensitive(node) || textsIn(node).some((text) => refersToSensitive(targetsIn(text), context, passed))
    );
  });
}

function textsIn(node: SpecNode): readonly string[] {
  const texts: string[] = [];
  visitTexts(node, (text) => {
    if (isTemplate(text)) texts.push(text);
  });
  return texts;
}

/** The references in a string whose form was not checked yet. */
function targetsIn(text: string): readonly ReferencePart[] {
  return (templateParts(text) ?? []).flatMap((part): ReferencePart[] => {
    const path = typeof part === "string" ? undefined : referencePath(part.expression);
    return path === undefined
      ? []
      : [{ address: addressOf(path.kind, path.name), attribute: path.attribute }];
  });
}

/** Reports the references to nothing in a value that no resource may use. */
export function checkReferences(
  node: SpecNode,
  context: ReferenceContext,
  origin: InstanceOrigin | undefined,
): void {
  visitTexts(node, (text, scalar) => {
    for (const part of partsOrReport(text, scalar, context.findings) ?? [])
      if (typeof part !== "string") referenceTargetOf(part, scalar, context, { origin });
  });
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
  findings.add({ code: "SPEC_REFERENCE", at, ...problem, address: user, usedAt: written && [node] });
}
