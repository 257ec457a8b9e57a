// Who can do what: the rights of a principal by object, or of an object by level, as a view, as text, and as JSON.

import { SENSITIVE_TEXT } from "../../core/sensitive/texts.ts";
import { count } from "../../core/sentences.ts";
import type { ObjectAccess, PrincipalAccess } from "../../planner/effective-access/held-rights.ts";
import { type AccessRight, rightJson } from "../../planner/model/plan.ts";
import { ADMINISTRATION, ADMINISTRATORS, ENTITLEMENTS, type PrincipalKind } from "../../resource/access.ts";
import type { KindRegistry } from "../../resource/kind.ts";
import { printable } from "../text/printable.ts";
import type { Colors } from "../text/terminal.ts";
import { inParentheses, pathRemarks, subjectOf, targetText, throughText } from "../view/access-view.ts";
import {
  type AnswerFact,
  type AnswerSection,
  type AnswerView,
  type RightItem,
  rightText,
} from "../view/answer-view.ts";

export interface AnsweredAccess {
  readonly answer: (PrincipalAccess | ObjectAccess) & { readonly notRead: readonly string[] };
  readonly of: "live" | "spec" | "plan";
  /** Empty for the spec alone. */
  readonly host: string;
  /** Lists the members of groups one by one. */
  readonly expand: boolean;
  readonly registry: KindRegistry;
}

export interface AccessAnswerView extends AnswerView {
  /** What the title begins with. */
  readonly subject: string;
  readonly source: AnsweredAccess;
}

export function accessAnswerView(source: AnsweredAccess): AccessAnswerView {
  const { answer, of } = source;
  const { subject, about, facts, sections } =
    answer.subject === "principal" ? principalParts(answer, source) : objectParts(answer, source);
  const notRead = answer.notRead.map(
    (what): AnswerFact => ({ label: "not read", values: [printable(what)] }),
  );
  return {
    title: `${subject}${about} ${BASES[of]}`,
    subject,
    facts: [...facts, ...notRead],
    sections,
    source,
  };
}

const BASES: Readonly<Record<AnsweredAccess["of"], string>> = {
  live: "in the live workspace",
  spec: "by the spec alone",
  plan: "after the plan",
};

interface AnswerParts extends Pick<AnswerView, "facts" | "sections"> {
  readonly subject: string;
  readonly about: string;
}

function principalParts(access: PrincipalAccess, { registry }: AnsweredAccess): AnswerParts {
  const { name, kind, people, isActive, isAdministrator, memberOf, rights } = access;
  const size = people === undefined ? "" : `, ${count(people, "person", "people")}`;
  const head = { subject: printable(name), about: ` (${PRINCIPALS[kind]}${size})` };
  if (isActive === false)
    return {
      ...head,
      facts: [{ label: "rights", values: ["none, because the principal is inactive"] }],
      sections: [],
    };
  const groups = memberOf.map(
    ({ group, through }) => `${printable(group)}${inParentheses(throughText(through))}`,
  );
  const through = memberOf.find(({ group }) => group === ADMINISTRATORS)?.through ?? [];
  const administrator = `can do everything${inParentheses(throughText(through))}`;
  const isEmpty = rights.length === 0 && !isAdministrator;
  return {
    ...head,
    facts: [
      ...(isActive === undefined ? [HIDDEN_ACTIVITY] : []),
      ...(groups.length === 0 ? [] : [{ label: "member of", values: groups }]),
      ...(isAdministrator ? [{ label: "administrator", values: [administrator] }] : []),
      ...(isEmpty ? [NO_RIGHTS] : []),
    ],
    sections: [...Map.groupBy(rights, (right) => right.kind)].map(([title, own]) => ({
      title,
      what: "right",
      items: own.map(itemOf),
    })),
  };

  function itemOf(right: AccessRight): RightItem {
    const isRight = registry.find(right.kind) !== undefined;
    const name =
      isRight || right.kind === ENTITLEMENTS ? printable(right.object) : targetText(right, registry);
    const word = isRight ? printable(right.level) : "";
    return { name, word, remark: inParentheses(pathRemarks(right)), kind: right.kind, level: right.level };
  }
}

const HIDDEN_ACTIVITY: AnswerFact = {
  label: "active",
  values: [`${SENSITIVE_TEXT}; the rights are those of an active principal`],
};

const NO_RIGHTS: AnswerFact = { label: "rights", values: ["none"] };

const PRINCIPALS: Readonly<Record<PrincipalKind, string>> = {
  user: "user",
  group: "group",
  service_principal: "service principal",
};

function objectParts(
  { target, administrators, rights }: ObjectAccess,
  { registry, expand }: AnsweredAccess,
): AnswerParts {
  const levels = Map.groupBy(shown(rights, expand), ({ level }) => level);
  const sections = [...levels].map(([level, own]) => sectionOf(printable(level), own));
  const isRole = target.kind === ADMINISTRATION.kind;
  const roles = isRole
    ? []
    : [sectionOf("administrators, who can do everything", shown(administrators, expand))];
  return {
    subject: targetText({ kind: target.kind, object: target.name }, registry),
    about: "",
    facts: sections.length === 0 ? [NO_RIGHTS] : [],
    sections: [...sections, ...roles],
  };

  function sectionOf(title: string, own: readonly AccessRight[]): AnswerSection {
    const items = own.map((right): RightItem => {
      const { principalKind, level } = right;
      const remark = inParentheses(pathRemarks(right));
      return { name: subjectOf(right), word: "", remark, kind: PRINCIPALS[principalKind], level };
    });
    return { title, what: "principal", items };
  }
}

/** Members of a group have its line, if they have no higher right in another way. */
function shown(rights: readonly AccessRight[], expand: boolean): readonly AccessRight[] {
  return expand
    ? rights
    : rights.filter(({ principalKind, through }) => principalKind === "group" || through.length === 0);
}

export function accessText({ title, subject, facts, sections }: AccessAnswerView, colors: Colors): string {
  const lines = [
    `${colors.bold(subject)}${title.slice(subject.length)}:`,
    ...facts.map(({ label, values }) => `  ${label}: ${values.join(", ")}`),
    ...sections.flatMap((section) => [
      `  ${section.title}:`,
      ...section.items.flatMap((item) => ("name" in item ? `    ${rightText(item)}` : [])),
    ]),
  ];
  return `${lines.join("\n")}\n`;
}

export function accessAnswerJson({
  source: { answer, of, host },
}: AccessAnswerView): Record<string, unknown> {
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
