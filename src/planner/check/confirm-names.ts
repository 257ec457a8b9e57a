// Checks names and values of a spec: names of no object, values that the workspace does not offer, and ignored fields that contradict.

import { type Address, remoteId } from "../../core/address.ts";
import { type Diagnostic, error, warning } from "../../core/diagnostic.ts";
import { collectTexts } from "../../core/json.ts";
import { isSamePath, type Path, toDottedPath, toPointer, valueAt, withValueAt } from "../../core/pointer.ts";
import { hasDigest } from "../../core/sensitive/digests.ts";
import { SENSITIVE_TEXT } from "../../core/sensitive/texts.ts";
import { listed } from "../../core/sentences.ts";
import { type Suggest, suggester } from "../../core/suggest.ts";
import { type FieldSchema, identifyingFields, type Values } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import { foldCase, isBuiltIn, isSameName, mentionedNames } from "../../resource/names.ts";
import type { PlannedWorkspace, Problem } from "../../resource/planning.ts";
import { anyField, textsIn } from "../../resource/walk.ts";
import type { Resource } from "../../spec/model/spec.ts";
import { isIgnored } from "../diff/normalize.ts";
import {
  type Change,
  type Delete,
  type NonEmpty,
  type Replace,
  removes,
  type Update,
  type Write,
  writes,
} from "../model/change.ts";
import { objectKey, type PlanContext } from "../model/context.ts";
import type { Lookup, LookupAnswer, LookupAnswers, LookupSource } from "../model/input.ts";
import { nameKey } from "../model/planned-workspace.ts";

type LookupContext = Pick<PlanContext, "input" | "liveIndex">;

const asks = anyField((field) => sourceOf(field) !== undefined);

function sourceOf({ catalog, refersTo, mentions, shouldExist }: FieldSchema): LookupSource | undefined {
  if (catalog !== undefined) return { in: "catalog", of: catalog };
  if (refersTo !== undefined) return { in: "ids", of: refersTo };
  const [kind] = mentions ?? [];
  return shouldExist === true && kind !== undefined ? { in: "names", of: kind } : undefined;
}

/** A path of a repository, not of the workspace. */
function isRelative({ input }: LookupContext, source: LookupSource, text: string): boolean {
  return source.in === "names" && input.registry.find(source.of)?.tree !== undefined && !text.startsWith("/");
}

/** The values that changes send and that neither the spec nor the read objects confirm. */
export function neededLookups(
  context: LookupContext,
  changes: readonly Change[],
  workspace: PlannedWorkspace,
): Lookup[] {
  return changes.filter(writes).flatMap((change) => {
    const resource = context.input.spec.resources.get(change.address);
    if (resource === undefined) return [];
    const values = valuesIn(context.input.registry, resource).flatMap(({ path, source }): Lookup[] => {
      const text = valueAt(change.after, path);
      if (typeof text !== "string" || !isSent(change, path)) return [];
      if (isRelative(context, source, text)) return [];
      const lookup = { address: change.address, path, text, source };
      return isReference(resource, path, source) || isConfirmed(context, workspace, lookup) ? [] : [lookup];
    });
    return [...values, ...principalLookups(context, change, workspace)];
  });
}

/** The principals that a change gives a right and that are not declared or read. */
function principalLookups(
  { input, liveIndex }: LookupContext,
  change: Write,
  workspace: PlannedWorkspace,
): readonly Lookup[] {
  const { kind, address, after } = change;
  const named = input.registry.get(kind).planning.namedPrincipals?.(after) ?? [];
  return named.flatMap(({ kind: of, name, path }): readonly Lookup[] => {
    const provider = input.registry.find(of);
    if (provider === undefined || name.includes("${") || !isSent(change, path)) return [];
    if (isBuiltIn(provider, name) || workspace.declared(of, name)) return [];
    const isThere = liveIndex.byName(of, name).length > 0 && !workspace.isRemoved(of, name);
    if (isThere || isIdentified(input.spec.resources, provider, name)) return [];
    return [{ address, path, text: name, source: { in: "principals", of } }];
  });
}

/** Whether a declared object has the name as its application ID. */
function isIdentified(
  resources: ReadonlyMap<Address, Resource>,
  { kind, fields }: PlannedKind,
  name: string,
): boolean {
  const identifying = identifyingFields(fields);
  if (identifying.length === 0) return false;
  return [...resources.values()].some(
    (resource) =>
      resource.kind === kind &&
      identifying.some((field) => foldCase(String(resource.values[field] ?? "")) === foldCase(name)),
  );
}

function valuesIn(registry: PlanningRegistry, { kind, values }: Resource): readonly AskedValue[] {
  return textsIn(registry.get(kind).fields, values, asks).flatMap(({ path, text, schema }) => {
    const source = sourceOf(schema);
    return source === undefined ? [] : [{ path, text, source }];
  });
}

type AskedValue = Omit<Lookup, "address">;

/** For an update, only changed values are checked, because the service accepted the others before. */
function isSent(change: Change, path: Path): boolean {
  if (change.action !== "update") return true;
  const here = `${toPointer(path)}/`;
  return change.diffs.some((diff) => {
    const there = `${toPointer(diff.path)}/`;
    return here.startsWith(there) || there.startsWith(here);
  });
}

/** Objects to be created have no ID yet, and an ID from a reference belongs to a declared resource. */
function isReference({ references }: Resource, path: Path, source: LookupSource): boolean {
  if (source.in === "catalog") return false;
  return references.some((reference) => isSamePath(reference.path, path));
}

function isConfirmed(
  { input, liveIndex }: LookupContext,
  workspace: PlannedWorkspace,
  { text, source }: Lookup,
): boolean {
  // Neither the value of a reference nor a sensitive one of an untrusted spec is known.
  if (text.includes("${") || hasDigest(text)) return true;
  if (source.in === "catalog") return false;
  if (source.in === "ids") {
    const { nameField, idAttribute } = input.registry.get(source.of);
    const isName = nameField === undefined || nameField === idAttribute;
    return (
      liveIndex.byId(source.of, remoteId(text)) !== undefined ||
      (isName && workspace.declared(source.of, text))
    );
  }
  return mentionedNames(input.registry.get(source.of), text).some(
    (name) =>
      workspace.declared(source.of, name) ||
      (liveIndex.byName(source.of, name).length > 0 && !workspace.isRemoved(source.of, name)),
  );
}

/** An error for each value that does not exist, a warning for each that could not be checked, or that another user may create (a path). */
export function unconfirmedValues(
  context: LookupContext,
  lookups: LookupAnswers | undefined,
  needed: readonly Lookup[],
): Diagnostic[] {
  if (lookups === undefined) return [];
  const suggest = suggester();
  const foldedNames = foldedNamesIn(context.input, lookups);
  const unasked = new Map<LookupAnswer | Diagnostic, NonEmpty<Lookup>>();
  const diagnostics = needed.flatMap((lookup) => {
    const answer = answerTo(lookups, lookup.source);
    if (answer === undefined) return [];
    if (answer.readable && (answer.values.has(lookup.text) || isPrincipal(foldedNames, lookup))) return [];
    const failure = answer.readable ? answer.failed?.get(lookup.text) : answer.diagnostic;
    if (answer.readable && failure === undefined && answer.unasked?.has(lookup.text) !== true)
      return [unconfirmed(context, lookup, answer, suggest)];
    const open = failure ?? answer;
    const before = unasked.get(open);
    unasked.set(open, before === undefined ? [lookup] : [...before, lookup]);
    return [];
  });
  return [...diagnostics, ...[...unasked].map(([open, about]) => unchecked(context, lookups, open, about))];
}

function isPrincipal(foldedNames: FoldedNames, { text, source }: Lookup): boolean {
  return source.in === "principals" && foldedNames.get(source.of)?.has(foldCase(text)) === true;
}

type FoldedNames = ReadonlyMap<string, ReadonlySet<string>>;

/** By kind: users and application IDs compare without regard to case; groups, which are absent here, compare exactly. */
function foldedNamesIn({ registry }: LookupContext["input"], { kinds }: LookupAnswers): FoldedNames {
  const foldedNames = new Map<string, ReadonlySet<string>>();
  for (const [kind, answer] of kinds) {
    const { ignoreCase, fields } = registry.get(kind);
    if (answer.readable && (ignoreCase === true || identifyingFields(fields).length > 0))
      foldedNames.set(kind, new Set([...answer.values].map(foldCase)));
  }
  return foldedNames;
}

function answerTo(lookups: LookupAnswers, source: LookupSource): LookupAnswer | undefined {
  return source.in === "catalog" ? lookups.catalogs.get(source.of) : lookups.kinds.get(source.of);
}

function unconfirmed(
  context: LookupContext,
  { address, path, text, source }: Lookup,
  answer: Extract<LookupAnswer, { readonly readable: true }>,
  suggest: Suggest,
): Diagnostic {
  const resource = context.input.spec.resources.get(address);
  // The nearest name would show most of a sensitive one.
  const isHidden = context.input.isSensitive?.(address, path, text) === true;
  const best = source.in === "ids" || isHidden ? undefined : suggest(text, answer.values);
  // Of an entry of a map, the key is the name.
  const field = source.in === "principals" ? String(path[0]) : toDottedPath(path);
  const shown = isHidden ? SENSITIVE_TEXT : JSON.stringify(text);
  const message = `${address}: ${field} ${shown} is not ${describes(context, source, answer)}`;
  const report = source.in === "names" ? warning : error;
  return report("PLAN_UNKNOWN_NAME", message, {
    address,
    at: resource?.locate(path),
    hint: best === undefined ? hintFor(source, answer) : `did you mean ${JSON.stringify(best)}?`,
  });
}

function describes(context: LookupContext, source: LookupSource, answer: LookupAnswer): string {
  if (source.in === "catalog") return `a ${answer.singular} of the workspace`;
  const { singular } = context.input.registry.get(source.of);
  const object = `${/^(?!user)[aeiou]/.test(singular) ? "an" : "a"} ${singular} in the workspace`;
  return source.in === "ids" ? `the ID of ${object}` : object;
}

function hintFor({ of, in: where }: LookupSource, { operation }: LookupAnswer): string {
  if (operation !== undefined) return `to list them, run \`workspace api ${operation}\``;
  return where === "ids"
    ? `declare it under ${of} and use a reference, or correct the ID`
    : `declare it under ${of}, correct the name, or create it before it is used`;
}

function unchecked(
  context: LookupContext,
  lookups: LookupAnswers,
  open: LookupAnswer | Diagnostic,
  about: NonEmpty<Lookup>,
): Diagnostic {
  const [first] = about;
  const answer = answerTo(lookups, first.source);
  const what = answer?.singular === undefined ? first.source.of : `${answer.singular}s`;
  const places = listed(about.map(({ address, path }) => `${toDottedPath(path)} of ${address}`));
  const verb = about.length === 1 ? "is" : "are";
  const at = context.input.spec.resources.get(first.address)?.locate(first.path);
  if (!("code" in open))
    return warning("PLAN_UNCHECKED", `too many folders to search, so ${places} ${verb} not checked`, {
      at,
      hint: "declare these resources, or check that they exist",
    });
  return warning("PLAN_UNCHECKED", `${what} could not be read, so ${places} ${verb} not checked`, {
    at,
    cause: `${open.code}: ${open.message}`,
    hint: open.hint ?? "check these values, or plan again",
  });
}

/** A string in the spec that refers to an object of one of these kinds by name. */
interface Naming {
  readonly text: string;
  readonly kinds: readonly string[];
  readonly path: Path | undefined;
}

const mayName = anyField((field) => field.names !== undefined);

/** Whether a resource of a kind can refer to other objects by name. */
function namesOthers({ fields, planning }: PlannedKind): boolean {
  return planning.namedInKey !== undefined || Object.values(fields).some(mayName);
}

type Standing = "there" | "goes" | "unknown";

export function unknownNames(
  context: PlanContext,
  changes: readonly Change[],
  workspace: PlannedWorkspace,
): Diagnostic[] {
  const going = new Set(
    changes.flatMap((change) => (losesName(context, change) ? [objectKey(change.kind, change.id)] : [])),
  );
  const ignored = ignoredNames(context);
  const suggest = suggester();
  // Most resources of a large workspace name nothing, which saves 100 ms for 100,000.
  const naming = new Set(context.input.registry.kinds.filter(namesOthers).map(({ kind }) => kind));
  return changes.flatMap((change) => {
    const resource = naming.has(change.kind) ? context.input.spec.resources.get(change.address) : undefined;
    if (resource === undefined || !reaches(change)) return [];
    let before: ReadonlySet<string> | undefined;
    const stoodThere = (text: string): boolean => {
      before ??= "before" in change ? collectTexts(change.before) : new Set<string>();
      return before.has(text);
    };
    return namings(context.input.registry.get(resource.kind), resource).flatMap((naming) => {
      const standing = standingOf(context, naming, { going, ignored }, workspace);
      // The service decides about values that it already accepted, even if no list contains them.
      const isAccepted = standing === "unknown" && (change.action === "noop" || stoodThere(naming.text));
      if (standing === "there" || isAccepted) return [];
      const { text, path } = naming;
      // The nearest name would show most of a sensitive one.
      const isHidden = context.input.isSensitive?.(resource.address, path ?? [], text) === true;
      const names = () => (isHidden ? [] : namesOf(context, naming.kinds, { going, ignored }));
      const hint = standing === "goes" ? GOES : unknownNameHint(naming, names(), suggest);
      return [unknownName(resource, naming, standing, hint)];
    });
  });
}

/** Declared names that their objects do not get, because `ignore_changes` keeps the live one: by kind and name. */
function ignoredNames({ input, liveIndex, decided }: PlanContext): ReadonlySet<string> {
  const resources = [...input.spec.resources.values()].filter(({ address, kind, name, lifecycle }) => {
    const provider = input.registry.get(kind);
    const { nameField } = provider;
    if (nameField === undefined || !isIgnored([nameField], lifecycle.ignore_changes)) return false;
    const change = decided.get(address);
    const live = change !== undefined && "id" in change ? liveIndex.byId(kind, change.id) : undefined;
    return live !== undefined && !isSameName(provider, live.name, name);
  });
  return new Set(resources.map(({ kind, name }) => nameKey(input.registry, kind, name)));
}

/** Names that are not there after the plan, although an object has or declares them. */
interface Lost {
  readonly going: ReadonlySet<string>;
  readonly ignored: ReadonlySet<string>;
}

/** Whether no object has the name of a live object after a change. */
function losesName({ input }: PlanContext, change: Change): change is Delete | Replace | Update {
  if (removes(change)) return true;
  const { nameField } = input.registry.get(change.kind);
  return change.action === "update" && change.diffs.some(({ path }) => path[0] === nameField);
}

function reaches(change: Change): boolean {
  return change.action !== "delete" && change.action !== "forget" && change.action !== "report";
}

/** The name is known if one readable kind contains it, or if a kind was not listed. */
function standingOf(
  context: PlanContext,
  naming: Naming,
  { going, ignored }: Lost,
  workspace: PlannedWorkspace,
): Standing {
  let standing: Standing = "unknown";
  for (const kind of naming.kinds) {
    const provider = context.input.registry.find(kind);
    if (provider === undefined || context.input.live.get(kind)?.readable !== true) return "there";
    const isDeclared =
      workspace.declared(kind, naming.text) &&
      !ignored.has(nameKey(context.input.registry, kind, naming.text));
    if (isDeclared || isBuiltIn(provider, naming.text)) return "there";
    const liveObjects = context.liveIndex.byName(kind, naming.text);
    if (liveObjects.some((liveObject) => !going.has(objectKey(kind, liveObject.id)))) return "there";
    if (liveObjects.length > 0) standing = "goes";
  }
  // Then only deletions are certain.
  return standing === "unknown" && context.input.partial === true ? "there" : standing;
}

function namings(provider: PlannedKind, resource: Resource): Naming[] {
  const names = textsIn(provider.fields, resource.values, mayName).flatMap(
    ({ text, path, schema: { names } }): Naming[] =>
      names === undefined || text.includes("${") ? [] : [{ text, kinds: [names], path }],
  );
  const inName = provider.planning.namedInKey?.(resource.name);
  if (inName !== undefined) names.push({ text: inName.name, kinds: inName.kinds, path: undefined });
  return names;
}

/** Names that will be there after the plan. */
function namesOf(
  context: PlanContext,
  kinds: readonly string[],
  { going, ignored }: Lost,
): readonly string[] {
  const live = kinds.flatMap((kind) =>
    context.liveIndex.all(kind).filter((liveObject) => !going.has(objectKey(kind, liveObject.id))),
  );
  const { registry, spec } = context.input;
  const declared = [...spec.resources.values()].filter(
    ({ kind, name }) => kinds.includes(kind) && !ignored.has(nameKey(registry, kind, name)),
  );
  return [...live, ...declared].map(({ name }) => name);
}

const GOES = "remove the name here too, or use the new one";

function unknownNameHint({ text, kinds }: Naming, names: readonly string[], suggest: Suggest): string {
  const best = suggest(text, names);
  const declare = `declare it under ${kinds.join(" or ")}`;
  return best === undefined
    ? `${declare}, or correct the name`
    : `did you mean ${JSON.stringify(best)}? otherwise, ${declare}`;
}

function unknownName(resource: Resource, naming: Naming, standing: Standing, hint: string): Diagnostic {
  const { text, kinds, path } = naming;
  const message =
    standing === "goes"
      ? `${resource.address} refers to "${text}", which this plan deletes`
      : `${resource.address} refers to "${text}", which does not exist in ${kinds.join(" or ")}`;
  return error("PLAN_UNKNOWN_NAME", message, {
    address: resource.address,
    at: path === undefined ? resource.at : resource.locate(path),
    hint,
  });
}

/** Errors of a valid spec: with a live value that `ignore_changes` keeps, the values contradict each other. */
export function contradictionsWithKeptValues(
  { input }: PlanContext,
  changes: readonly Change[],
): Diagnostic[] {
  return changes.flatMap((change) => {
    if (change.action !== "update" && change.action !== "replace") return [];
    const resource = input.spec.resources.get(change.address);
    if (resource === undefined || resource.lifecycle.ignore_changes.length === 0) return [];
    // A value that only an apply can tell counts as any value.
    const after = change.unresolved.reduce<Values>(
      (values, { path }) => withValueAt(values, path, "") as Values,
      change.after,
    );
    const problems = input.registry.get(change.kind).planning.validate?.(after, change.name) ?? [];
    const ignored = listed(resource.lifecycle.ignore_changes);
    return problems.filter(isContradiction).map(({ path, code, message }) =>
      error(code, `${change.address}: ${message}, and ignore_changes keeps the live ${ignored}`, {
        address: change.address,
        at: resource.locate(path),
        hint: "remove the field from ignore_changes, or declare fields that are valid with its live value",
      }),
    );
  });
}

/** The service set the live value, so only the fields next to it can be wrong. */
const isContradiction = ({ severity, code }: Problem): boolean =>
  severity !== "warning" && (code === "SPEC_COMBINATION" || code === "SPEC_MISSING_FIELD");
