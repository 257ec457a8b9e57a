// Changes of fields that cannot be changed in place: what the spec says of them, and the error.

import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { toDottedPath } from "../../core/pointer.ts";
import type { FieldTable } from "../../resource/field-schema.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { Resource } from "../../spec/model/spec.ts";
import type { NonEmpty } from "../model/change.ts";
import type { PlanContext } from "../model/context.ts";
import type { PlanInput } from "../model/input.ts";

/** The refusal of a change that needs a replacement. */
export function immutableError(
  resource: Resource,
  provider: PlannedKind,
  because: NonEmpty<FieldDiff>,
  isSensitive: PlanInput["isSensitive"] = () => false,
): Diagnostic {
  const fields = because.map((diff) => toDottedPath(diff.path)).join(", ");
  const [first] = because;
  return error("PLAN_IMMUTABLE", `${resource.address}: ${fields} cannot be changed in place`, {
    address: resource.address,
    at: resource.locate(first.path),
    cause: because
      .map((diff) =>
        describeDiff(
          provider.fields,
          diff,
          isSensitive(resource.address, diff.path, diff.before, diff.after),
        ),
      )
      .join("; "),
    hint: hintFor(resource, provider, because, isSensitive),
  });
}

const REPLACE = "allow a replacement with `lifecycle: { on_immutable_change: replace }`";

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
  const text = (value: Json | undefined): string => (isHidden ? "(sensitive)" : valueText(value));
  return `${toDottedPath(path)}: ${text(before)} → ${text(after)}`;
}

function valueText(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = stringifyJson(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

export function immutablePolicy(context: PlanContext, resource: Resource): "error" | "replace" {
  const { policy } = context.input.spec;
  return (
    resource.lifecycle.on_immutable_change ??
    policy.on_immutable_change_by_kind[resource.kind] ??
    policy.on_immutable_change
  );
}
