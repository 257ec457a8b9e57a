// Resolves the resources of a spec: references, validation, dependencies, and payloads.

import type { Address } from "../../core/address.ts";
import type { Location } from "../../core/diagnostic.ts";
import { type Json, sharedIfSame } from "../../core/json.ts";
import { type Path, toDottedPath, toPointer } from "../../core/pointer.ts";
import { isPathAlone } from "../../expressions/template.ts";
import { schemaAt, type Values } from "../../resource/field-schema.ts";
import { hasContent, type PlannedKind, type PlanningRegistry, secretField } from "../../resource/kind.ts";
import type { Payload } from "../../resource/operations.ts";
import type { Problem } from "../../resource/planning.ts";
import { contentOf, type SourceReader } from "../files/contents.ts";
import { type Findings, tracedLocationOf } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin, Resource, SpecPart, WrittenResource } from "../model/spec.ts";
import {
  hasSensitive,
  keySpanOf,
  type MapNode,
  nodeAt,
  plain,
  type SpecNode,
  spanOf,
  type ValueSpan,
  visitNodes,
  withMembers,
} from "../model/tree.ts";
import { schemaMessages } from "../schema/error-messages.ts";
import { schemaOfKind } from "../schema/json-schema.ts";
import type { NamedSchema } from "../schema/keywords.ts";
import { validatorFor } from "../schema/quick-check.ts";
import type { SpecValidator } from "../schema/validate.ts";
import { DeclaredNames, dependenciesOf, reportCycles } from "./dependencies.ts";
import { fieldOf } from "./field-walk.ts";
import { lifecycleOf } from "./policy.ts";
import {
  type BoundReferences,
  bindReferences,
  checkReferences,
  type ReferenceContext,
} from "./references.ts";
import { holdsLiteral, reportLiterals, type SecretSources, secretOf, sensitivePaths } from "./secrets.ts";
import {
  explainAdvice,
  reportDeprecated,
  reportLimits,
  reportMemberships,
  reportRepeated,
  reportSharedNames,
  reportSharedPaths,
} from "./whole-spec-checks.ts";

interface ResolveInput {
  readonly findings: Findings;
  readonly registry: PlanningRegistry;
  readonly sources: SourceReader;
  readonly secrets: SecretSources;
  /** Parts with values that no resource may use. */
  readonly parts: readonly SpecPart[];
  /** The resources whose `when` is false. */
  readonly leftOut: ReadonlySet<Address>;
}

/** The desired resources, in the order in which they are written. Only to be used when nothing was found. */
export async function resolveResources(
  all: readonly WrittenResource[],
  resolving: ResolveInput,
): Promise<ReadonlyMap<Address, Resource>> {
  const { registry, findings, parts, leftOut } = resolving;
  const byAddress = new Map<Address, WrittenResource>();
  for (const resource of all) byAddress.set(resource.address, resource);
  const byKind = Map.groupBy(all, ({ provider }) => provider.kind);
  const linkage: ReferenceContext = {
    registry,
    resources: byAddress,
    declared: (kind) => byKind.get(kind) ?? [],
    findings,
    leftOut,
  };
  const index = new DeclaredNames(all);
  reportSharedNames(byAddress, index, findings);
  reportSharedPaths(all, findings);
  reportLimits(all, findings);
  const resources = new Map<Address, Resource>();
  const links = all.map((written) => findings.within(written.origin, () => linkedWhole(written, linkage)));
  const validator = await validatorFor(registry, links);
  const checking = { ...resolving, validator };
  let places: ValuePlaces | undefined;
  for (const link of links) {
    const ownPlaces = placesOf(link.node, places);
    const desired = findings.within(link.written.origin, () => desiredOf(link, ownPlaces, index, checking));
    places = ownPlaces;
    resources.set(link.written.address, desired);
  }
  for (const { values = [], origin } of parts)
    findings.within(origin, () => {
      for (const value of values) checkReferences(value, linkage, origin);
    });
  reportMemberships(links, registry, findings);
  reportCycles(resources, (address) => byAddress.get(address)?.at, findings);
  return resources;
}

interface LinkedWhole extends BoundReferences {
  readonly written: WrittenResource;
  readonly schema: NamedSchema;
  readonly node: MapNode;
}

interface Checking extends ResolveInput {
  readonly validator: SpecValidator;
}

function linkedWhole(written: WrittenResource, linkage: ReferenceContext): LinkedWhole {
  const { fields, references, targets } = bindReferences(written, linkage);
  const { lifecycle: value } = written;
  const node = value === undefined ? fields : withMembers(fields, { lifecycle: { key: value, value } });
  return { fields, references, targets, written, schema: schemaOfKind(written.provider), node };
}

function desiredOf(
  link: LinkedWhole,
  places: ValuePlaces,
  index: DeclaredNames,
  resolving: Checking,
): Resource {
  const { findings } = resolving;
  const { written, fields } = link;
  const sensitive = sensitivePaths(written, fields, findings);
  for (const path of sensitive) {
    const node = nodeAt(fields, path);
    const value = node?.kind === "scalar" ? node.value : null;
    if (value !== null && !isPathAlone(String(value))) findings.sensitive.addValue(value);
  }
  reportLiterals(written, fields, sensitive, findings);
  const isLiteral = secretField(written.provider) !== undefined && holdsLiteral(written, findings);
  const faulty = isLiteral ? undefined : checkSchema(link, resolving);
  const isValid = faulty?.size === 0;
  reportRepeated(written, fields, findings);
  reportDeprecated(written, fields, findings);
  const lifecycle = lifecycleOf(written, findings);
  const { values, payload, unread } = isValid ? filled(written, fields, resolving) : NOTHING_FILLED;
  if (isValid) reportAll(written, fields, problemsOf(written, values, payload), findings);
  else if (faulty !== undefined) checkSound(written, fields, faulty, findings);
  const dependsOn = dependenciesOf(written, fields, values, link.targets, index);
  return Object.assign(new Located(written, places), {
    address: written.address,
    kind: written.provider.kind,
    key: written.key,
    name: written.name,
    values,
    references: link.references,
    sensitive: sensitive.length === 0 ? undefined : sensitive,
    dependsOn,
    owns: written.owns,
    lifecycle,
    payload,
    unread,
  });
}

/** Fields derived from a missing content are not reported as missing, because the content itself was reported. */
function problemsOf(
  written: WrittenResource,
  values: Values,
  payload: Payload | undefined,
): readonly Problem[] {
  const { provider, name } = written;
  const problems = provider.planning.validate?.(values, name) ?? [];
  const isUnread = hasContent(provider) && payload === undefined;
  return isUnread ? problems.filter(({ code }) => code !== "SPEC_MISSING_FIELD") : problems;
}

/** The top-level fields in which the schema finds something, each reported. */
function checkSchema(
  { written, schema, node: fields }: LinkedWhole,
  { registry, validator, findings }: Checking,
): ReadonlySet<string> {
  const { address, provider } = written;
  const errors = validator(schema, fields);
  if (errors.length === 0) return NOTHING_FAULTY;
  const beside = registry.kinds.flatMap(({ nested }) => (nested?.kind === provider.kind ? nested.under : []));
  const faulty = new Set<string>();
  const mentionsSensitive = sensitiveWordIn(fields);
  const messages = schemaMessages(errors, { name: address, kind: provider, beside }, findings.suggest);
  for (const { code, keyword, message, path, onKey, hint, missing } of messages) {
    faulty.add(String(path[0] ?? missing));
    const place = placeOf(written, fields, path, onKey);
    // A problem of a key shows no value. The keys of a sensitive map are hidden.
    const isSensitive =
      onKey && missing === undefined
        ? nodeAt(fields, path.slice(0, -1))?.sensitive === true
        : isHidden(fields, path);
    const words =
      isSensitive || mentionsSensitive(`${message} ${hint ?? ""}`)
        ? hiddenWords(address, path)
        : {
            message,
            hint: hint ?? adviceOn(provider, keyword, missing === undefined ? path : [...path, missing]),
          };
    findings.add({ severity: "error", code, ...place, address, ...words });
  }
  return faulty;
}

/** The description of a field says in words what a pattern requires. */
function adviceOn({ kind, fields }: PlannedKind, keyword: string, path: Path): string | undefined {
  if (keyword === "pattern") return schemaAt(fields, path).description;
  return keyword === "required" ? explainAdvice(kind, path) : undefined;
}

const NOTHING_FAULTY: ReadonlySet<string> = new Set();

/** The kind's checks beyond its schema; other problems of the resource do not hide them. */
function checkSound(
  written: WrittenResource,
  fields: MapNode,
  faulty: ReadonlySet<string>,
  findings: Findings,
): void {
  const { provider } = written;
  if (secretField(provider) !== undefined || hasContent(provider)) return;
  const problems = checkedLoosely(written, valuesOf(written, fields));
  const sound = problems.filter(({ path }) => path.length > 0 && !faulty.has(String(path[0])));
  reportAll(written, fields, sound, findings);
}

/** Checks expect values that pass their schema; what one makes of others counts only if it comes back. */
function checkedLoosely(written: WrittenResource, values: Values): readonly Problem[] {
  try {
    return problemsOf(written, values, undefined);
  } catch {
    return [];
  }
}

function reportAll(
  written: WrittenResource,
  fields: MapNode,
  problems: readonly Problem[],
  findings: Findings,
): void {
  if (problems.length === 0) return;
  const { address } = written;
  const mentionsSensitive = sensitiveWordIn(fields);
  for (const { severity = "error", code, message, path, hint } of problems) {
    const whole = message.startsWith(address) ? message : `${address}: ${message}`;
    const place = placeOf(written, fields, path, false);
    const isSensitive = isHidden(fields, path) || mentionsSensitive(`${whole} ${hint ?? ""}`);
    const words = isSensitive ? hiddenWords(address, path) : { message: whole, hint };
    findings.add({ severity, code, ...place, address, ...words });
  }
}

/** Whether what is wrong at a path must be said without the value there. What is wrong with a list or map of the spec is not what is in it. */
function isHidden(fields: MapNode, path: Path): boolean {
  return path.length > 0 && nodeAt(fields, path)?.sensitive === true;
}

/** Finds a sensitive value of the fields as a whole word of a sentence. */
function sensitiveWordIn(fields: MapNode): (sentence: string) => boolean {
  if (!hasSensitive(fields)) return () => false;
  const texts: string[] = [];
  visitNodes(fields, (node) => {
    if (node.kind === "scalar" && node.sensitive === true && node.value !== "")
      texts.push(String(node.value).replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  });
  const words = new RegExp(`(?<![\\p{L}\\p{N}])(?:${texts.join("|")})(?![\\p{L}\\p{N}])`, "u");
  return (sentence) => texts.length > 0 && words.test(sentence);
}

function hiddenWords(address: Address, path: Path) {
  const field = path.length === 0 ? address : `${address}: ${toDottedPath(path)}`;
  const message = `${field} is not valid, and a sensitive value is involved`;
  return { message, hint: "check the value of the variable; no message shows it" };
}

/** The place of a problem, and what uses it. A problem of the whole resource is at its key. */
function placeOf(
  resource: WrittenResource,
  fields: MapNode,
  path: Path,
  onKey: boolean,
): { readonly at: Span; readonly usedAt?: readonly Span[] } {
  if (path.length === 0) return { at: resource.at };
  const at = onKey ? keySpanOf(fields, path) : spanOf(fields, path);
  return at.written === undefined ? { at } : { at: at.written, usedAt: [at] };
}

type Filled = Pick<Resource, "values" | "payload" | "unread">;

const NOTHING_FILLED: Filled = { values: {}, payload: undefined, unread: undefined };

/** The values that the spec sets, with what comes from a secret's or a content's source. */
function filled(
  written: WrittenResource,
  fields: MapNode,
  { sources, secrets, findings }: ResolveInput,
): Filled {
  const { provider } = written;
  const values = valuesOf(written, fields);
  const secret = secretField(provider);
  if (secret !== undefined) {
    const read = secretOf(written, secret, secrets, findings);
    return { values: read?.values ?? values, payload: read?.payload, unread: read?.unread };
  }
  const read = hasContent(provider) ? contentOf(written, values, sources, findings) : undefined;
  return { values: read?.values ?? values, payload: read?.payload, unread: undefined };
}

function valuesOf(written: WrittenResource, fields: MapNode): Values {
  const values: { [field: string]: Json } = {};
  for (const [key, { value }] of fields.members)
    if (fieldOf(written.provider, key).source !== true) values[key] = plain(value);
  return values;
}

/** The places of a resource. A class, because a function in each of many resources takes more memory. */
class Located implements Pick<Resource, "at" | "locate"> {
  readonly #at: Span;
  readonly #origin: InstanceOrigin | undefined;
  readonly #places: ValuePlaces;

  constructor({ at, origin }: WrittenResource, places: ValuePlaces) {
    this.#at = at;
    this.#origin = origin;
    this.#places = places;
  }

  get at(): Location {
    return tracedLocationOf(this.#at, this.#origin);
  }

  locate(path: Path): Location {
    return tracedLocationOf(placeAt(this.#places, path) ?? this.#at, this.#origin);
  }
}

interface ValuePlaces {
  /** Of every value in a resource. */
  readonly pointers: readonly string[];
  /** The place of each. */
  readonly spans: readonly ValueSpan[];
}

/** `before`: those of another resource; most neighbors have the same fields, so they share one list of pointers. */
export function placesOf(fields: MapNode, before: ValuePlaces | undefined): ValuePlaces {
  const pointers: string[] = [];
  const spans: ValueSpan[] = [];
  const visit = (node: SpecNode, pointer: string): void => {
    const { source, start, end, written } = node;
    pointers.push(pointer);
    spans.push(written === undefined ? { source, start, end } : { source, start, end, written });
    visitInside(node, pointer);
  };
  const visitInside = (node: SpecNode, pointer: string): void => {
    if (node.kind === "map")
      for (const [key, { value }] of node.members) visit(value, pointer + toPointer([key]));
    else if (node.kind === "list")
      for (const [at, item] of node.items.entries()) visit(item, `${pointer}/${at}`);
  };
  visitInside(fields, "");
  return { pointers: sharedIfSame(before?.pointers, pointers), spans: [...spans] };
}

/** The place of the value at a path, or of the nearest value around it; undefined if the resource does not have its field. */
export function placeAt({ pointers, spans }: ValuePlaces, path: Path): ValueSpan | undefined {
  for (let length = path.length; length > 0; length--) {
    const at = pointers.indexOf(toPointer(path.slice(0, length)));
    if (at >= 0) return spans[at];
  }
  return undefined;
}
