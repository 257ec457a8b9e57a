// The report of a conversion: the parts of a Terraform state that are not in the spec, with the reason for each.

import { defined, type JsonObject } from "../../core/json.ts";
import { type Path, toDottedPath } from "../../core/pointer.ts";
import { count, grouped } from "../../core/sentences.ts";
import { printable } from "../text/printable.ts";

interface LeftView {
  readonly terraform: string;
  readonly at: Path;
  readonly reason: string;
}

export interface ConversionView {
  readonly resources: number;
  readonly converted: readonly {
    readonly terraform: string;
    readonly address: string;
    readonly id: string;
  }[];
  readonly left: readonly LeftView[];
  readonly attributes: readonly (LeftView & { readonly attribute: Path })[];
  readonly notes: readonly { readonly terraform: string; readonly text: string }[];
  readonly variables: readonly string[];
  readonly sensitiveVariables: readonly string[];
  /** The spec and the files next to it that were written. */
  readonly written: readonly string[];
  /** The spec itself, if it was not written to a file. */
  readonly spec?: string;
  readonly unwritten: number;
}

export function conversionText(view: ConversionView): string {
  const { resources, converted, left, attributes, notes, variables, sensitiveVariables, unwritten } = view;
  const lines = [
    ...section("Not converted:", left, (leftView) => [
      `${leftView.terraform} (${toDottedPath(leftView.at)})`,
      leftView.reason,
    ]),
    ...section("Attributes whose values are not in the spec:", attributes, (omission) => [
      `${omission.terraform}: ${toDottedPath(omission.attribute)}`,
      omission.reason,
    ]),
    ...section("Check in the plan:", notes, (note) => [note.terraform, note.text]),
    ...(variables.length === 0
      ? []
      : [
          `Secret values are not converted. Set these variables for apply: ${variables.join(", ")}.`,
          "The first apply writes their values to the workspace.",
          "",
        ]),
    ...(sensitiveVariables.length === 0
      ? []
      : [
          "Values that Terraform marks as sensitive are not converted. Set these variables for every command:",
          ...sensitiveVariables.map((name) => `  ${name}`),
          "",
        ]),
    ...(unwritten === 0
      ? []
      : [
          `The contents of ${count(unwritten, "notebook or file", "notebooks and files")} were not written; pass --out FOLDER.`,
          "",
        ]),
    `Converted ${grouped(resources - left.length)} of ${count(resources, "Terraform resource")} to ${count(converted.length, "resource")} of a spec.`,
    ...(attributes.length === 0
      ? []
      : [`Not in the spec: values of ${count(attributes.length, "attribute")}.`]),
  ];
  return `${lines.map((line) => printable(line)).join("\n")}\n`;
}

/** Items with the same reason are listed above it. */
function section<T>(
  heading: string,
  all: readonly T[],
  of: (item: T) => readonly [item: string, reason: string],
): string[] {
  if (all.length === 0) return [];
  const groups = Map.groupBy(all.map(of), ([, reason]) => reason);
  const lines = [...groups].flatMap(([reason, items]) => [
    ...items.map(([item]) => `  ${item}`),
    `      ${reason}`,
  ]);
  return [heading, ...lines, ""];
}

export function conversionJson(view: ConversionView): JsonObject {
  const leftJson = ({ terraform, at, reason }: LeftView) => ({ terraform, at: toDottedPath(at), reason });
  return {
    resources: view.resources,
    converted: view.converted.map(({ terraform, address, id }) => ({ terraform, address, id })),
    not_converted: view.left.map(leftJson),
    attributes: view.attributes.map((attribute) => ({
      ...leftJson(attribute),
      attribute: toDottedPath(attribute.attribute),
    })),
    notes: view.notes.map(({ terraform, text }) => ({ terraform, text })),
    variables: [...view.variables],
    sensitive_variables: [...view.sensitiveVariables],
    written: [...view.written],
    ...defined({ spec: view.spec }),
  };
}
