// The effects of edits apart from the accepted drift: on other addresses and targets, and the differences that remain.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, error, hasErrors, warning } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import type { Json } from "../../core/json.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { listed } from "../../core/sentences.ts";
import { diffResource } from "../../planner/diff/diff.ts";
import { isInField } from "../../planner/diff/known-drift.ts";
import { makePlan } from "../../planner/make-plan.ts";
import { type Change, touches } from "../../planner/model/change.ts";
import type { PlanInput } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { DeclaredSpec, Resource, Spec } from "../../spec/model/spec.ts";
import type { AcceptedResource } from "./accept-values.ts";
import type { WantedDrift } from "./wanted-drift.ts";
import type { EditableSpec } from "./write-edits.ts";

interface EditedSpec extends Pick<EditableSpec, "load" | "otherTargets"> {
  readonly input: PlanInput;
  readonly wanted: readonly WantedDrift[];
  /** Other addresses and targets may change; each is named. */
  readonly shared: boolean;
  readonly inTarget: boolean;
  readonly before: Spec;
  readonly after: Spec;
  readonly declared: DeclaredSpec;
  readonly overlay: ReadonlyMap<string, Uint8Array>;
  readonly resources: readonly AcceptedResource[];
  /** Whether the values of a resource can be written for one target alone. */
  takesOverride(address: Address): boolean;
}

/** Errors: what must not be written. Warnings: what changes as well. */
export async function effectsOf(edited: EditedSpec): Promise<readonly Diagnostic[]> {
  // The same objects and facts as before: only the spec differs.
  const plan = makePlan({ ...edited.input, spec: edited.after });
  const others = changedOthers(edited).map((address) => otherResource(address, edited, plan));
  const refused = refusedOthers(edited, others, plan);
  if (refused.length > 0) return refused;
  return [...(await effectsElsewhere(edited, others)), ...leftDifferences(edited, plan)];
}

interface OtherResource {
  readonly address: Address;
  /** With the line of its declaration. */
  readonly place: string;
  readonly change: Change | undefined;
}

async function effectsElsewhere(
  edited: EditedSpec,
  others: readonly OtherResource[],
): Promise<readonly Diagnostic[]> {
  const destroyed = others.filter(
    ({ change }) => change?.action === "delete" || change?.action === "replace",
  );
  if (destroyed.length > 0) return [wouldDestroy(edited, destroyed)];
  const targets: TargetEffect[] = [];
  for (const target of edited.otherTargets) {
    const effect = await targetEffect(edited, target);
    if (effect !== undefined) targets.push(effect);
  }
  const invalid = targets.flatMap(({ errors = [] }) => errors);
  if (edited.shared)
    return invalid.length > 0 ? invalid : [...targets.map(alsoChangesTarget), ...others.map(alsoChanges)];
  const names = [...others.map(({ place }) => place), ...targets.map(({ target }) => `the target ${target}`)];
  return names.length === 0 ? [] : [notUnique(edited, others, targets, names)];
}

const resourceText = ({ name, values, references, lifecycle, payload }: Resource): string =>
  canonicalJson([
    name,
    values,
    references as unknown as Json,
    lifecycle as unknown as Json,
    payload?.digest ?? null,
  ]);

function differing(before: Spec, after: Spec): readonly Address[] {
  const addresses = new Set([...before.resources.keys(), ...after.resources.keys()]);
  return [...addresses].filter((address) => {
    const [old, now] = [before.resources.get(address), after.resources.get(address)];
    return old === undefined || now === undefined || resourceText(old) !== resourceText(now);
  });
}

/** A place that decides more than what was accepted is not unique. */
function changedOthers({ before, after, resources, declared }: EditedSpec): readonly Address[] {
  const accepted = new Set(resources.map(({ address }) => address));
  const parents = new Map(declared.resources.map(({ address, parent }) => [address, parent]));
  return differing(before, after).filter((address) => {
    const parent = parents.get(address);
    return (
      !accepted.has(address) &&
      (parent === undefined || !accepted.has(parent) || after.resources.has(address))
    );
  });
}

function otherResource(address: Address, { before, after }: EditedSpec, plan: Plan): OtherResource {
  const at = (before.resources.get(address) ?? after.resources.get(address))?.at;
  return {
    address,
    place: at === undefined ? address : `${address} (${at.file}:${at.line})`,
    change: plan.changes.find((change) => change.address === address && !("deposed" in change)),
  };
}

/** `workspace.yaml:3 decides pools.a`: the text that decides the values, or else the declaration. */
function decision({ resources }: EditedSpec): string {
  const addresses = resources.map(({ address }) => address);
  const fields = resources.flatMap(({ fields }) => fields);
  const elsewhere = fields.filter(({ at, usedAt }) => at.file !== usedAt.file || at.line !== usedAt.line);
  const places = (elsewhere.length === 0 ? fields : elsewhere).map(({ at }) => `${at.file}:${at.line}`);
  const contents = resources.flatMap(({ content }) => (content === undefined ? [] : [content]));
  const distinct = [...new Set([...places, ...contents])];
  const text = distinct.length === 0 ? "the declaration" : listed(distinct, "and", 5);
  return `${text} ${distinct.length > 1 ? "decide" : "decides"} ${listed(addresses, "and", 5)}`;
}

/** A problem of an edit of several resources is not one of the first. */
function onlyAddress({ resources }: EditedSpec): Address | undefined {
  return resources.length === 1 ? resources[0]?.address : undefined;
}

function wouldDestroy(edited: EditedSpec, destroyed: readonly OtherResource[]): Diagnostic {
  const places = destroyed.map(({ place }) => place);
  const them = destroyed.length === 1 ? "it" : "them";
  const verb = listed([...new Set(destroyed.map(({ change }) => change?.action ?? "delete"))], "or");
  return error(
    "DRIFT_NOT_ACCEPTED",
    `${decision(edited)}, and also ${listed(places, "and", 10)}, which the next plan would ${verb}`,
    {
      address: onlyAddress(edited),
      hint: `to keep ${them}, declare ${them} separately; to ${verb} ${them} as well, edit the spec by hand`,
    },
  );
}

/** An edit must not leave a spec whose next plan is refused for another resource. */
function refusedOthers(
  edited: EditedSpec,
  others: readonly OtherResource[],
  plan: Plan,
): readonly Diagnostic[] {
  return others.flatMap(({ address, place }) => {
    const refusal = plan.diagnostics.find(
      (diagnostic) => diagnostic.severity === "error" && diagnostic.address === address,
    );
    if (refusal === undefined) return [];
    return [
      error(
        "DRIFT_NOT_ACCEPTED",
        `${decision(edited)}, and also ${place}, whose change the next plan refuses`,
        {
          address: onlyAddress(edited),
          cause: refusal.message,
          hint: "write the value by hand",
        },
      ),
    ];
  });
}

/** Names the candidates: the text that decides the value, and the place of the resource alone. */
function notUnique(
  edited: EditedSpec,
  others: readonly OtherResource[],
  targets: readonly TargetEffect[],
  names: readonly string[],
): Diagnostic {
  const { resources, inTarget, takesOverride } = edited;
  const isForTarget =
    targets.length > 0 &&
    !inTarget &&
    resources.every(
      ({ address, what, content }) => what === "changed" && content === undefined && takesOverride(address),
    );
  const alone = isForTarget ? "for this target alone, pass --in-target; " : "";
  return error("DRIFT_NOT_ACCEPTED", `${decision(edited)}, and also ${listed(names, "and", 10)}`, {
    address: onlyAddress(edited),
    hint: `${targets.length > 0 ? alone : aloneHint(edited, others)}to change all of them, pass ${inTarget ? "--shared in place of --in-target" : "--shared"}`,
  });
}

/** The resources that take the value can have it written out, unless one declaration makes several of them. */
function aloneHint({ resources, declared }: EditedSpec, others: readonly OtherResource[]): string {
  const uses = resources
    .flatMap(({ fields }) => fields)
    .filter(({ at, usedAt }) => at.file !== usedAt.file || at.line !== usedAt.line)
    .map(({ usedAt }) => `${usedAt.file}:${usedAt.line}`);
  if (uses.length === 0) return "";
  const declarations = (addresses: readonly Address[]): readonly string[] =>
    declared.resources
      .filter(({ address }) => addresses.includes(address))
      .map(({ at }) => `${at.source.path}:${at.start}`);
  const own = new Set(declarations(resources.map(({ address }) => address)));
  if (declarations(others.map(({ address }) => address)).some((at) => own.has(at))) return "";
  return `for ${resources.length === 1 ? "it" : "them"} alone, write the value at ${listed([...new Set(uses)], "and", 5)}; `;
}

const VERBS: Partial<Record<Change["action"], string>> = {
  create: "creates",
  update: "updates",
  replace: "replaces",
  forget: "forgets",
};

function alsoChanges({ address, place, change }: OtherResource): Diagnostic {
  const verb = change && VERBS[change.action];
  const fields = change !== undefined && "diffs" in change ? change.diffs : [];
  const names = listed([...new Set(fields.map(({ path }) => toDottedPath(path)))], "and", 10);
  const next = verb === undefined ? "" : `: the next plan ${verb} ${names === "" ? "it" : `it (${names})`}`;
  return warning("DRIFT_ACCEPTED_SHARED", `${place} also changes${next}`, { address });
}

/** How another target differs after the edit. */
interface TargetEffect {
  readonly target: string;
  readonly changed: readonly Address[];
  /** Only a new object can have the changed values. */
  readonly replaced: readonly Address[];
  readonly added: readonly Address[];
  readonly removed: readonly Address[];
  /** Why it is no longer valid. */
  readonly errors?: readonly Diagnostic[];
}

/** Other targets share the sections outside `targets`. */
async function targetEffect(
  { load, overlay, input: { registry } }: EditedSpec,
  target: string,
): Promise<TargetEffect | undefined> {
  const before = await load(new Map(), target);
  const after = await load(overlay, target);
  const unchanged = { target, changed: [], replaced: [], added: [], removed: [] };
  if (before.spec === undefined) return unchanged;
  if (after.spec === undefined || (hasErrors(after.diagnostics) && !hasErrors(before.diagnostics))) {
    const message = `the target ${target} would not be valid with the live values, so nothing is written`;
    const causes = after.diagnostics.filter(({ severity }) => severity === "error");
    return { ...unchanged, errors: [error("DRIFT_NOT_ACCEPTED", message), ...causes] };
  }
  const [old, now] = [before.spec.resources, after.spec.resources];
  const addresses = differing(before.spec, after.spec);
  if (addresses.length === 0) return undefined;
  const changed = addresses.filter((address) => old.has(address) && now.has(address));
  const replaced = changed.filter((address) => {
    const [from, to] = [old.get(address), now.get(address)];
    if (from === undefined || to === undefined) return false;
    const { fields } = registry.of(address);
    const applied = { id: "" as LiveObject["id"], name: from.name, values: from.values, facts: {} };
    return diffResource(fields, to.values, applied, undefined).some(({ replaces }) => replaces);
  });
  return {
    target,
    replaced,
    changed: changed.filter((address) => !replaced.includes(address)),
    added: addresses.filter((address) => !old.has(address)),
    removed: addresses.filter((address) => !now.has(address)),
  };
}

function alsoChangesTarget({ target, changed, replaced, added, removed }: TargetEffect): Diagnostic {
  const names = (addresses: readonly Address[]) => listed(addresses, "and", 10);
  const effects = [
    ...(removed.length === 0 ? [] : [`its next plan deletes ${names(removed)}, which it no longer declares`]),
    ...(replaced.length === 0 ? [] : [`its next plan would replace ${names(replaced)}`]),
    ...(added.length === 0 ? [] : [`it also declares ${names(added)}`]),
    ...(changed.length === 0 ? [] : [`${names(changed)} changed`]),
  ];
  const text =
    effects.length === 0
      ? "could not be checked, because it is not valid"
      : `also changes: ${effects.join("; ")}`;
  return warning("DRIFT_ACCEPTED_SHARED", `the target ${target} ${text}`);
}

/** What a plan of the edited spec would still change at the accepted addresses. */
function leftDifferences({ wanted, after }: EditedSpec, plan: Plan): readonly Diagnostic[] {
  const refused = plan.diagnostics.filter(({ severity }) => severity === "error");
  return wanted.flatMap(({ drift: { address, what }, field }) => {
    const left = plan.changes.filter(
      (change) =>
        change.address === address && touches(change) && !isOfRecord(change, what) && concerns(change, field),
    );
    const errors = refused.filter((diagnostic) => diagnostic.address === address);
    if (left.length === 0 && errors.length === 0) return [];
    const fields = left.flatMap((change) =>
      "diffs" in change ? change.diffs.map(({ path }) => toDottedPath(path)) : [change.action],
    );
    const words = fields.length === 0 ? "" : `: ${listed(fields)}`;
    return [
      error("DRIFT_NOT_ACCEPTED", `${address} would still differ after the edit${words}`, {
        address,
        at: after.resources.get(address)?.at,
        hint: "write the value by hand; several places decide it",
        cause: errors[0]?.message,
      }),
    ];
  });
}

/** Only the state changes: its address, or the record of an object that was deleted, or of one that appeared. */
const isOfRecord = ({ action }: Change, what: AcceptedResource["what"]): boolean =>
  action === "move" ||
  (what === "deleted"
    ? action === "forget"
    : what === "appeared" && (action === "adopt" || action === "import"));

function concerns(change: Change, field: string | undefined): boolean {
  if (field === undefined || !("diffs" in change)) return true;
  return change.diffs.some(({ path }) => isInField(path, field));
}
