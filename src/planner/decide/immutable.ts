// Differences that no update can change in place: an error or a replacement, as the resource or the policy says.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { toDottedPath } from "../../core/pointer.ts";
import { shortened } from "../../core/sentences.ts";
import type { FieldTable } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import type { Resource } from "../../spec/model/spec.ts";
import type { NonEmpty } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { PlanInput } from "../model/input.ts";

export function immutablePolicy(context: PlanContext, resource: Resource): "error" | "replace" {
  const { policy } = context.input.spec;
  return (
    resource.lifecycle.on_immutable_change ??
    policy.on_immutable_change_by_kind[resource.kind] ??
    policy.on_immutable_change
  );
}

/** The refusal of a change that needs a replacement. */
export function immutableError(
  resource: Resource,
  provider: PlannedKind,
  because: NonEmpty<FieldDiff>,
  isSensitive: PlanInput["isSensitive"] = () => false,
): Diagnostic {
  const fields = because.map((diff) => toDottedPath(diff.path)).join(", ");
  const { address } = resource;
  const differences = because.map((diff) =>
    describeDiff(provider.fields, diff, isSensitive(address, diff.path, diff.before, diff.after)),
  );
  return error("PLAN_IMMUTABLE", `${address}: ${fields} cannot be changed in place`, {
    address,
    at: resource.locate(because[0].path),
    cause: differences.join("; "),
    hint: hintFor(resource, provider, because, isSensitive),
  });
}

const REPLACE = "set `on_immutable_change: replace` in `lifecycle` of the resource or in `policy`";

/** A new key also changes the name of an object that has no other name in the spec; the old name keeps the object. */
function hintFor(
  { address }: Resource,
  { nameField = "" }: PlannedKind,
  because: NonEmpty<FieldDiff>,
  isSensitive: NonNullable<PlanInput["isSensitive"]>,
): string {
  const [{ path, before, after }] = because;
  const isName = because.length === 1 && path.length === 1 && path[0] === nameField;
  if (!isName || typeof before !== "string" || isSensitive(address, path, before, after))
    return `revert the change, or ${REPLACE}`;
  return `to keep the name, write \`${nameField}: ${quotedText(before)}\` under ${address}; otherwise, ${REPLACE}`;
}

/** A string as the spec writes it. */
function quotedText(text: string): string {
  return JSON.stringify(text.split("${").join("$${"));
}

const LONGEST = 120;

/** `node_type_id: "Standard_DS3_v2" → "Standard_DS4_v2"`. */
function describeDiff(fields: FieldTable, { path, before, after }: FieldDiff, isSensitive: boolean): string {
  const isHidden = isSensitive || fields[String(path[0])]?.sensitive === true;
  const text = (value: Json | undefined): string => {
    if (isHidden) return "(sensitive)";
    return value === undefined ? "nothing" : shortened(stringifyJson(value), LONGEST);
  };
  return `${toDottedPath(path)}: ${text(before)} → ${text(after)}`;
}
