// The access that a plan changes, as lines by principal or by object: equal rights of several principals are one line.

import { count, firstFew, grouped } from "../../core/sentences.ts";
import type { AccessDiff, AccessRight } from "../../planner/model/plan.ts";
import { ADMINISTRATION, ENTITLEMENTS } from "../../resource/access.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { printable } from "../text/printable.ts";

export type AccessGrouping = "principal" | "object";

/** Printable. */
export interface AccessLine {
  readonly sign: "+" | "-";
  readonly verb: "gains" | "loses";
  /** `everyone in users (212 people)`, or `job nightly` if the lines are by object. */
  readonly head: string;
  /** `READ on scope etl (through data-eng)`. */
  readonly items: readonly string[];
  /** The most important items in one line. */
  readonly brief: string;
  /** Lines with the highest number are shown where not all are. */
  readonly importance: number;
}

export interface AccessView {
  /** `Effective access: 2 rights gained, 1 right lost`. */
  readonly title: string;
  /** Equal rights on several objects of a kind are one item. */
  readonly lines: readonly AccessLine[];
  /** The same with an item for each object; the same array if nothing is folded. */
  readonly allLines: readonly AccessLine[];
  readonly notCompared: readonly string[];
  readonly source: AccessDiff;
}

/** Names in a line that is about several principals or objects; more objects are one item. */
const MOST_NAMED = 3;

const VERB = { "+": "gains", "-": "loses" } as const;

/** So many lines are open above the changes of a page or a comment. */
const MOST_SHOWN = 5;

export function accessView(diff: AccessDiff, registry: KindRegistry, by: AccessGrouping): AccessView {
  const { gained, lost, notCompared } = diff;
  const linesOf = by === "principal" ? linesByPrincipal : linesByObject;
  const linesOfAll = (isFolded: boolean) => [
    ...linesOf("+", gained, registry, isFolded),
    ...linesOf("-", lost, registry, isFolded),
  ];
  const [lines, allLines] = [linesOfAll(true), linesOfAll(false)];
  const parts = [
    ...(gained.length === 0 ? [] : [`${count(gained.length, "right")} gained`]),
    ...(lost.length === 0 ? [] : [`${count(lost.length, "right")} lost`]),
  ];
  return {
    title: `Effective access: ${parts.length === 0 ? "no right that was read changes" : parts.join(", ")}`,
    lines,
    allLines: itemsOf(lines) === itemsOf(allLines) ? lines : allLines,
    notCompared: notCompared.map(printable),
    source: diff,
  };
}

const itemsOf = (lines: readonly AccessLine[]): number =>
  lines.reduce((sum, { items }) => sum + items.length, 0);

/** Administrators first, then rights to manage, then what most people have. */
function importanceOf({ kind, level, people = 1, affected = people }: AccessRight): number {
  const rank = kind === ADMINISTRATION.kind ? 2 : /(^|_)(MANAGE|OWNER)$/.test(level) ? 1 : 0;
  return rank + affected / (affected + 1);
}

const mostImportant = (rights: readonly AccessRight[]): number =>
  rights.reduce((most, right) => Math.max(most, importanceOf(right)), 0);

const byImportance = (a: AccessRight, b: AccessRight): number => importanceOf(b) - importanceOf(a);

/** `isShortened`: `allLines` has more. `others`: the lines that are not shown. */
export interface ShownAccess {
  readonly shown: readonly AccessLine[];
  readonly others: readonly AccessLine[];
  readonly isShortened: boolean;
}

/** What a report shows of the access at any size of a plan; a page or a comment has fewer rows than text. */
export function shownAccess({ lines, allLines }: AccessView, mostRows = MOST_SHOWN): ShownAccess {
  const rows = lines.reduce((sum, { items }) => sum + (items.length === 1 ? 1 : 1 + items.length), 0);
  if (rows <= mostRows) return { shown: lines, others: [], isShortened: lines !== allLines };
  const most = lines.toSorted((a, b) => b.importance - a.importance).slice(0, mostRows);
  const [shown = [], others = []] = [true, false].map((isShown) =>
    lines.filter((line) => most.includes(line) === isShown),
  );
  return { shown: shown.map((line) => ({ ...line, items: [line.brief] })), others, isShortened: true };
}

function firstItems(items: readonly string[]): string {
  const rest = items.length - 2;
  return rest <= 0 ? items.join("; ") : `${items.slice(0, 2).join("; ")}; and ${grouped(rest)} more`;
}

/** Principals with the same rights share a line; a group, which is many already, has its own. */
function linesByPrincipal(
  sign: AccessLine["sign"],
  rights: readonly AccessRight[],
  registry: KindRegistry,
  isFolded: boolean,
): readonly AccessLine[] {
  const own = Map.groupBy(rights, subjectOf);
  const alike = Map.groupBy(own, ([subject, rights]) =>
    rights[0]?.principalKind === "group"
      ? subject
      : JSON.stringify(rights.map((right) => rightText(sign, right, registry))),
  );
  return [...alike.values()].map((group) => {
    const rights = group[0]?.[1] ?? [];
    const textsOf = (rights: readonly AccessRight[]) => rightTexts(sign, rights, registry, isFolded);
    return {
      sign,
      verb: VERB[sign],
      head: firstFew(group, MOST_NAMED, ([subject]) => subject),
      items: textsOf(rights),
      brief: firstItems(textsOf(rights.toSorted(byImportance))),
      importance: mostImportant(rights),
    };
  });
}

/** `READ on scope etl`, or `READ on 40 scopes: etl, ml, ops, and 37 more`. */
function rightTexts(
  sign: AccessLine["sign"],
  rights: readonly AccessRight[],
  registry: KindRegistry,
  isFolded: boolean,
): readonly string[] {
  const alike = Map.groupBy(rights, (right) =>
    isFolded && isOnObject(right)
      ? JSON.stringify([right.kind, right.level, remarkText(sign, right)])
      : right,
  );
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || group.length <= MOST_NAMED)
      return group.map((right) => rightText(sign, right, registry));
    const objects = `${objectCount(first, group)}: ${firstFew(group, MOST_NAMED, objectOf)}`;
    return [`${printable(first.level)} on ${objects}${remarkText(sign, first)}`];
  });
}

/** `40 scopes`: the name of a kind is a plural. */
function objectCount({ kind }: AccessRight, { length }: readonly unknown[]): string {
  return `${grouped(length)} ${printable(kind)}`;
}

const objectOf = ({ object }: AccessRight): string => printable(object);

function linesByObject(
  sign: AccessLine["sign"],
  rights: readonly AccessRight[],
  registry: KindRegistry,
  isFolded: boolean,
): readonly AccessLine[] {
  const own = Map.groupBy(rights, (right) => targetText(right, registry));
  const objects = [...own].sort().map(([target, rights]) => {
    const levels = Map.groupBy(rights, (right) => {
      const { level, kind } = right;
      return `${kind === ENTITLEMENTS ? "" : `${printable(level)}: `}\n${remarkText(sign, right)}`;
    });
    const items = [...levels].map(([text, group]) => {
      const [level = "", remark = ""] = text.split("\n");
      const item = `${level}${firstFew(group, MOST_NAMED, subjectOf)}${remark}`;
      return { item, importance: mostImportant(group) };
    });
    const most = items.toSorted((a, b) => b.importance - a.importance);
    return {
      rights,
      line: {
        sign,
        verb: VERB[sign],
        head: target,
        items: items.map(({ item }) => item),
        brief: firstItems(most.map(({ item }) => item)),
        importance: most[0]?.importance ?? 0,
      },
    };
  });
  const alike = Map.groupBy(objects, ({ rights: [right], line }) =>
    isFolded && right !== undefined && isOnObject(right) ? JSON.stringify([right.kind, line.items]) : line,
  );
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    const firstRights = group.flatMap(({ rights }) => rights.slice(0, 1));
    const [right] = firstRights;
    if (first === undefined || right === undefined || group.length <= MOST_NAMED)
      return group.map(({ line }) => line);
    const head = `${objectCount(right, group)} (${firstFew(firstRights, MOST_NAMED, objectOf)})`;
    return [{ ...first.line, head }];
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
  const what = isOnObject(right) ? `${printable(right.level)} on ${target}` : target;
  return `${what}${remarkText(sign, right)}`;
}

const isOnObject = ({ kind }: AccessRight): boolean => kind !== ENTITLEMENTS && kind !== ADMINISTRATION.kind;

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
