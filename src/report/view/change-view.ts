// The view of one change for all reports, without colors or layout: its fields with their locations in the spec, its
// remarks, and its severity.

import { type Address, nameOf } from "../../core/address.ts";
import type { Location } from "../../core/diagnostic.ts";
import { type Path, toDottedPath, toPointer } from "../../core/pointer.ts";
import { count } from "../../core/sentences.ts";
import {
  type Action,
  type Change,
  type ContentDiff,
  isOfReplaced,
  type RevertedDrift,
  replacementReason,
  touches,
} from "../../planner/model/change.ts";
import type { ChangeOrigin, DriftOrigin, SplitChange } from "../../planner/model/plan.ts";
import type { FieldTable, Severity, Values } from "../../resource/field-schema.ts";
import type { Kind, KindRegistry } from "../../resource/kind.ts";
import type { FieldDiff } from "../../resource/planning.ts";
import { mostSevere, severityOfDiff, severityOfObject } from "../../resource/severity.ts";
import { printable } from "../text/printable.ts";
import { SIGNS, timeText, VERBS } from "../text/vocabulary.ts";
import { causeText, diffLines, type FieldLine, setLines, withNote } from "./field-lines.ts";
import { moduleEntryOf } from "./graph-groups.ts";

/** `reverts drift of max_capacity that grace@example.com acknowledged until 2026-12-31T23:59:59Z: load test`. */
function revertText({ path, by, until, reason }: RevertedDrift): string {
  const field = path === undefined ? "" : ` of ${toDottedPath(path)}`;
  return `reverts drift${field} that ${by} acknowledged until ${timeText(until)}: ${reason}`;
}

/** Facts about a change that its plan knows. */
interface ChangeContext {
  readonly split?: SplitChange | undefined;
  readonly driftOrigin?: DriftOrigin | undefined;
  readonly cost?: string;
}

/** Each part is made when a report asks for it: all parts of 100,000 changes take more memory than their plan. */
export class ChangeView {
  /** Exact values for machines; `table` says which of them are sensitive. */
  readonly source: Change;
  /** Who changed the object outside the spec, and when. */
  readonly driftOrigin: DriftOrigin | undefined;
  /** What the change costs, as a clause; empty without prices. */
  readonly cost: string;
  readonly #registry: KindRegistry;
  readonly #places: SpecPlaces;
  readonly #split: SplitChange | undefined;

  constructor(
    source: Change,
    registry: KindRegistry,
    places: SpecPlaces,
    { split, driftOrigin, cost = "" }: ChangeContext = {},
  ) {
    this.source = source;
    this.driftOrigin = driftOrigin;
    this.cost = cost;
    this.#registry = registry;
    this.#places = places;
    this.#split = split;
  }

  get action(): Action {
    return this.source.action;
  }

  get kind(): string {
    return this.source.kind;
  }

  get address(): string {
    return this.source.address;
  }

  /** The address; of a move, both: `pools.a to pools.b`. */
  get title(): string {
    const { action, address, movedFrom } = this.source;
    return printable(action === "move" ? `${movedFrom} to ${address}` : address);
  }

  get touches(): boolean {
    return touches(this.source);
  }

  get sign(): string {
    return SIGNS[this.source.action];
  }

  get verb(): string {
    return VERBS[this.source.action];
  }

  get destroys(): boolean {
    return destroys(this.source);
  }

  /** The text after the address. */
  get remarks(): readonly string[] {
    return [...ownRemarks(this.source), ...this.sharedRemarks];
  }

  /** Those that equal changes have, too: a replacement's strategy, a cause outside the spec. */
  get sharedRemarks(): readonly string[] {
    return sharedRemarks(this.source, this.#registry);
  }

  /** Those of them that say how its object is replaced, and which object is replaced or deleted: details. */
  get objectRemarks(): readonly string[] {
    return [...strategyRemarks(this.source), ...idRemarks(this.source, this.#registry)];
  }

  /** The severity of a deletion or replacement, as a remark; in an update, each field has its own. */
  get severityRemarks(): readonly string[] {
    const { action, severity } = this;
    const isWhole = action === "delete" || action === "replace";
    return isWhole && severity !== undefined && severity !== "other" ? [severity] : [];
  }

  /** The address that a change has until now, if it moves the record and changes the object, too. Printable. */
  get formerAddress(): string | undefined {
    return formerAddress(this.source);
  }

  /** The entry of `modules` in its address. */
  get module(): string | undefined {
    return moduleEntryOf(this.source.address, this.#registry);
  }

  /** Where the spec declares the resource; undefined for what it does not declare. */
  get at(): SpecPlace | undefined {
    return this.#places(this.source.address);
  }

  get fields(): readonly FieldLine[] {
    return fieldLines(this.source, this.#registry, this.fieldOrigins);
  }

  /** What a creation sets, each field with its place. */
  get setFields(): readonly SetField[] {
    const { action, address } = this.source;
    if (action !== "create") return [];
    return Object.keys(this.source.after).map((name) => ({
      path: [name],
      at: this.#places(address, [name]),
    }));
  }

  /** The diff of a string as lines of a unified diff; truncated where it would bury the plan. */
  get content(): readonly string[] {
    return this.source.action === "update" ? contentLines(this.source.content) : [];
  }

  /** The same with all lines, and of a creation all lines of its text. */
  get wholeContent(): readonly string[] {
    return "content" in this.source ? contentLines(this.source.content, Number.POSITIVE_INFINITY) : [];
  }

  get reasons(): readonly string[] {
    return this.source.reasons.map(printable);
  }

  /** Those that its fields do not say: a field that forces the replacement has a note. */
  get otherReasons(): readonly string[] {
    const { source } = this;
    const noted =
      source.action === "replace" ? source.because.map(({ path }) => replacementReason(path)) : [];
    return source.reasons.filter((reason) => !noted.includes(reason)).map(printable);
  }

  /** With the acknowledged drift that it reverts, which comes first. */
  get consequences(): readonly string[] {
    return [...this.reverts.map(revertText), ...this.source.consequences].map(printable);
  }

  get reverts(): readonly RevertedDrift[] {
    return this.source.reverts ?? [];
  }

  /** Undefined if it does not affect the workspace. A replacement deletes the object, so it is at least as severe. */
  get severity(): Severity | undefined {
    const { action } = this.source;
    const fields = this.differences.map(({ severity }) => severity);
    if (action === "update") return mostSevere(fields);
    const whole = severityOfObject(this.#registry.of(this.source.address));
    if (action === "replace") return mostSevere([...fields, whole]);
    return action === "create" || action === "delete" || action === "compare" ? whole : undefined;
  }

  /** In a plan that was compared with a base: whether this change is caused by the spec's change, or was pending. */
  get origin(): ChangeOrigin | undefined {
    return this.#split?.origin;
  }

  /** Of a change that was pending in part: where each field comes from. Else empty. */
  get fieldOrigins(): SplitChange["fields"] {
    return this.#split?.fields ?? [];
  }

  get differences(): readonly RatedDiff[] {
    const { source } = this;
    if (source.action !== "update" && source.action !== "replace") return [];
    const provider = this.#registry.of(source.address);
    return source.diffs.map((diff) => ratedDiff(provider, source.address, diff, this.#places));
  }

  get table(): FieldTable {
    return this.#registry.of(this.source.address).fields;
  }
}

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

function fieldLines(
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
  const later = new Set(
    "unresolved" in change ? change.unresolved.map((reference) => toPointer(reference.path)) : [],
  );
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
    case "import":
    case "move":
    case "forget":
    case "compare":
    case "noop":
    case "report":
      return [];
  }
  return change satisfies never;
}

/** Whether a change deletes an object; a replacement that keeps the old one does not. */
function destroys(change: Change): boolean {
  return change.action === "delete" || (change.action === "replace" && change.keepsOld !== true);
}

/** The natural name follows the address if it differs; a field with the same name would repeat it. */
function withoutName(
  change: Extract<Change, { readonly action: "create" }>,
  nameField: string | undefined,
): Values {
  if (nameField === undefined) return change.after;
  const { [nameField]: _name, ...rest } = change.after;
  return rest;
}

function formerAddress({ action, movedFrom }: Change): string | undefined {
  return action === "move" || movedFrom === undefined ? undefined : printable(movedFrom);
}

/** The former address, and the natural name if it differs. */
function ownRemarks(change: Change): readonly string[] {
  const former = formerAddress(change);
  return [
    ...(former === undefined ? [] : [`moved from ${former}`]),
    ...(change.name === nameOf(change.address) ? [] : [`named ${printable(JSON.stringify(change.name))}`]),
  ];
}

export const REPLACED_OBJECT = "a replaced object of this address";

function sharedRemarks(change: Change, registry: KindRegistry): readonly string[] {
  const remarks: string[] = [];
  if (isOfReplaced(change)) remarks.push(REPLACED_OBJECT);
  remarks.push(...strategyRemarks(change));
  if ("nameFrom" in change && change.nameFrom !== undefined)
    remarks.push(`takes the name of ${printable(change.nameFrom.address)}`);
  remarks.push(...idRemarks(change, registry));
  if (change.action === "compare") remarks.push("written if its value differs");
  if (change.cause !== "spec" && change.action !== "report") remarks.push(causeText(change.cause));
  return remarks;
}

function strategyRemarks(change: Change): readonly string[] {
  if (change.action !== "replace") return [];
  return [change.keepsOld === true ? KEPT : REPLACING[change.replacing]];
}

function idRemarks(change: Change, registry: KindRegistry): readonly string[] {
  if (change.action !== "delete" && change.action !== "replace") return [];
  return registry.of(change.address).nameField === undefined ? [] : [`id ${printable(change.id)}`];
}

const KEPT = "rename the old object and keep it";

const REPLACING = {
  "create-first": "create the new object first",
  "rename-aside": "rename the old object, then delete it last",
  "delete-first": "delete the old object first",
} as const;

/** A small change in a large file is shown completely; of a rewritten file, the beginning is shown. */
const MOST_LINES = 60;

export function contentLine({ added, removed }: ContentDiff): FieldLine {
  return { label: "content", text: `${count(added, "line")} added, ${removed} removed` };
}

export function contentLines(content: ContentDiff | undefined, most = MOST_LINES): readonly string[] {
  const lines = content?.lines ?? [];
  const shown = lines.slice(0, most).map((line) => printable(line.replaceAll("\t", "  ")));
  return lines.length > most ? [...shown, `… ${lines.length - most} more lines`] : shown;
}
