// Who can do what, as text and as JSON: the rights of a principal by object, or of an object by level.

import { count } from "../../core/sentences.ts";
import type { ObjectAccess, PrincipalAccess } from "../../planner/access/held-rights.ts";
import { type AccessRight, rightJson } from "../../planner/model/access.ts";
import { ADMINISTRATION, ADMINISTRATORS, ENTITLEMENTS } from "../../resource/access.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { printable } from "../text/printable.ts";
import type { Colors } from "../text/terminal.ts";
import { inParentheses, pathRemarks, subjectOf, targetText, throughText } from "../view/access-view.ts";

export interface AnsweredAccess {
  readonly answer: (PrincipalAccess | ObjectAccess) & { readonly notRead: readonly string[] };
  readonly of: "live" | "spec" | "plan";
  /** Empty for the spec alone. */
  readonly host: string;
  /** Lists the members of groups one by one. */
  readonly expand: boolean;
  readonly registry: KindRegistry;
}

export function accessText(answered: AnsweredAccess, colors: Colors): string {
  const { answer } = answered;
  const lines =
    answer.subject === "principal"
      ? principalLines(answer, answered, colors)
      : objectLines(answer, answered, colors);
  const notRead = answer.notRead.map((what) => colors.dim(`  not read: ${printable(what)}`));
  return `${[...lines, ...notRead].join("\n")}\n`;
}

const BASES: Readonly<Record<AnsweredAccess["of"], string>> = {
  live: "in the live workspace",
  spec: "by the spec alone",
  plan: "after the plan",
};

function principalLines(
  access: PrincipalAccess,
  { of, registry }: AnsweredAccess,
  colors: Colors,
): readonly string[] {
  const { name, kind, people, isActive, isAdministrator, memberOf, rights } = access;
  const size = people === undefined ? "" : `, ${count(people, "person", "people")}`;
  const head = `${colors.bold(printable(name))} (${kind.replace("_", " ")}${size}) ${BASES[of]}:`;
  if (!isActive) return [head, "  inactive, so it has no rights"];
  const admins = memberOf.find(({ group }) => group === ADMINISTRATORS);
  const groups = memberOf.map(
    ({ group, through }) => `${printable(group)}${inParentheses(throughText(through))}`,
  );
  const byKind = Map.groupBy(rights, (right) => right.kind);
  const sections = [...byKind].flatMap(([own, list]) => [
    `  ${own}:`,
    ...list.map((right) => `    ${rightLine(right)}`),
  ]);
  const administrator = isAdministrator
    ? [
        `  administrator of the workspace${inParentheses(throughText(admins?.through ?? []))}: can do everything`,
      ]
    : [];
  const isEmpty = rights.length === 0 && !isAdministrator;
  return [
    head,
    ...(groups.length === 0 ? [] : [`  member of: ${groups.join(", ")}`]),
    ...administrator,
    ...sections,
    ...(isEmpty ? ["  no rights"] : []),
  ];

  function rightLine(right: AccessRight): string {
    const path = inParentheses(pathRemarks(right));
    if (right.kind === ENTITLEMENTS) return `${printable(right.object)}${path}`;
    if (registry.find(right.kind) === undefined) return `${targetText(right, registry)}${path}`;
    return `${printable(right.object)}: ${printable(right.level)}${path}`;
  }
}

function objectLines(
  { target, administrators, rights }: ObjectAccess,
  { of, registry, expand }: AnsweredAccess,
  colors: Colors,
): readonly string[] {
  const head = `${colors.bold(targetText({ kind: target.kind, object: target.name }, registry))} ${BASES[of]}:`;
  const levels = Map.groupBy(shown(rights, expand), ({ level }) => level);
  const sections = [...levels].flatMap(([level, list]) => [
    ...(target.kind === ENTITLEMENTS ? [] : [`  ${printable(level)}:`]),
    ...list.map((right) => `    ${subjectOf(right)}${inParentheses(pathRemarks(right))}`),
  ]);
  const isRole = target.kind === ADMINISTRATION.kind;
  const administratorLines = isRole
    ? []
    : [
        "  administrators, who can do everything:",
        ...shown(administrators, expand).map(
          (right) => `    ${subjectOf(right)}${inParentheses(pathRemarks(right))}`,
        ),
      ];
  return [
    head,
    ...(sections.length === 0 ? ["  no principal has a right on it"] : sections),
    ...administratorLines,
  ];
}

/** Members of a group have its line, if they have no higher right in another way. */
function shown(rights: readonly AccessRight[], expand: boolean): readonly AccessRight[] {
  return expand
    ? rights
    : rights.filter(({ principalKind, through }) => principalKind === "group" || through.length === 0);
}

export function accessAnswerJson({ answer, of, host }: AnsweredAccess): Record<string, unknown> {
  const base = { of, host: host === "" ? undefined : host, subject: answer.subject };
  const rights = answer.rights.map((right) => rightJson(right));
  const notRead = answer.notRead;
  if (answer.subject === "object") {
    const { kind, name } = answer.target;
    const administrators = answer.administrators.map((right) => rightJson(right));
    return { ...base, kind, name, rights, administrators, not_read: notRead };
  }
  const { kind, name, people, isActive, isAdministrator, memberOf } = answer;
  return {
    ...base,
    kind,
    name,
    people,
    active: isActive,
    administrator: isAdministrator,
    member_of: memberOf,
    rights,
    not_read: notRead,
  };
}
