// Checks across all resources of a spec: duplicate names and list entries, limits of the service, and memberships that are declared twice.

import type { Address } from "../../core/address.ts";
import { canonicalJson } from "../../core/digest.ts";
import { type Path, toDottedPath } from "../../core/pointer.ts";
import { shellWord } from "../../core/sentences.ts";
import { isTemplate } from "../../expressions/template.ts";
import type { FieldSchema } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import { foldCase, foldersAbove, foldName } from "../../resource/names.ts";
import { anyField, tableSchema, visitSchema } from "../../resource/walk.ts";
import type { Findings } from "../model/findings.ts";
import type { WrittenResource } from "../model/spec.ts";
import { keySpanOf, type MapNode, plain, type SpecNode, scalarText, spanOf } from "../model/tree.ts";
import type { DeclaredNames } from "./dependencies.ts";
import { textsAt, walkFields } from "./field-walk.ts";

/** Two resources with one natural name, where the service lets only one have it. */
export function reportSharedNames(
  resources: ReadonlyMap<Address, WrittenResource>,
  index: DeclaredNames,
  findings: Findings,
): void {
  for (const written of resources.values()) {
    const { provider, name, address } = written;
    // A name with an expression that has no value was reported, and is the same in every instance of a module.
    if (!provider.unique || (findings.failed && isTemplate(name))) continue;
    const first = index.find(provider.kind, name);
    const earlier = first === undefined || first === address ? undefined : resources.get(first);
    if (earlier !== undefined) {
      const field = provider.nameField;
      const at = field === undefined ? written.at : spanOf(written.fields, [field]);
      const where = `${earlier.at.source.file}:${earlier.at.source.lineOf(earlier.at.start) + 1}`;
      const message = `${address} has the same name as ${earlier.address}: ${JSON.stringify(name)}`;
      const how = provider.ignoreCase !== undefined ? ", ignoring case" : "";
      const hint = `rename one of them; ${earlier.address} is at ${where}, and names of ${provider.kind} must be unique${how}`;
      findings.error("SPEC_DUPLICATE_NAME", message, at, { address, hint });
    }
  }
}

/** Two resources of one tree at one path, and resources below one that is not a folder: the service would refuse the second. */
export function reportSharedPaths(resources: Iterable<WrittenResource>, findings: Findings): void {
  const trees = new Map<string, Map<string, WrittenResource>>();
  const inTrees: (readonly [WrittenResource, Map<string, WrittenResource>])[] = [];
  for (const written of resources) {
    const root = written.provider.tree?.root;
    if (root === undefined || (findings.failed && isTemplate(written.name))) continue;
    const paths = trees.get(root) ?? new Map<string, WrittenResource>();
    trees.set(root, paths);
    const earlier = paths.get(written.name);
    if (earlier === undefined) paths.set(written.name, written);
    else if (earlier.provider !== written.provider)
      reportAtPath(written, `has the same path as`, earlier, findings);
    inTrees.push([written, paths]);
  }
  for (const [written, paths] of inTrees) {
    const content = foldersAbove(written.name)
      .flatMap((path) => paths.get(path) ?? [])
      .find(isContent);
    if (content !== undefined) reportAtPath(written, "is not in a folder, but below", content, findings);
  }
}

/** Git folders have IDs of their own and may contain objects. */
const isContent = ({ provider }: WrittenResource): boolean =>
  provider.tree?.folders === false && provider.numbered === undefined;

function reportAtPath(
  { address, at }: WrittenResource,
  how: string,
  other: WrittenResource,
  findings: Findings,
): void {
  findings.error("SPEC_DUPLICATE_NAME", `${address} ${how} ${other.address}`, at, {
    address,
    hint: "move or remove one of them; a path has one object, and only folders contain others",
  });
}

/** More resources than a workspace or a parent can contain; reported at the first excess one. */
export function reportLimits(resources: Iterable<WrittenResource>, findings: Findings): void {
  const counts = new Map<string, number>();
  const over = new Map<
    string,
    { readonly first: WrittenResource; readonly limit: NonNullable<PlannedKind["limit"]> }
  >();
  for (const written of resources) {
    const { limit, kind } = written.provider;
    if (limit === undefined) continue;
    const group = limit.per === "parent" ? `${kind}\n${written.parent}` : kind;
    const count = (counts.get(group) ?? 0) + 1;
    counts.set(group, count);
    if (count === limit.max + 1) over.set(group, { first: written, limit });
  }
  for (const [group, { first, limit }] of over) {
    const { provider, parent, address, at } = first;
    const holder = limit.per === "parent" ? parent : "a workspace";
    const most = `${holder} can contain at most ${limit.max} ${provider.kind}`;
    findings.error("SPEC_LIMIT", `${most}; the spec has ${counts.get(group)}`, at, { address });
  }
}

const isSet = (schema: FieldSchema): boolean => schema.list === "set" || schema.uniqueItems === true;
const holdsSets = anyField(isSet);

/** Entries of a list that is a set, or whose members must differ. */
export function reportRepeated(written: WrittenResource, fields: MapNode, findings: Findings): void {
  const { address } = written;
  walkFields(written.provider, fields, holdsSets, (node, path, schema) => {
    if (node.kind !== "list" || !isSet(schema)) return;
    const checked = new Set<string>();
    for (const item of node.items) {
      const value = plain(item);
      const text = typeof value === "string" ? `text ${compared(schema.items, value)}` : canonicalJson(value);
      const message = `${address}: ${toDottedPath(path)} contains a duplicate entry`;
      if (checked.has(text)) findings.warning("SPEC_VALUE", message, item, { address });
      checked.add(text);
    }
  });
}

const isDeprecated = (schema: FieldSchema): boolean => schema.deprecated === true;
const holdsDeprecated = anyField(isDeprecated);

export function reportDeprecated(written: WrittenResource, fields: MapNode, findings: Findings): void {
  const { address, provider } = written;
  walkFields(provider, fields, holdsDeprecated, (_node, path, schema) => {
    if (!isDeprecated(schema)) return;
    const message = `${address}: ${toDottedPath(path)} is deprecated`;
    const hint = explainAdvice(provider.kind, path);
    findings.warning("SPEC_DEPRECATED", message, keySpanOf(fields, path), { address, hint });
  });
}

/** The command that describes a field. */
export function explainAdvice(kind: string, path: Path): string {
  const names = path.filter((part) => typeof part === "string");
  return `run \`workspace explain ${shellWord([kind, ...names].join("."))}\``;
}

/** A value in the form in which entries of its list are compared. */
const compared = (schema: FieldSchema | undefined, text: string): string =>
  schema?.ignoreCase === true ? foldCase(text) : text;

/** A list of names in a kind's fields. */
interface Naming {
  readonly provider: PlannedKind;
  readonly path: readonly string[];
  readonly names: string;
}

interface ResourceMembers {
  readonly written: WrittenResource;
  readonly fields: MapNode;
}

/** Reports each pair that names one another, or where one end is given and the other end leaves it out. */
export function reportMemberships(
  resources: readonly ResourceMembers[],
  registry: PlanningRegistry,
  findings: Findings,
): void {
  const namings = registry.kinds.flatMap((provider) => namingsOf(provider));
  for (const naming of namings)
    for (const other of namings)
      if (
        naming.names === other.provider.kind &&
        other.names === naming.provider.kind &&
        naming.provider.kind < other.provider.kind
      )
        reportPairs(endOf(naming, resources), endOf(other, resources), findings);
}

function namingsOf(provider: PlannedKind): readonly Naming[] {
  const namings: Naming[] = [];
  visitSchema(tableSchema(provider.fields), ({ items }, path) => {
    if (items?.names !== undefined) namings.push({ provider, path, names: items.names });
  });
  return namings;
}

interface End {
  readonly naming: Naming;
  /** Resources that give the list, by folded natural name. */
  readonly givers: ReadonlyMap<string, { readonly address: Address; readonly entries: readonly SpecNode[] }>;
}

function endOf(naming: Naming, resources: readonly ResourceMembers[]): End {
  const givers = new Map<string, { address: Address; entries: readonly SpecNode[] }>();
  for (const { written, fields } of resources) {
    if (written.provider !== naming.provider) continue;
    const entries = textsAt(fields, naming.path);
    if (entries !== undefined)
      givers.set(foldName(written.provider, written.name), { address: written.address, entries });
  }
  return { naming, givers };
}

function reportPairs(end: End, other: End, findings: Findings): void {
  const told = new Set<string>();
  for (const [from, to] of [
    [end, other],
    [other, end],
  ] as const) {
    for (const [, giver] of from.givers) {
      for (const entry of giver.entries) {
        const met = to.givers.get(foldName(to.naming.provider, scalarText(entry) ?? ""));
        if (met === undefined) continue;
        const pair = [giver.address, met.address].sort().join("\n");
        if (told.has(pair)) continue;
        told.add(pair);
        const here = `${giver.address}: ${from.naming.path.join(".")}`;
        const there = `${met.address}: ${to.naming.path.join(".")}`;
        findings.error("SPEC_COMBINATION", `${here} and ${there} both define one membership`, entry, {
          address: giver.address,
          hint: "define it in one place only, and omit the other list",
        });
      }
    }
  }
}
