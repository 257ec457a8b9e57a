// Turns drift into edits of the spec: each live value goes to the place that decides the declared one. Reads no file and no workspace.

import { type Address, nameOf } from "../../core/address.ts";
import type { Failure, Location } from "../../core/diagnostic.ts";
import { isObject, type Json } from "../../core/json.ts";
import { type Path, toDottedPath, valueAt } from "../../core/pointer.ts";
import { hasDigest } from "../../core/sensitive/digests.ts";
import { listed, shellWord } from "../../core/sentences.ts";
import { escaped } from "../../expressions/template.ts";
import { withoutAdded } from "../../planner/diff/diff.ts";
import { isInField } from "../../planner/diff/known-drift.ts";
import { isSameValue } from "../../planner/diff/normalize.ts";
import type { PlanInput } from "../../planner/model/input.ts";
import type { Drift, Plan } from "../../planner/model/plan.ts";
import { type FieldSchema, itemSchema, memberSchema, schemaAt } from "../../resource/field-schema.ts";
import { isContentField, type PlannedKind, secretField } from "../../resource/kind.ts";
import { isSensitive } from "../../resource/masked.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import { tableSchema } from "../../resource/walk.ts";
import { type DocumentPlace, decidedNode, type SpecEdits } from "../../spec/edit/spec-edits.ts";
import { type ExportWriter, writtenValue } from "../../spec/export/values.ts";
import { locationOf, type Span } from "../../spec/model/source.ts";
import type { DeclaredSpec, WrittenResource } from "../../spec/model/spec.ts";
import { hasSensitive, type MapNode, type SpecNode, scalarText } from "../../spec/model/tree.ts";
import { notAccepted, type WantedDrift } from "./wanted-drift.ts";

interface AcceptInput {
  readonly declared: DeclaredSpec;
  readonly input: PlanInput;
  readonly plan: Pick<Plan, "changes">;
  readonly edits: SpecEdits;
  /** Next to a member that is removed, also write what the service decided: an object without the member may need it. */
  readonly complete: boolean;
  /** Writes the values for this target alone, in this file. */
  readonly override?: TargetOverride;
}

export interface TargetOverride {
  readonly target: string;
  readonly file: string;
  readonly at: Location;
}

/** A value of the spec that becomes the live one. Undefined: absent. */
interface AcceptedField {
  readonly path: Path;
  readonly declared: Json | undefined;
  readonly live: Json | undefined;
  /** The text that decides the value. */
  readonly at: Location;
  /** The place in the resource that takes the value from there. */
  readonly usedAt: Location;
}

/** The accepted drift of one resource. */
export interface AcceptedResource {
  readonly address: Address;
  readonly what: "changed" | "deleted" | "appeared";
  readonly fields: readonly AcceptedField[];
  /** The file that has the live content. */
  readonly content?: string;
}

interface AcceptedChange {
  readonly fields: readonly AcceptedField[];
  /** The node with the path of the file that the live content goes to. */
  readonly source?: SpecNode;
}

/** Edits the fields that differ. Throws Failure; the edits then have to be dropped. */
export function acceptValues(accepting: AcceptInput, { drift, field }: WantedDrift): AcceptedChange {
  return new DriftEdit(accepting, drift).changed(field);
}

/** Removes the entry of a deleted object. Throws Failure. */
export function acceptDeletion({ declared, edits }: AcceptInput, { address }: Drift): void {
  const written = declared.resources.find((resource) => resource.address === address);
  if (written === undefined) return;
  const place = edits.memberAt(written.at);
  if (place === undefined || edits.isExpression({ ...place, path: [] }))
    throw notAccepted(address, `${address} is not declared in a file of the spec`);
  edits.remove(place);
}

/** Whether a target's section can name a resource: not in a module, not a member of another one, and not made by for_each. */
export function takesOverride({ address, origin, provider, at }: WrittenResource, edits: SpecEdits): boolean {
  if (origin !== undefined || provider.nested !== undefined) return false;
  const key = edits.memberAt(at)?.path.at(-1);
  return key === undefined || key === escaped(nameOf(address));
}

class DriftEdit {
  readonly #edits: SpecEdits;
  readonly #input: PlanInput;
  readonly #drift: Drift;
  readonly #address: Address;
  readonly #written: WrittenResource;
  readonly #provider: PlannedKind;
  readonly #writer: ExportWriter;
  readonly #change: Plan["changes"][number] | undefined;
  readonly #complete: boolean;
  readonly #override: TargetOverride | undefined;

  constructor({ declared, input, plan, edits, complete, override }: AcceptInput, drift: Drift) {
    const { address } = drift;
    const written = declared.resources.find((resource) => resource.address === address);
    if (written === undefined)
      throw notAccepted(
        address,
        `${address} is not in the spec, so the spec has no place for its live values`,
        {
          hint: `to declare it, run \`workspace export --only ${shellWord(address)}\`; to stop managing it, add it under removed`,
        },
      );
    this.#edits = edits;
    this.#complete = complete;
    this.#override = override;
    this.#input = input;
    this.#drift = drift;
    this.#address = address;
    this.#written = written;
    this.#provider = input.registry.of(address);
    this.#writer = writerFor(input, written.origin);
    this.#change = plan.changes.find((change) => change.address === address && !("deposed" in change));
  }

  changed(field: string | undefined): AcceptedChange {
    this.#refuseSecrets();
    const diffs = this.#diffs().filter(({ path }) => field === undefined || isInField(path, field));
    if (field === undefined) this.#refuseUnapplied(diffs);
    const contents = diffs.filter(({ path: [name] }) => isContentField(this.#provider, String(name)));
    const others = diffs.filter((diff) => !contents.includes(diff));
    const fields = others.map((diff) => this.#accept(diff));
    return { fields, source: contents.length === 0 ? undefined : this.#source() };
  }

  /** What an apply would change; of a change that the plan refuses, what drifted. */
  #diffs(): readonly FieldDiff[] {
    const change = this.#change;
    if (change === undefined) return this.#drift.diffs;
    return "diffs" in change ? change.diffs : [];
  }

  #refuseSecrets(): void {
    if (secretField(this.#provider) === undefined) return;
    throw notAccepted(
      this.#address,
      `the live value of ${this.#address} cannot be read, and no spec contains one`,
      {
        hint: "put the value into its source, such as the environment variable, then apply",
      },
    );
  }

  /** A spec that an apply has not seen yet is not drift, and must not be undone. */
  #refuseUnapplied(diffs: readonly FieldDiff[]): void {
    const unapplied = diffs.filter(({ cause }) => cause === "spec");
    if (unapplied.length === 0) return;
    const fields = unapplied.map(({ path }) => toDottedPath(path));
    const others = diffs.filter(({ cause }) => cause !== "spec").map(({ path }) => toDottedPath(path));
    const hint = others.map((name) => `${this.#address}.${name}`).join(" ");
    const message = `${this.#address} also differs because of a change in the spec that was not applied: ${listed(fields)}`;
    throw notAccepted(this.#address, message, {
      at: this.#locationOf(unapplied[0]?.path ?? []),
      hint: hint === "" ? "apply the spec first" : `to accept only the drift, name its fields: ${hint}`,
    });
  }

  #source(): SpecNode {
    const node = this.#written.fields.members.get("source")?.value;
    if (node === undefined || scalarText(node) === undefined)
      throw notAccepted(this.#address, `${this.#address} has no source file for the live content`);
    return node;
  }

  #locationOf(path: Path): Location {
    let node: SpecNode = this.#written.fields;
    for (const key of path) {
      const inner: SpecNode | undefined =
        node.kind === "map" ? node.members.get(String(key))?.value : undefined;
      if (inner === undefined) break;
      node = inner;
    }
    return locationOf(node === this.#written.fields ? this.#written.at : node, false);
  }

  #accept({ path, before: live }: FieldDiff): AcceptedField {
    const { fields } = this.#written;
    const values =
      this.#change !== undefined && "after" in this.#change ? this.#change.after : this.#spec().values;
    const declared = valueAt(values, path);
    this.#refuseSensitive(path, live, declared);
    if (this.#override !== undefined) {
      this.#writeOverride(this.#override, path, live);
      return { path, declared, live, at: this.#override.at, usedAt: this.#locationOf(path) };
    }
    let map: MapNode = fields;
    let at: Location = this.#locationOf(path);
    for (const [depth, key] of path.entries()) {
      const here = path.slice(0, depth + 1);
      const entry = this.#entry(map, String(key));
      const isLast = depth === path.length - 1;
      if (entry === undefined) {
        if (live !== undefined) at = this.#addBelow(map, path.slice(depth), here, path, live);
        break;
      }
      const node = decidedNode(entry.value);
      if (isLast && live === undefined) this.#remove(path, entry.key, map);
      else if (isLast)
        at = this.#rewrite(entry.value, schemaAt(this.#provider.fields, path), declared, live ?? null, path);
      else if (node.kind === "map") map = node;
      else throw this.#refusal(path, entry.value);
    }
    return { path, declared, live, at, usedAt: this.#locationOf(path) };
  }

  /** A target's section is merged over the others; null removes. */
  #writeOverride({ target, file }: TargetOverride, path: Path, live: Json | undefined): void {
    if (!takesOverride(this.#written, this.#edits))
      throw notAccepted(this.#address, `${this.#address} cannot be written for one target alone`, {
        at: this.#locationOf(path),
        hint: "write it by hand, or pass --shared in place of --in-target",
      });
    const schema = schemaAt(this.#provider.fields, path);
    const place = { file, path: ["targets", target, this.#provider.kind, escaped(nameOf(this.#address))] };
    this.#edits.set(
      { ...place, path: [...place.path, ...path.map(writtenKey)] },
      live === undefined ? null : writtenValue(schema, live, this.#writer),
    );
  }

  #spec() {
    const resource = this.#input.spec.resources.get(this.#address);
    if (resource === undefined) throw new Error(`${this.#address} was declared and is not in the spec`);
    return resource;
  }

  /** A natural name that the spec does not set is the key of the resource, which stays. */
  #entry(map: MapNode, key: string) {
    const entry = map.members.get(key);
    const isKey = map === this.#written.fields && key === this.#provider.nameField;
    if (!isKey || entry === undefined) return entry;
    return entry.value.start === this.#written.at.start && entry.value.source === this.#written.at.source
      ? undefined
      : entry;
  }

  #refuseSensitive(path: Path, live: Json | undefined, declared: Json | undefined): void {
    const { fields } = this.#provider;
    const schema = schemaAt(fields, path);
    let node: SpecNode | undefined = this.#written.fields;
    for (const key of path) node = node?.kind === "map" ? node.members.get(String(key))?.value : undefined;
    const isHidden =
      schema.writeOnly === true ||
      isSensitive(fields, path) ||
      hasSensitiveField(schema, live) ||
      hasDigest([...path.map(String), live ?? null]) ||
      hasDigest(declared) ||
      (node !== undefined && hasSensitive(node)) ||
      this.#input.isSensitive?.(this.#address, path, live, declared) === true;
    if (!isHidden) return;
    throw notAccepted(
      this.#address,
      `${this.#address}: ${toDottedPath(path)} is sensitive, and a sensitive value is never written to a file`,
      {
        at: this.#locationOf(path),
        hint: "put the new value where the sensitive one comes from, or apply to restore the declared one",
      },
    );
  }

  /** The place of a value in a document, if that text alone decides it. */
  #placeOf(node: SpecNode, path: Path): DocumentPlace {
    const decided = decidedNode(node);
    const place = this.#edits.placeOf(decided);
    if (place === undefined || this.#edits.isExpression(place)) throw this.#refusal(path, node);
    return place;
  }

  /** Names what decides the value: an expression and what it reads, or a source outside the files. */
  #refusal(path: Path, node: SpecNode): Failure {
    const decided = decidedNode(node);
    const field = `${this.#address}: ${path.length === 0 ? "the resource" : toDottedPath(path)}`;
    const chain: SpecNode[] = [node];
    for (let at = node; at.copiedFrom !== undefined; at = at.copiedFrom) chain.push(at.copiedFrom);
    const read = chain.flatMap(({ computedFrom = [] }) => computedFrom.map(decidedNode));
    const places = [...new Set([...chain, ...read].map(placeText))];
    const isOutside = this.#edits.placeOf(decided) === undefined;
    return notAccepted(
      this.#address,
      isOutside ? `${field} comes from ${placeText(decided)}` : `${field} comes from an expression`,
      {
        at: locationOf(node, false),
        hint: isOutside
          ? "change the value there"
          : `change it by hand; the value depends on ${listed(places)}`,
      },
    );
  }

  #addBelow(map: MapNode, rest: Path, here: Path, path: Path, live: Json): Location {
    const decided = decidedNode(map);
    const place = this.#edits.placeOf(decided);
    if (place === undefined || !this.#edits.takesMembers(place)) throw this.#refusal(here.slice(0, -1), map);
    const schema = schemaAt(this.#provider.fields, path);
    this.#edits.set(
      { ...place, path: [...place.path, ...rest.map(writtenKey)] },
      writtenValue(schema, live, this.#writer),
    );
    return locationOf(decided === this.#written.fields ? this.#written.at : decided, false);
  }

  #remove(path: Path, key: Span, map: MapNode): void {
    const place = this.#edits.memberAt(key);
    if (place === undefined) throw this.#refusal(path, map);
    this.#edits.remove(place);
    if (this.#complete) this.#addDecided(path.slice(0, -1), map);
  }

  /** Members that the spec left to the service. */
  #addDecided(path: Path, map: MapNode): void {
    const before = this.#change !== undefined && "before" in this.#change ? this.#change.before : {};
    const schema =
      path.length === 0 ? tableSchema(this.#provider.fields) : schemaAt(this.#provider.fields, path);
    const live = valueAt(before, path);
    if (live === undefined) return;
    const isAdded = (key: string): boolean => memberSchema(schema, key).serverDefault === true;
    this.#addMembers(map, writtenValue(schema, live, this.#writer), path, isAdded);
  }

  /** The members of a written value that a map does not have. */
  #addMembers(map: MapNode, value: Json, path: Path, isAdded: (key: string) => boolean): void {
    const declared = new Set([...map.members.keys()].map(writtenKey));
    const added = Object.entries(isObject(value) ? value : {}).filter(
      ([key]) => !declared.has(key) && isAdded(key),
    );
    if (added.length === 0) return;
    const place = this.#edits.placeOf(map);
    if (place === undefined || !this.#edits.takesMembers(place)) throw this.#refusal(path, map);
    for (const [key, member] of added) this.#edits.set({ ...place, path: [...place.path, key] }, member);
  }

  /** Writes a value over a declared one; of maps and lists, only what differs. Gives the place. */
  #rewrite(
    node: SpecNode,
    schema: FieldSchema,
    declared: Json | undefined,
    live: Json,
    path: Path,
  ): Location {
    const decided = decidedNode(node);
    if (isSameValue(schema, declared, live)) return locationOf(decided, false);
    if (decided.kind === "map" && isObject(live)) this.#rewriteMap(decided, schema, declared, live, path);
    else if (decided.kind === "list" && Array.isArray(live))
      this.#rewriteList(decided, schema, declared, live, path);
    else this.#edits.set(this.#placeOf(node, path), writtenValue(schema, live, this.#writer));
    return locationOf(decided, false);
  }

  #rewriteMap(map: MapNode, schema: FieldSchema, declared: Json | undefined, live: Json, path: Path): void {
    const before = isObject(declared) ? declared : {};
    const own = withoutAdded(schema, declared, live);
    const now = isObject(own) ? own : {};
    for (const [key, { key: at, value }] of map.members) {
      const inner = memberSchema(schema, key);
      const here = [...path, key];
      if (Object.hasOwn(now, key)) this.#rewrite(value, inner, before[key], now[key] ?? null, here);
      else if (!isSameValue(inner, before[key], inner.default)) this.#remove(here, at, map);
    }
    this.#addMembers(map, writtenValue(schema, now, this.#writer), path, () => true);
  }

  /** Items that stay keep their text; new ones come where the service has them, or last where the order has no meaning. */
  #rewriteList(
    list: Extract<SpecNode, { readonly kind: "list" }>,
    schema: FieldSchema,
    declared: Json | undefined,
    live: readonly Json[],
    path: Path,
  ): void {
    const place = this.#placeOf(list, path);
    const items = itemSchema(schema);
    const before =
      Array.isArray(declared) && declared.length === list.items.length
        ? (declared as readonly Json[])
        : undefined;
    if (before === undefined) {
      const whole = live.map((item) => writtenValue(items, item, this.#writer));
      this.#edits.set(place, whole);
      return;
    }
    const pairs = pairedItems(schema, before, live);
    for (const [at, old] of pairs.entries()) {
      const node = old === undefined ? undefined : list.items[old];
      if (node !== undefined && old !== undefined)
        this.#rewrite(node, items, before[old], live[at] ?? null, [...path, at]);
    }
    const raw = this.#edits.valueAt(place);
    const texts = Array.isArray(raw) ? (raw as readonly Json[]) : [];
    const order = [...live.keys()];
    const rule = schema.list;
    const isFree = rule !== undefined && rule !== "ordered";
    if (isFree) {
      this.#edits.identify(place, (a, b) => typeof rule === "object" && hasSameKey(rule.key, a, b));
      order.sort(
        (a, b) => (pairs[a] ?? Number.POSITIVE_INFINITY) - (pairs[b] ?? Number.POSITIVE_INFINITY) || a - b,
      );
    }
    this.#edits.set(
      place,
      order.map((at) => {
        const old = pairs[at];
        return (
          (old === undefined ? undefined : texts[old]) ?? writtenValue(items, live[at] ?? null, this.#writer)
        );
      }),
    );
  }
}

/** A key of a map as a spec writes it. */
const writtenKey = (key: string | number): string => escaped(String(key));

/** For each live item the index of the declared one that it is: an equal one, one with the same key, or the one at its position. */
function pairedItems(
  schema: FieldSchema,
  declared: readonly Json[],
  live: readonly Json[],
): readonly (number | undefined)[] {
  const items = itemSchema(schema);
  const free = new Set(declared.keys());
  const take = (is: (item: Json, at: number) => boolean): number | undefined => {
    const at = [...free].find((index) => is(declared[index] ?? null, index));
    if (at !== undefined) free.delete(at);
    return at;
  };
  const pairs = live.map((item) => take((other) => isSameValue(items, other, item)));
  const rule = schema.list;
  return pairs.map((pair, at) => {
    if (pair !== undefined) return pair;
    const item = live[at];
    if (typeof rule === "object") return take((other) => hasSameKey(rule.key, other, item ?? null));
    return rule === "set" || !isObject(item)
      ? undefined
      : take((other, index) => index === at && isObject(other));
  });
}

const hasSameKey = (key: string, a: Json, b: Json): boolean =>
  isObject(a) && isObject(b) && a[key] === b[key];

function hasSensitiveField(schema: FieldSchema, value: Json | undefined): boolean {
  if (schema.sensitive === true && value !== undefined) return true;
  if (Array.isArray(value)) return value.some((item: Json) => hasSensitiveField(itemSchema(schema), item));
  return (
    isObject(value) &&
    Object.entries(value).some(([key, inner]) => hasSensitiveField(memberSchema(schema, key), inner))
  );
}

/** `workspace.yaml:3`, or the name of a source outside the spec, such as `--var size`. */
function placeText(node: SpecNode): string {
  const { file, line } = locationOf(node, false);
  return node.source.isHidden ? file : `${file}:${line}`;
}

/** References instead of IDs, where the spec can name the object. In a module, only its own resources have names. */
export function writerFor(
  { registry, state, spec }: PlanInput,
  origin: WrittenResource["origin"] | undefined,
): ExportWriter {
  return {
    full: false,
    managed: false,
    reference: (kind, id) => {
      if (origin !== undefined) return undefined;
      for (const { address, id: recorded } of state.records.values())
        if (recorded === id && address.startsWith(`${kind}.`) && spec.resources.has(address))
          return `\${${address}.${registry.get(kind).idAttribute}}`;
      return undefined;
    },
    isWrittenAt: () => false,
  };
}
