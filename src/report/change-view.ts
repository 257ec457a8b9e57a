// One change as a reader should see it, without colours or layout: the text and Markdown forms are made from this.

import { nameOf } from "../core/address.ts";
import { toPointer } from "../core/pointer.ts";
import type { Action, Change } from "../planner/change.ts";
import type { Values } from "../resource/fields.ts";
import type { Registry } from "../resource/registry.ts";
import { contentLine, contentLines } from "./content-lines.ts";
import { causeText, diffLines, type FieldLine, setLines } from "./field-lines.ts";
import { printable } from "./printable.ts";
import { destroys } from "./summary.ts";
import { SIGNS } from "./words.ts";

export interface ChangeView {
  readonly action: Action;
  readonly sign: string;
  readonly verb: string;
  readonly address: string;
  /** Whether it takes an object away. */
  readonly destroys: boolean;
  /** What stands behind the address: the natural name where it differs, how a replace goes, why a change is not the spec's. */
  readonly remarks: readonly string[];
  readonly fields: readonly FieldLine[];
  /** What changes in a text, as lines of a unified diff; cut where it would bury the plan. */
  readonly content: readonly string[];
  /** The rules behind a change, as sentences. */
  readonly reasons: readonly string[];
  /** What the change does to people, as sentences. */
  readonly consequences: readonly string[];
}

const VERBS: Readonly<Record<Action, string>> = {
  create: "create",
  update: "update",
  replace: "replace",
  delete: "DELETE",
  adopt: "adopt",
  forget: "forget",
  noop: "keep",
  report: "found",
};

export function changeView(change: Change, registry: Registry): ChangeView {
  return {
    action: change.action,
    sign: SIGNS[change.action],
    verb: VERBS[change.action],
    address: printable(change.address),
    destroys: destroys(change),
    remarks: remarks(change, registry),
    fields: fieldLines(change, registry),
    content: change.action === "update" ? contentLines(change.content) : [],
    reasons: change.reasons.map(printable),
    consequences: change.consequences.map(printable),
  };
}

function fieldLines(change: Change, registry: Registry): readonly FieldLine[] {
  const { fields, nameField } = registry.of(change.address);
  switch (change.action) {
    case "create":
      return setLines(
        fields,
        withoutName(change, nameField),
        new Set(change.unresolved.map((one) => toPointer(one.path))),
      );
    case "update":
    case "replace": {
      const later = new Set(change.unresolved.map((one) => toPointer(one.path)));
      const content = change.action === "update" ? change.content : undefined;
      return change.diffs.flatMap((diff) => {
        if (content !== undefined && diff.path[0] === "content") return [contentLine(content)];
        return diffLines(
          fields,
          later.has(toPointer(diff.path)) ? { ...diff, unknown: true } : diff,
          change.cause,
        );
      });
    }
    case "delete":
    case "adopt":
    case "forget":
    case "noop":
    case "report":
      return [];
  }
  return change satisfies never;
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

function remarks(change: Change, registry: Registry): readonly string[] {
  const found: string[] = [];
  if (change.name !== nameOf(change.address)) found.push(`named ${printable(JSON.stringify(change.name))}`);
  if (change.action === "delete" && change.deposed === true) found.push("an old object of this address");
  if (change.action === "replace") found.push(change.keepsOld === true ? KEPT : REPLACING[change.replacing]);
  if (change.action === "update") found.push(...stepNames(change.steps.map((step) => step.operation)));
  if (
    (change.action === "delete" || change.action === "replace") &&
    registry.of(change.address).nameField !== undefined
  )
    found.push(`id ${printable(change.id)}`);
  if (change.cause !== "spec" && change.action !== "report") found.push(causeText(change.cause));
  return found;
}

const KEPT = "the old one is renamed aside, and stays";

const REPLACING = {
  "create-first": "the new one is created first",
  "rename-aside": "the old one is renamed aside, and goes last",
  "delete-first": "the old one goes first",
} as const;

/** The usual way of a kind to change something. */
const PLAIN_STEPS = new Set(["update", "edit", "reset", "put", "patch"]);

/** The operations of an update, where they say more than "update". */
function stepNames(operations: readonly string[]): readonly string[] {
  const names = [...new Set(operations)].filter((name) => !PLAIN_STEPS.has(name));
  return names.length === 0 ? [] : [`by ${names.map(printable).join(", ")}`];
}
