// The workspace as side effects and guards of a kind use it: live data, the changes of the plan, and the values of a resource after its change.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { lazily } from "../../core/lazily.ts";
import { setMember, valueAt, withValueAt } from "../../core/pointer.ts";
import { type FieldSchema, type FieldTable, schemaAt, type Values } from "../../resource/field-schema.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { foldName } from "../../resource/names.ts";
import type { PlannedChange, PlannedWorkspace, PlanningRules } from "../../resource/planning.ts";
import { type Change, type Create, isDeletedWithParent, isOfReplaced, writes } from "./change.ts";
import { type LiveIndex, objectKey, type PlanContext } from "./context.ts";
import type { PlanFacts } from "./input.ts";

/** Immutable: results do not depend on the order of the calls. What it needs of the spec and the changes is collected when first asked for. */
export function createPlannedWorkspace(
  { input, liveIndex, owners }: Pick<PlanContext, "input" | "liveIndex" | "owners">,
  facts: PlanFacts,
  changes: readonly Change[],
): PlannedWorkspace {
  const { registry, spec } = input;
  const leaving = lazily(() => leavingNames(registry, changes));
  const changed = lazily(() => changesOfValues(changes));
  const declaredNames = lazily(
    () =>
      new Set(
        (input.destroy === true ? [] : [...spec.resources.values()]).map((resource) =>
          nameKey(registry, resource.kind, resource.name),
        ),
      ),
  );
  return {
    live: (kind) => {
      const dependentsOfDeleted = facts.dependentsOfDeleted?.get(kind);
      return dependentsOfDeleted?.readable === true ? dependentsOfDeleted.objects : liveIndex.all(kind);
    },
    caller: facts.caller,
    activeRuns: facts.activeRuns,
    declared: (kind, name) => declaredNames().has(nameKey(registry, kind, name)),
    isRemoved: (kind, name) => leaving().removed.has(nameKey(registry, kind, name)),
    isForgotten: (kind, name) => leaving().forgotten.has(nameKey(registry, kind, name)),
    created: (kind) =>
      changes.flatMap((change) =>
        change.kind === kind && (change.action === "create" || change.action === "replace")
          ? [{ address: change.address, values: change.after }]
          : [],
      ),
    valuesAfter: (kind, live) => {
      const change = changed().get(objectKey(kind, live.id));
      if (change === undefined) return live.values;
      return change.action === "update" ? { ...keptValues(live, change), ...change.after } : undefined;
    },
    isSensitive: (kind, object, path) => {
      const address = "address" in object ? object.address : owners.get(kind, object.id);
      return address !== undefined && input.isSensitive?.(address, path) === true;
    },
  };
}

type Update = Extract<Change, { readonly action: "update" }>;

type ChangeOfObject = Update | Extract<Change, { readonly action: "delete" | "replace" }>;

/** The updates and removals, by kind and ID. A replaced object that is kept has its live values. */
function changesOfValues(changes: readonly Change[]): ReadonlyMap<string, ChangeOfObject> {
  const byObject = new Map<string, ChangeOfObject>();
  for (const change of changes) {
    if (change.action === "replace" && change.keepsOld === true) continue;
    if (change.action === "update" || change.action === "delete" || change.action === "replace")
      byObject.set(objectKey(change.kind, change.id), change);
  }
  return byObject;
}

/** What others set in fields that the spec does not manage: an edit keeps it. */
function keptValues({ values }: LiveObject, { after, diffs }: Update): Values {
  const written = new Set([...Object.keys(after), ...diffs.map(({ path }) => String(path[0]))]);
  return Object.fromEntries(Object.entries(values).filter(([field]) => !written.has(field)));
}

function leavingNames(registry: PlanningRegistry, changes: readonly Change[]) {
  const removed = new Set<string>();
  const forgotten = new Set<string>();
  for (const change of changes) {
    const { action, kind, name } = change;
    if (action === "delete" || action === "replace" || isDeletedWithParent(change))
      removed.add(nameKey(registry, kind, name));
    else if (action === "forget" && !isOfReplaced(change)) forgotten.add(nameKey(registry, kind, name));
  }
  return { removed, forgotten };
}

export function nameKey(registry: PlanningRegistry, kind: string, name: string): string {
  const provider = registry.find(kind);
  return `${kind}\n${provider === undefined ? name : foldName(provider, name)}`;
}

/** What the rules of its kind say about a change; nothing about one that sends no requests. */
export function askKind<T>(
  { input, liveIndex }: Pick<PlanContext, "input" | "liveIndex">,
  change: Change,
  rule: (planning: PlanningRules, planned: PlannedChange) => readonly T[] | undefined,
): readonly T[] {
  const planned = plannedChange(change, liveIndex);
  return planned === undefined ? [] : (rule(input.registry.get(change.kind).planning, planned) ?? []);
}

/** The changes with their side effects, and with whom they harm. */
export function withConsequences(
  context: PlanContext,
  changes: readonly Change[],
  workspace: PlannedWorkspace,
): readonly Change[] {
  return changes.map((change) => {
    const consequences = askKind(context, change, (planning, planned) =>
      planning.consequences?.(planned, workspace),
    );
    const harms = askKind(context, change, (planning, planned) => planning.harms?.(planned, workspace));
    if (consequences.length + harms.length === 0) return change;
    return harms.length === 0 ? { ...change, consequences } : { ...change, consequences, harms };
  });
}

/** The change for which a provider is called; undefined for changes that send no requests. */
export function plannedChange(change: Change, liveIndex: LiveIndex): PlannedChange | undefined {
  if (!writes(change) && change.action !== "delete") return undefined;
  const { action, address, kind, name } = change;
  return {
    action,
    address,
    name,
    live: "id" in change ? liveIndex.byId(kind, change.id) : undefined,
    after: "after" in change ? change.after : undefined,
    diffs: "diffs" in change ? change.diffs : [],
    steps: "steps" in change ? change.steps : [],
  };
}

/** Live values after the change, with a mark for each value that is known only after the apply. */
export function markedResult(change: Change, fields: FieldTable): Values | undefined {
  switch (change.action) {
    case "create":
      return asMade(fields, marking(change.after, change.unresolved), change.after);
    case "update":
      return markedDiffs(change, fields);
    case "replace":
      return asMade(fields, markedDiffs(change, fields), change.after);
    case "adopt":
    case "import":
    case "move":
    case "compare":
    case "noop":
    case "report":
      return change.before;
    case "delete":
    case "forget":
      return undefined;
  }
  return change satisfies never;
}

type Changing = Extract<Change, { readonly diffs: unknown }>;

export function markedDiffs(change: Changing, fields: FieldTable): Values {
  let after: Json | undefined = change.before;
  for (const { path, after: reached } of change.diffs)
    after = withValueAt(after, path, reached ?? (isServers(schemaAt(fields, path)) ? LATER_MARK : undefined));
  return marking(after as Values, unresolvedOf(change));
}

/** References in values to be written. A reference inside an unchanged value is not listed. */
function unresolvedOf(change: Changing): Create["unresolved"] {
  return change.unresolved.filter(({ path }) =>
    change.diffs.some(
      (diff) => diff.unknown === true && diff.path.every((key, at) => String(key) === String(path[at])),
    ),
  );
}

/** A new object has the documented defaults where the spec says nothing, and what the service decides. */
function asMade(fields: FieldTable, values: Values, set: Values): Values {
  const created: { [key: string]: Json } = { ...values };
  for (const [name, schema] of Object.entries(fields)) {
    if (set[name] !== undefined || schema.readOnly === true || schema.source === true) continue;
    if (schema.default !== undefined) created[name] ??= schema.default;
    // Whether the service has a field of one dialect only is not known here.
    else if (isServers(schema) && schema.dialect === undefined) created[name] = LATER_MARK;
  }
  return created;
}

function isServers({ serverDefault, whenAbsent }: FieldSchema): boolean {
  return serverDefault === true || whenAbsent === "unmanaged";
}

/** No string of a spec or a service begins like this, because neither may contain this character. */
const LATER_MARK = "\u0000later:";

function marking(values: Values, references: Create["unresolved"]): Values {
  let marked: Json | undefined = values;
  for (const { path } of references)
    marked = withValueAt(marked, path, `${LATER_MARK}${String(valueAt(values, path) ?? "")}`);
  return marked as Values;
}

export function isMarkedLater(value: Json): value is string {
  return typeof value === "string" && value.startsWith(LATER_MARK);
}

/** References as text in place of the marks; what the service decides is left out. */
export function withReferenceTexts(value: Json): Json | undefined {
  if (isMarkedLater(value)) return value === LATER_MARK ? undefined : value.slice(LATER_MARK.length);
  if (Array.isArray(value)) return value.map((item) => withReferenceTexts(item) ?? null);
  return isObject(value) ? mapMembers(value, withReferenceTexts) : value;
}

export function mapMembers(
  value: JsonObject,
  of: (member: Json, key: string) => Json | undefined,
): JsonObject {
  const out: { [key: string]: Json } = {};
  for (const [key, member] of Object.entries(value)) {
    const converted = of(member, key);
    if (converted !== undefined) setMember(out, key, converted);
  }
  return out;
}
