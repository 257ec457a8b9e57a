// Groups equal changes (one kind, action, and set of differences), equal drift, and side effects with the same sentence, so that a
// reader reads each once. Planned deletions are never in a group, and changes of access only where a form
// asks for it.

import { nameOf } from "../../core/address.ts";
import { count, firstFew, grouped } from "../../core/sentences.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { printable } from "../text/printable.ts";
import type { ChangeView } from "./change-view.ts";
import { authorText, type DriftItem } from "./drift-view.ts";
import type { FieldLine } from "./field-lines.ts";

/** One change, or equal ones in the order of the plan. */
export type ChangeGroup = readonly [ChangeView, ...ChangeView[]];

/** Two equal changes are read as quickly as one line about both. */
const LEAST = 3;

/** The changes that destroy an object: deletions first, then replacements. */
export function destroysIn(changes: readonly ChangeView[]): readonly ChangeView[] {
  const rank = ({ action }: ChangeView) => Number(action !== "delete");
  return changes.filter((change) => change.destroys).toSorted((a, b) => rank(a) - rank(b));
}

/** Whether the change has a part in the total of costs, or changes what decides a cost. */
export function isCostChange({ cost, destroys, severity }: ChangeView): boolean {
  return cost !== "" || (!destroys && severity === "cost");
}

/** Not a secret that an apply compares: its value may stay. */
export function isAccessChange({ severity, action }: ChangeView): boolean {
  return severity === "security" && action !== "compare";
}

interface FoldOptions {
  /** Every change is a group. */
  readonly expand?: boolean;
  /** Also equal changes of access are a group, for a form that shows their difference without a click; those of one line stay separate. */
  readonly foldsAccess?: boolean;
}

/** A group has the position of its first change. */
export function foldChanges(
  changes: readonly ChangeView[],
  { expand = false, foldsAccess = false }: FoldOptions = {},
): readonly ChangeGroup[] {
  if (expand) return changes.map((change): ChangeGroup => [change]);
  const isSeparate = (view: ChangeView) =>
    view.destroys ||
    view.reverts.length > 0 ||
    (isAccessChange(view) && (!foldsAccess || view.fields.length === 0));
  const alike = Map.groupBy(changes, (change) => (isSeparate(change) ? change : likeness(change)));
  return [...alike.values()]
    .flatMap((group) =>
      group.length < LEAST ? group.map((change): ChangeGroup => [change]) : [group as unknown as ChangeGroup],
    )
    .sort(byPosition(changes));
}

function byPosition(changes: readonly ChangeView[]): (a: ChangeGroup, b: ChangeGroup) => number {
  const positions = new Map(changes.map((change, at) => [change, at]));
  return ([a], [b]) => (positions.get(a) ?? 0) - (positions.get(b) ?? 0);
}

function likeness(view: ChangeView): string {
  const { kind, action, origin, fields, content, reasons, consequences, driftOrigin } = view;
  const { cause } = view.source;
  return JSON.stringify([
    kind,
    action,
    origin,
    cause,
    fields,
    wholeOf(fields, view.source),
    content,
    view.sharedRemarks,
    reasons,
    consequences,
    authorText(driftOrigin),
  ]);
}

/** The differences where lines show a part of long values. */
function wholeOf(fields: readonly FieldLine[], source: object): unknown {
  return fields.some(({ isExcerpt }) => isExcerpt) && "diffs" in source ? source.diffs : [];
}

export type DriftGroup = readonly [DriftItem, ...DriftItem[]];

/** Deleted objects first, then by severity. Equal changes by one person are a group, whenever each was made. */
export function foldDrift(drift: readonly DriftItem[]): readonly DriftGroup[] {
  const alike = Map.groupBy(drift, driftLikeness);
  const groups = [...alike.values()].flatMap((group) =>
    group.length < LEAST ? group.map((item): DriftGroup => [item]) : [group as unknown as DriftGroup],
  );
  const positions = new Map(drift.map((item, at) => [item, at]));
  // Drift that is acknowledged, in the spec already, or was reported before needs no attention now.
  const rank = ({ what, severity, open }: DriftItem) =>
    (open === undefined ? SEVERITIES.length : 0) + (what === "deleted" ? -1 : SEVERITIES.indexOf(severity));
  return groups.sort(([a], [b]) => rank(a) - rank(b) || (positions.get(a) ?? 0) - (positions.get(b) ?? 0));
}

function driftLikeness({ kind, what, fields, content, remarks, source }: DriftItem): string {
  const { by, creator, at } = source.origin ?? {};
  const whole = wholeOf(fields, source);
  return JSON.stringify([kind, what, fields, whole, content, remarks, by, creator, at === undefined]);
}

/** `12 clusters`, or the address of one change. Printable. */
export function groupTitle([first, ...rest]: ChangeGroup): string {
  return rest.length === 0 ? first.title : `${grouped(rest.length + 1)} ${printable(first.kind)}`;
}

/** `adhoc, etl, and 10 more`: the keys of the changes, without their kind. Printable. */
export function groupNames(group: ChangeGroup, most: number): string {
  return firstFew(group, most, keyOf);
}

/** The key of a change; of a move, both: `a to b`, and `b (moved from a)` if it also changes the object. */
function keyOf({ source: { action, address, movedFrom } }: ChangeView): string {
  const name = printable(nameOf(address));
  if (movedFrom === undefined) return name;
  const former = printable(nameOf(movedFrom));
  return action === "move" ? `${former} to ${name}` : `${name} (moved from ${former})`;
}

/**
 * `num_workers 2 → 10, and 1 more field`, or `members.users + ada@example.com`: the first difference in a few words, without its
 * values where they need more room.
 */
export function briefDifference(fields: readonly FieldLine[], most = 70): string {
  const [first] = fields;
  const change = first?.sign ?? (first?.was === undefined ? undefined : `${first.was} →`);
  if (first === undefined || change === undefined || first.label === "") return "";
  const values = `${first.label} ${change} ${first.text}`;
  const text = values.length > most ? first.label : values;
  const rest = fields.slice(1);
  const others = rest.findIndex(({ label }) => label !== "");
  const members = others === -1 ? rest.length : others;
  const more = new Set(rest.flatMap(({ label }) => (label === "" ? [] : [label]))).size;
  const counts = [
    ...(members === 0 ? [] : [`${grouped(members)} more`]),
    ...(more === 0 ? [] : [count(more, "more field")]),
  ];
  return [text, ...counts].join(", and ");
}

/** A side effect of one change, or of several changes of one kind. */
export interface Effect {
  /** `780 clusters`, or an address. Printable. */
  readonly subject: string;
  readonly sentence: string;
  readonly changes: ChangeGroup;
}

/** The most frequent first. */
export function foldEffects(changes: readonly ChangeView[]): readonly Effect[] {
  const all = changes.flatMap((change) => change.consequences.map((sentence) => ({ change, sentence })));
  const alike = Map.groupBy(all, ({ change, sentence }) => `${change.kind}\n${sentence}`);
  return [...alike.values()]
    .map((effects): Effect => {
      const group = effects.map(({ change }) => change) as unknown as ChangeGroup;
      return { subject: groupTitle(group), sentence: effects[0]?.sentence ?? "", changes: group };
    })
    .sort((a, b) => b.changes.length - a.changes.length);
}

/** `2 clusters, 1 job`. */
export function kindCounts(changes: readonly { readonly kind: string }[]): string {
  const kinds = Map.groupBy(changes, ({ kind }) => kind);
  return [...kinds].map(([kind, own]) => kindCount(kind, own.length)).join(", ");
}

/** The name of a kind is a plural. */
function kindCount(kind: string, number: number): string {
  const plural = printable(kind);
  return count(number, plural.replace(/ies$/, "y").replace(/s$/, ""), plural);
}
