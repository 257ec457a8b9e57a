// The access that a plan changes, as lines by principal or by object: equal rights of several principals are one line.

import { count, firstFew, grouped } from "../../core/sentences.ts";
import type { AccessDiff, AccessRight } from "../../planner/model/access.ts";
import { ADMINISTRATION, ENTITLEMENTS } from "../../resource/access.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { printable } from "../text/printable.ts";

export type AccessGrouping = "principal" | "object";

/** Printable. */
export interface AccessLine {
  readonly sign: "+" | "-";
  /** `everyone in users (212 people)`, or `job nightly` if the lines are by object. */
  readonly head: string;
  /** `READ on scope etl (through data-eng)`. */
  readonly items: readonly string[];
}

export interface AccessView {
  /** `Effective access: 2 rights gained, 1 right lost`. */
  readonly title: string;
  readonly lines: readonly AccessLine[];
  readonly notCompared: readonly string[];
  readonly source: AccessDiff;
}

/** Names in a line that is about several principals. */
const MOST_NAMED = 3;

export function accessView(diff: AccessDiff, registry: KindRegistry, by: AccessGrouping): AccessView {
  const { gained, lost, notCompared } = diff;
  const linesOf = by === "principal" ? linesByPrincipal : linesByObject;
  const parts = [
    ...(gained.length === 0 ? [] : [`${count(gained.length, "right")} gained`]),
    ...(lost.length === 0 ? [] : [`${count(lost.length, "right")} lost`]),
  ];
  return {
    title: `Effective access: ${parts.length === 0 ? "no right that was read changes" : parts.join(", ")}`,
    lines: [...linesOf("+", gained, registry), ...linesOf("-", lost, registry)],
    notCompared: notCompared.map(printable),
    source: diff,
  };
}

/** Principals with the same rights share a line; a group, which is many already, has its own. */
function linesByPrincipal(
  sign: AccessLine["sign"],
  rights: readonly AccessRight[],
  registry: KindRegistry,
): readonly AccessLine[] {
  const own = Map.groupBy(rights, subjectOf);
  const alike = Map.groupBy(own, ([subject, rights]) =>
    rights[0]?.principalKind === "group"
      ? subject
      : JSON.stringify(rights.map((right) => rightText(sign, right, registry))),
  );
  return [...alike.values()].map((group) => ({
    sign,
    head: firstFew(group, MOST_NAMED, ([subject]) => subject),
    items: (group[0]?.[1] ?? []).map((right) => rightText(sign, right, registry)),
  }));
}

function linesByObject(
  sign: AccessLine["sign"],
  rights: readonly AccessRight[],
  registry: KindRegistry,
): readonly AccessLine[] {
  const own = Map.groupBy(rights, (right) => targetText(right, registry));
  return [...own].sort().map(([target, rights]) => {
    const levels = Map.groupBy(rights, (right) => {
      const { level, kind } = right;
      return `${kind === ENTITLEMENTS ? "" : `${printable(level)}: `}\n${remarkText(sign, right)}`;
    });
    const items = [...levels].map(([text, group]) => {
      const [level = "", remark = ""] = text.split("\n");
      return `${level}${firstFew(group, MOST_NAMED, subjectOf)}${remark}`;
    });
    return { sign, head: target, items };
  });
}

export function subjectOf({ principal, principalKind, people, affected = people }: AccessRight): string {
  const name = printable(principal);
  if (principalKind === "user") return name;
  if (principalKind === "service_principal") return `service principal ${name}`;
  const size =
    people === undefined
      ? "members not read"
      : people === 0
        ? "no members"
        : count(people, "person", "people");
  const part = affected === people ? "" : `${grouped(affected ?? 0)} of `;
  return `everyone in ${name} (${part}${size})`;
}

function rightText(sign: AccessLine["sign"], right: AccessRight, registry: KindRegistry): string {
  const target = targetText(right, registry);
  const what = right.kind === ENTITLEMENTS || right.kind === ADMINISTRATION.kind;
  return `${what ? target : `${printable(right.level)} on ${target}`}${remarkText(sign, right)}`;
}

function remarkText(sign: AccessLine["sign"], right: AccessRight): string {
  const { instead } = right;
  const other = instead === undefined ? [] : [`${sign === "+" ? "was" : "keeps"} ${printable(instead)}`];
  return inParentheses([...other, ...pathRemarks(right)]);
}

/** The groups of a right or of a membership. */
export const throughText = (through: readonly string[]): readonly string[] =>
  through.length === 0 ? [] : [`through ${through.map(printable).join(", ")}`];

/** How a principal has a right. */
export function pathRemarks({ through, inheritedFrom, asCreator }: AccessRight): readonly string[] {
  return [
    ...throughText(through),
    ...(inheritedFrom === undefined ? [] : [`from directory ${printable(inheritedFrom)}`]),
    ...(asCreator === true ? ["as its creator"] : []),
  ];
}

export const inParentheses = (remarks: readonly string[]): string =>
  remarks.length === 0 ? "" : ` (${remarks.join("; ")})`;

export function targetText(
  { kind, object }: Pick<AccessRight, "kind" | "object">,
  registry: KindRegistry,
): string {
  if (kind === ADMINISTRATION.kind) return "administrator of the workspace";
  if (kind === ENTITLEMENTS) return `entitlement ${printable(object)}`;
  const singular = registry.find(kind)?.singular ?? kind;
  return `${singular.replace("secret scope", "scope")} ${printable(object)}`;
}
