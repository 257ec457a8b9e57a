// An answer about one resource, principal, or object: facts and sections, the same in text, in Markdown, and on a page.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count } from "../../core/sentences.ts";
import type { FieldLine } from "./field-lines.ts";

export interface AnswerView {
  /** `bob@example.com (user) in the live workspace`. */
  readonly title: string;
  readonly facts: readonly AnswerFact[];
  readonly sections: readonly AnswerSection[];
}

export interface AnswerFact {
  /** `member of`, `because`. */
  readonly label: string;
  readonly values: readonly string[];
  /** A reader must not miss it. */
  readonly isWarning?: true;
}

export interface AnswerSection {
  readonly title: string;
  /** The name of one item in a count: `right`, `field`. */
  readonly what: string;
  readonly items: readonly AnswerItem[];
}

/** A right, a difference of fields with what decides it, a finding, or a line. */
export type AnswerItem = RightItem | FieldsItem | { readonly finding: Diagnostic } | LineItem;

export interface RightItem {
  readonly name: string;
  /** The level, if the section has rights of several levels. */
  readonly word: string;
  /** How the principal has the right, in parentheses; empty for a direct right. */
  readonly remark: string;
  /** What a page filters by: the kind of the object or of the principal, and the level. */
  readonly kind: string;
  readonly level: string;
}

export interface FieldsItem {
  /** Of a recorded run. Other differences are those of the resource that the title names. */
  readonly change?: { readonly action: string; readonly address: string };
  readonly fields: readonly FieldLine[];
  readonly details: readonly string[];
}

export interface LineItem {
  readonly line: string;
  readonly details: readonly string[];
}

/** `etl: READ (through data-eng)`. */
export function rightText({ name, word, remark }: RightItem): string {
  return `${name}${word === "" ? "" : `: ${word}`}${remark}`;
}

/** The title; of rights, also their number. */
export function headingOf({ title, what, items }: AnswerSection): string {
  const isOfRights = items.some((item) => "name" in item);
  return isOfRights ? `${title}: ${count(items.length, what)}` : title;
}
