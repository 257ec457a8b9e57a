// The parts of one change that reports show: its fields with their locations in the spec, its remarks, and its severity.

import { type Address, nameOf } from "../../core/address.ts";
import type { Location } from "../../core/diagnostic.ts";
import { type Path, toPointer } from "../../core/pointer.ts";
import { count } from "../../core/sentences.ts";
import { type Change, type ContentDiff, isOfReplaced } from "../../planner/model/change.ts";
import type { SplitChange } from "../../planner/model/split.ts";
import type { Severity, Values } from "../../resource/field-schema.ts";
import type { Kind } from "../../resource/kind.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import type { KindRegistry } from "../../resource/registry.ts";
import { severityOfDiff } from "../../resource/severity.ts";
import { printable } from "../text/printable.ts";
import { causeText, diffLines, type FieldLine, setLines, withNote } from "./field-lines.ts";

export type SpecPlace = Omit<Location, "frame">;

/** The place of a field, or without a path of the resource; undefined for what the spec does not declare. */
export type SpecPlaces = (address: Address, path?: Path) => SpecPlace | undefined;

export const NO_PLACES: SpecPlaces = () => undefined;

export interface RatedDiff {
  readonly diff: FieldDiff;
  readonly severity: Severity;
  /** Where the spec sets the field, or the nearest value around it. */
  readonly at: SpecPlace | undefined;
}

export interface SetField {
  readonly path: Path;
  readonly at: SpecPlace | undefined;
}

export function ratedDiff(
  provider: Kind,
  address: Change["address"],
  diff: FieldDiff,
  places: SpecPlaces,
): RatedDiff {
  return { diff, severity: severityOfDiff(provider, diff), at: places(address, diff.path) };
}

export function fieldLines(
  change: Change,
  registry: KindRegistry,
  origins: SplitChange["fields"],
): readonly FieldLine[] {
  const pending = new Set(
    origins.flatMap(({ path, origin }) => (origin === "pending" ? [toPointer(path)] : [])),
  );
  const noted = (path: Path, lines: readonly FieldLine[]): readonly FieldLine[] =>
    pending.has(toPointer(path)) ? withNote(lines, "already pending") : lines;
  const { fields, nameField } = registry.of(change.address);
  const later = new Set("unresolved" in change ? change.unresolved.map((one) => toPointer(one.path)) : []);
  switch (change.action) {
    case "create":
      return Object.entries(withoutName(change, nameField)).flatMap(([name, value]) =>
        noted([name], setLines(fields, { [name]: value }, later)),
      );
    case "update":
    case "replace": {
      const content = change.action === "update" ? change.content : undefined;
      return change.diffs.flatMap((diff) => {
        if (content !== undefined && diff.path[0] === "content")
          return noted(diff.path, [contentLine(content)]);
        const lines = diffLines(
          fields,
          later.has(toPointer(diff.path)) ? { ...diff, unknown: true } : diff,
          change.cause,
          severityOfDiff(registry.of(change.address), diff),
        );
        return noted(diff.path, lines);
      });
    }
    case "delete":
    case "adopt":
    case "forget":
    case "compare":
    case "noop":
    case "report":
      return [];
  }
  return change satisfies never;
}

/** Whether a change deletes an object; a replacement that keeps the old one does not. */
export function destroys(change: Change): boolean {
  return change.action === "delete" || (change.action === "replace" && change.keepsOld !== true);
}

/** The natural name stands behind the address where it differs; as a field it would say the same again. */
function withoutName(
  change: Extract<Change, { readonly action: "create" }>,
  nameField: string | undefined,
): Values {
  if (nameField === undefined) return change.after;
  const { [nameField]: _name, ...rest } = change.after;
  return rest;
}

export function remarksOf(change: Change, registry: KindRegistry): readonly string[] {
  const found: string[] = [];
  if (change.name !== nameOf(change.address)) found.push(`named ${printable(JSON.stringify(change.name))}`);
  if (isOfReplaced(change)) found.push("a replaced object of this address");
  if (change.action === "replace") found.push(change.keepsOld === true ? KEPT : REPLACING[change.replacing]);
  if ("temporaryName" in change && change.temporaryName !== undefined)
    found.push(`renamed to ${printable(JSON.stringify(change.temporaryName))} first`);
  if ("nameFrom" in change && change.nameFrom !== undefined)
    found.push(`takes the name of ${printable(change.nameFrom.address)}`);
  if (change.action === "update") found.push(...stepNames(change.steps.map((step) => step.operation)));
  if (
    (change.action === "delete" || change.action === "replace") &&
    registry.of(change.address).nameField !== undefined
  )
    found.push(`id ${printable(change.id)}`);
  if (change.action === "compare") found.push("written if its value differs");
  if (change.cause !== "spec" && change.action !== "report") found.push(causeText(change.cause));
  return found;
}

const KEPT = "rename the old object and keep it";

const REPLACING = {
  "create-first": "create the new object first",
  "rename-aside": "rename the old object, then delete it last",
  "delete-first": "delete the old object first",
} as const;

/** The usual way of a kind to change something. */
const PLAIN_STEPS = new Set(["update", "edit", "reset", "put", "patch"]);

function stepNames(operations: readonly string[]): readonly string[] {
  const names = [...new Set(operations)].filter((name) => !PLAIN_STEPS.has(name));
  return names.length === 0 ? [] : [`by ${names.map(printable).join(", ")}`];
}

/** A small change in a large file is shown completely; of a rewritten file, the beginning is shown. */
const MOST_LINES = 60;

export function contentLine({ added, removed }: ContentDiff): FieldLine {
  return { label: "content", text: `${count(added, "line")} added, ${removed} removed` };
}

export function contentLines(content: ContentDiff | undefined): readonly string[] {
  const lines = content?.lines ?? [];
  const shown = lines.slice(0, MOST_LINES).map((line) => printable(line.replaceAll("\t", "  ")));
  return lines.length > MOST_LINES ? [...shown, `… ${lines.length - MOST_LINES} more lines`] : shown;
}
