// Checks values that only the workspace can confirm: versions, machine types, IDs of objects, paths of notebooks.

import { remoteId } from "../../core/address.ts";
import { type Diagnostic, error, warning } from "../../core/diagnostic.ts";
import { isSamePath, type Path, toDottedPath, toPointer, valueAt } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import { type Suggest, suggester } from "../../core/suggest.ts";
import { anyField, type FieldSchema, textsIn, type Values } from "../../resource/field-schema.ts";
import type { PlannedWorkspace } from "../../resource/planning.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { Resource } from "../../spec/model/spec.ts";
import type { Change, NonEmpty } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { LookupAnswer, LookupSource, Lookups, Question } from "../model/facts.ts";
import type { PlanInput } from "../model/input.ts";

type LookupContext = Pick<PlanContext, "input" | "liveIndex">;

/** The questions that a plan will probably have about unrecorded resources. Paths are left out where it lists folders anyway. */
export function earlyQuestions({ registry, spec, state }: EarlyInput): Question[] {
  const addresses = [...spec.resources.keys(), ...state.records.keys()];
  const listsFolders = addresses.some((address) => registry.of(address).tree !== undefined);
  const isEarly = ({ in: where }: LookupSource): boolean =>
    where === "catalog" || (where === "names" && !listsFolders);
  const found: Question[] = [];
  for (const resource of spec.resources.values()) {
    if (state.records.has(resource.address)) continue;
    for (const { path, text, place } of valuesIn(registry, resource))
      if (!text.includes("${") && isEarly(place))
        found.push({ address: resource.address, path, text, place });
  }
  return found;
}

type EarlyInput = Pick<PlanInput, "registry" | "spec" | "state">;

const asks = anyField((field) => placeOf(field) !== undefined);

function placeOf({ catalog, refersTo, mentions, shouldExist }: FieldSchema): LookupSource | undefined {
  if (catalog !== undefined) return { in: "catalog", of: catalog };
  if (refersTo !== undefined) return { in: "ids", of: refersTo };
  const [kind] = mentions ?? [];
  return shouldExist === true && kind !== undefined ? { in: "names", of: kind } : undefined;
}

/** The values that changes send and that neither the spec nor the read objects confirm. */
export function lookupQuestions(
  context: LookupContext,
  changes: readonly Change[],
  workspace: PlannedWorkspace,
): Question[] {
  return changes.flatMap((change) => {
    const sends = change.action === "create" || change.action === "replace" || change.action === "update";
    const resource = sends ? context.input.spec.resources.get(change.address) : undefined;
    if (!sends || resource === undefined) return [];
    return valuesIn(context.input.registry, resource).flatMap(({ path, place }): Question[] => {
      const text = valueAt(change.after, path);
      if (typeof text !== "string" || !isSent(change, path)) return [];
      const question = { address: change.address, path, text, place };
      return isReference(resource, path, place) || isConfirmed(context, workspace, question)
        ? []
        : [question];
    });
  });
}

/** Cached, because a plan asks three times. */
function valuesIn(registry: PlanningRegistry, { kind, values }: Resource): readonly AskedValue[] {
  const known = askedValues.get(values);
  if (known !== undefined) return known;
  const found = textsIn(registry.get(kind).fields, values, asks).flatMap(({ path, text, schema }) => {
    const place = placeOf(schema);
    return place === undefined ? [] : [{ path, text, place }];
  });
  askedValues.set(values, found);
  return found;
}

type AskedValue = Omit<Question, "address">;

const askedValues = new WeakMap<Values, readonly AskedValue[]>();

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
function isReference({ references }: Resource, path: Path, place: LookupSource): boolean {
  if (place.in === "catalog") return false;
  return references.some((one) => isSamePath(one.path, path));
}

function isConfirmed(
  { liveIndex }: LookupContext,
  workspace: PlannedWorkspace,
  { text, place }: Question,
): boolean {
  if (text.includes("${")) return true;
  if (place.in === "ids") return liveIndex.byId(place.of, remoteId(text)) !== undefined;
  if (place.in === "catalog") return false;
  return (
    workspace.declared(place.of, text) ||
    (liveIndex.byName(place.of, text).length > 0 && !workspace.isRemoved(place.of, text))
  );
}

/** An error for each value that does not exist, a warning for each that could not be checked, or that another user may create (a path). */
export function unconfirmedValues(
  context: LookupContext,
  lookups: Lookups | undefined,
  questions: readonly Question[],
): Diagnostic[] {
  if (lookups === undefined) return [];
  const suggest = suggester();
  const unasked = new Map<LookupAnswer | Diagnostic, NonEmpty<Question>>();
  const found = questions.flatMap((question) => {
    const answer = answerTo(lookups, question.place);
    if (answer === undefined) return [];
    if (answer.readable && answer.values.has(question.text)) return [];
    const failure = answer.readable ? answer.failed?.get(question.text) : answer.diagnostic;
    if (answer.readable && failure === undefined && answer.unasked?.has(question.text) !== true)
      return [unknown(context, question, answer, suggest)];
    const open = failure ?? answer;
    const before = unasked.get(open);
    unasked.set(open, before === undefined ? [question] : [...before, question]);
    return [];
  });
  return [...found, ...[...unasked].map(([open, about]) => unchecked(context, lookups, open, about))];
}

function answerTo(lookups: Lookups, place: LookupSource): LookupAnswer | undefined {
  return place.in === "catalog" ? lookups.catalogs.get(place.of) : lookups.kinds.get(place.of);
}

function unknown(
  context: LookupContext,
  { address, path, text, place }: Question,
  answer: Extract<LookupAnswer, { readonly readable: true }>,
  suggest: Suggest,
): Diagnostic {
  const resource = context.input.spec.resources.get(address);
  // The nearest name would show most of a sensitive one.
  const isHidden = context.input.isSensitive?.(address, path, text) === true;
  const best = place.in === "ids" || isHidden ? undefined : suggest(text, answer.values);
  const message = `${address}: ${toDottedPath(path)} ${JSON.stringify(text)} is not ${describes(context, place, answer)}`;
  const told = place.in === "names" ? warning : error;
  return told("PLAN_UNKNOWN_NAME", message, {
    address,
    at: resource?.locate(path),
    hint: best === undefined ? hintFor(place, answer) : `did you mean ${JSON.stringify(best)}?`,
  });
}

function describes(context: LookupContext, place: LookupSource, answer: LookupAnswer): string {
  if (place.in === "catalog") return `a ${answer.one} of the workspace`;
  const { singular } = context.input.registry.get(place.of);
  return place.in === "ids" ? `the ID of a ${singular} in the workspace` : `a ${singular} in the workspace`;
}

function hintFor({ of, in: where }: LookupSource, { operation }: LookupAnswer): string {
  if (operation !== undefined) return `to list them, run \`workspace api ${operation}\``;
  return where === "ids"
    ? `declare it under ${of} and use a reference, or correct the ID`
    : `declare it under ${of}, correct the name, or create it before it is used`;
}

function unchecked(
  context: LookupContext,
  lookups: Lookups,
  open: LookupAnswer | Diagnostic,
  questions: NonEmpty<Question>,
): Diagnostic {
  const [first] = questions;
  const answer = answerTo(lookups, first.place);
  const what = answer?.one === undefined ? first.place.of : `${answer.one}s`;
  const about = listed(questions.map(({ address, path }) => `${toDottedPath(path)} of ${address}`));
  const verb = questions.length === 1 ? "is" : "are";
  const at = context.input.spec.resources.get(first.address)?.locate(first.path);
  if (!("code" in open))
    return warning("PLAN_UNCHECKED", `too many folders to search, so ${about} ${verb} not checked`, {
      at,
      hint: "declare these resources, or check that they exist",
    });
  return warning("PLAN_UNCHECKED", `${what} could not be read, so ${about} ${verb} not checked`, {
    at,
    cause: `${open.code}: ${open.message}`,
    hint: open.hint ?? "check these values, or plan again",
  });
}
