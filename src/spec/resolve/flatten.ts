// Converts the sections of a spec to a flat list of resources with natural names; nested resources become separate ones.

import { type Address, addressOf, nestedNameOf } from "../../core/address.ts";
import { listed } from "../../core/sentences.ts";
import { didYouMean } from "../../core/suggest.ts";
import { escaped, isEvaluated, isTemplate, templateParts } from "../../expressions/template.ts";
import { otherPlace } from "../../resource/dialect-view.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin, SpecPart, WrittenResource } from "../model/spec.ts";
import {
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
import { TARGET_FIELDS } from "../variables/targets.ts";

const CONTROL_SECTIONS = [
  "include",
  "variables",
  "locals",
  "targets",
  "modules",
  "policy",
  "rules",
  "moved",
  "removed",
  "import",
] as const;

/** Members of a resource that are evaluated before; the check of other targets sees them. */
const CONTROLS = ["when", "for_each"];

const MODULE_SECTIONS = ["inputs", "outputs"];

/** The resources of the spec and of every instance of its modules. */
export function flattenResources(
  parts: Iterable<SpecPart>,
  registry: PlanningRegistry,
  findings: Findings,
): readonly WrittenResource[] {
  const flattening = new Flattening(registry, findings);
  for (const part of parts) findings.within(part.origin, () => flattening.part(part));
  return flattening.all;
}

interface Child {
  readonly provider: PlannedKind;
  readonly kind: string;
  readonly under: string;
}

class Flattening {
  readonly all: WrittenResource[] = [];
  #addresses: Map<Address, WrittenResource> | undefined;
  /** Of the part that is read now. */
  #origin: InstanceOrigin | undefined;
  readonly #registry: PlanningRegistry;
  readonly #findings: Findings;
  /** Nested kinds by the kind that contains them. */
  readonly #children: ReadonlyMap<string, readonly Child[]>;

  constructor(registry: PlanningRegistry, findings: Findings) {
    this.#registry = registry;
    this.#findings = findings;
    const nested = registry.kinds.flatMap((provider): readonly Child[] =>
      provider.nested === undefined ? [] : [{ provider, ...provider.nested }],
    );
    this.#children = Map.groupBy(nested, ({ kind }) => kind);
  }

  part({ root, origin }: SpecPart): void {
    this.#origin = origin;
    for (const [section, { key, value }] of root.members) {
      if (section.startsWith("x-") || CONTROL_SECTIONS.some((control) => control === section)) continue;
      const provider = this.#registry.find(section);
      if (provider === undefined || provider.nested !== undefined)
        this.#unknownSection(section, key, provider?.nested);
      else this.#section(provider, section, value, undefined);
    }
  }

  #unknownSection(section: string, at: Span, nested: PlannedKind["nested"]): void {
    const findings = this.#findings;
    const elsewhere = this.#registry.elsewhere.find(({ kind }) => kind === section);
    if (nested !== undefined) {
      const hint = `write them under ${nested.kind}.NAME.${nested.under}`;
      findings.error("SPEC_UNKNOWN_KIND", `${section} must be nested under ${nested.kind}`, at, { hint });
    } else if (elsewhere !== undefined) {
      const { where, hint } = otherPlace(elsewhere);
      findings.error("SPEC_UNKNOWN_KIND", `${section} exist only ${where}`, at, { hint });
    } else if (MODULE_SECTIONS.includes(section))
      findings.error("SPEC_MODULE", `${section} can be declared only in a module`, at);
    else {
      const kinds = this.#registry.kinds.filter(({ nested }) => nested === undefined).map(({ kind }) => kind);
      const best = findings.suggest(section, [...kinds, ...CONTROL_SECTIONS, ...TARGET_FIELDS], "words");
      const hint = TARGET_FIELDS.some((field) => field === best)
        ? { hint: `${best} is a field of a target: targets.NAME.${best}` }
        : didYouMean(best, `the kinds are ${listed(kinds, "and", 20)}`);
      findings.error("SPEC_UNKNOWN_KIND", `${JSON.stringify(section)} is not a valid kind`, at, hint);
    }
  }

  #section(provider: PlannedKind, where: string, value: SpecNode, parent: WrittenResource | undefined): void {
    if (this.#hasSensitiveKeys(where, value)) return;
    for (const [name, mapMember] of this.#findings.names(where, value))
      this.#resource(provider, name, mapMember, parent);
  }

  #resource(
    provider: PlannedKind,
    own: string,
    mapMember: MapMember,
    parent: WrittenResource | undefined,
  ): void {
    const origin = this.#origin;
    // A key that is the name of the object is unique in the workspace, and is not prefixed.
    const prefix = provider.nameField === undefined ? "" : (origin?.prefix ?? "");
    const key = parent === undefined ? `${prefix}${own}` : nestedNameOf(parent.key, own);
    const address = addressOf(provider.kind, key);
    if (own === "") {
      this.#findings.error(
        "SPEC_VALUE",
        `${provider.kind} contains a resource with an empty name`,
        mapMember.key,
      );
      return;
    }
    const node = this.#mapOf(provider, address, mapMember.value);
    if (node === undefined || this.#hasSensitiveKeys(address, node)) return;
    const fields = named(provider, own, mapMember.key, node);
    const children = this.#children.get(provider.kind) ?? [];
    const owned = children.filter(({ under }) => node.members.has(under));
    const written: WrittenResource = {
      address,
      provider,
      key,
      name: this.#nameOf(provider, fields, own, key, parent),
      at: mapMember.key,
      fields: without(fields, [
        "lifecycle",
        ...(parent === undefined ? CONTROLS : []),
        ...children.map(({ under }) => under),
      ]),
      lifecycle: member(node, "lifecycle"),
      parent: parent?.address,
      origin,
      owns: owned.map((child) => child.provider.kind),
    };
    if (!this.#isFirst(written)) return;
    this.all.push(written);
    for (const child of owned) {
      const inner = member(node, child.under);
      if (inner !== undefined) this.#section(child.provider, `${address}: ${child.under}`, inner, written);
    }
  }

  /** Such keys would be names and fields, which every output shows. */
  #hasSensitiveKeys(subject: string, node: SpecNode): boolean {
    if (node.sensitive !== true) return false;
    const message = `keys of ${subject} cannot come from a sensitive value`;
    this.#findings.error("SPEC_SENSITIVE", message, node, { hint: SHOWN_EVERYWHERE });
    return true;
  }

  /** Below a parent whose key is its name, the name is the key, which saves the memory of another string. */
  #nameOf(
    provider: PlannedKind,
    fields: MapNode,
    own: string,
    key: string,
    parent: WrittenResource | undefined,
  ): string {
    if (parent === undefined) return this.#nameIn(provider, fields) ?? own;
    return parent.name === parent.key ? key : nestedNameOf(parent.name, own);
  }

  /** Instances of modules may declare one address twice; the keys of one part are unique. */
  #isFirst(written: WrittenResource): boolean {
    const { address, at, origin } = written;
    // The spec itself comes before the instances of modules.
    if (origin === undefined) return true;
    this.#addresses ??= new Map(this.all.map((resource) => [resource.address, resource]));
    const first = this.#addresses.get(address);
    if (first === undefined) {
      this.#addresses.set(address, written);
      this.#findings.belongs(address, origin);
      return true;
    }
    const uses = first.origin === undefined ? "" : `, in ${first.origin.prefix.slice(0, -1)}`;
    this.#findings.error("SPEC_DUPLICATE_NAME", `${address} is declared twice`, at, {
      address,
      hint: `the other is at ${first.at.source.file}:${first.at.source.lineOf(first.at.start) + 1}${uses}; use an input in the name`,
    });
    return false;
  }

  /** The explicit natural name. It must be known before any object exists, so it cannot contain a reference. */
  #nameIn(provider: PlannedKind, fields: MapNode): string | undefined {
    const node = provider.nameField === undefined ? undefined : member(fields, provider.nameField);
    const text = scalarText(node);
    // It is reported with the other fields, and must not be a part of any message.
    if (node?.sensitive === true) return undefined;
    if (text === undefined || !isTemplate(text)) return text;
    const parts = templateParts(text) ?? [];
    if (parts.some((part) => typeof part !== "string" && !isEvaluated(part)))
      this.#findings.error(
        "SPEC_REFERENCE",
        `${provider.nameField} cannot contain a reference, because it is the name of the ${provider.singular}`,
        node,
      );
    return parts.map((part) => (typeof part === "string" ? part : part.raw)).join("");
  }

  /** A resource's map. An empty value means no fields, and a plain value is the shorthand of the kind. */
  #mapOf(provider: PlannedKind, address: Address, value: SpecNode): MapNode | undefined {
    const short = provider.nested?.shorthand;
    if (value.kind === "map") return value;
    if (isNull(value)) return mapAt(value, new Map());
    if (short !== undefined && value.kind === "scalar")
      return mapAt(value, new Map([[short, { key: value, value }]]));
    // A bare string is not a valid source of a secret; sources.ts reports it without showing it.
    if (provider.fields.env?.source === true)
      return mapAt(value, new Map([["value", { key: value, value }]]));
    const hint = "for a resource without fields, write {}";
    this.#findings.wrongType(address, "a map of fields", value, { address, hint });
    return undefined;
  }
}

function without(node: MapNode, names: readonly string[]): MapNode {
  if (!names.some((name) => node.members.has(name))) return node;
  return withMembers(node, Object.fromEntries(names.map((name) => [name, undefined])));
}

/** The natural name, where the spec sets none, is the resource's own. */
function named(provider: PlannedKind, own: string, at: Span, node: MapNode): MapNode {
  const field = provider.nameField;
  if (field === undefined || node.members.has(field)) return node;
  return mapAt(node, new Map([[field, { key: at, value: scalarAt(at, escaped(own)) }], ...node.members]));
}
