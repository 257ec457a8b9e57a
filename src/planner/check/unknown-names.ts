// Reports names in the spec that match no object after the plan is applied.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { collectTexts } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import { type Suggest, suggester } from "../../core/suggest.ts";
import { anyField, textsIn } from "../../resource/field-schema.ts";
import { isBuiltIn, isSameName } from "../../resource/names.ts";
import type { PlannedWorkspace } from "../../resource/planning.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { Resource } from "../../spec/model/spec.ts";
import { isIgnored } from "../diff/normalize.ts";
import type { Change, Delete, Replace, Update } from "../model/change.ts";
import { objectKey, type PlanContext } from "../model/context.ts";
import { nameKey } from "../model/planned-workspace.ts";

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
      if (
        standing === "there" ||
        (standing === "unknown" && (change.action === "noop" || stoodThere(naming.text)))
      )
        return [];
      const { text, path } = naming;
      // The nearest name would show most of a sensitive one.
      const isHidden = context.input.isSensitive?.(resource.address, path ?? [], text) === true;
      const hint =
        standing === "goes"
          ? GOES
          : hintFor(naming, isHidden ? [] : namesOf(context, naming.kinds, { going, ignored }), suggest);
      return [unknown(resource, naming, standing, hint)];
    });
  });
}

/** Declared names that their objects do not get, because `ignore_changes` keeps the live one: by kind and name. */
function ignoredNames({ input, liveIndex, decided }: PlanContext): ReadonlySet<string> {
  const found = [...input.spec.resources.values()].filter(({ address, kind, name, lifecycle }) => {
    const provider = input.registry.get(kind);
    const { nameField } = provider;
    if (nameField === undefined || !isIgnored([nameField], lifecycle.ignore_changes)) return false;
    const change = decided.get(address);
    const live = change !== undefined && "id" in change ? liveIndex.byId(kind, change.id) : undefined;
    return live !== undefined && !isSameName(provider, live.name, name);
  });
  return new Set(found.map(({ kind, name }) => nameKey(input.registry, kind, name)));
}

/** Names that are not there after the plan, although an object has or declares them. */
interface Lost {
  readonly going: ReadonlySet<string>;
  readonly ignored: ReadonlySet<string>;
}

/** Whether no object has the name of a live object after a change. */
function losesName({ input }: PlanContext, change: Change): change is Delete | Replace | Update {
  if (change.action === "delete" || change.action === "replace") return true;
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
    const found = context.liveIndex.byName(kind, naming.text);
    if (found.some((one) => !going.has(objectKey(kind, one.id)))) return "there";
    if (found.length > 0) standing = "goes";
  }
  // Then only deletions are certain.
  return standing === "unknown" && context.input.partial === true ? "there" : standing;
}

function namings(provider: PlannedKind, resource: Resource): Naming[] {
  const found = textsIn(provider.fields, resource.values, mayName).flatMap(
    ({ text, path, schema: { names } }): Naming[] =>
      names === undefined || text.includes("${") ? [] : [{ text, kinds: [names], path }],
  );
  const inName = provider.planning.namedInKey?.(resource.name);
  if (inName !== undefined) found.push({ text: inName.name, kinds: inName.kinds, path: undefined });
  return found;
}

/** Names that will be there after the plan. */
function namesOf(
  context: PlanContext,
  kinds: readonly string[],
  { going, ignored }: Lost,
): readonly string[] {
  const live = kinds.flatMap((kind) =>
    context.liveIndex.all(kind).filter((one) => !going.has(objectKey(kind, one.id))),
  );
  const { registry, spec } = context.input;
  const declared = [...spec.resources.values()].filter(
    ({ kind, name }) => kinds.includes(kind) && !ignored.has(nameKey(registry, kind, name)),
  );
  return [...live, ...declared].map(({ name }) => name);
}

const GOES = "remove the name here too, or use the new one";

function hintFor({ text, kinds }: Naming, names: readonly string[], suggest: Suggest): string {
  const best = suggest(text, names);
  const declare = `declare it under ${kinds.join(" or ")}`;
  return best === undefined
    ? `${declare}, or correct the name`
    : `did you mean ${JSON.stringify(best)}? otherwise, ${declare}`;
}

function unknown(resource: Resource, naming: Naming, standing: Standing, hint: string): Diagnostic {
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
