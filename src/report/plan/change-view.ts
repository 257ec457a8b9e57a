// The view of one change for all reports, without colors or layout.

import { toDottedPath } from "../../core/pointer.ts";
import { type Action, type Change, type RevertedDrift, touches } from "../../planner/model/change.ts";
import type { ChangeOrigin, SplitChange } from "../../planner/model/split.ts";
import type { FieldTable, Severity } from "../../resource/field-schema.ts";
import type { KindRegistry } from "../../resource/registry.ts";
import { mostSevere, severityOfObject } from "../../resource/severity.ts";
import { printable } from "../text/printable.ts";
import { SIGNS, timeText } from "../text/vocabulary.ts";
import {
  contentLines,
  destroys,
  fieldLines,
  type RatedDiff,
  ratedDiff,
  remarksOf,
  type SetField,
  type SpecPlace,
  type SpecPlaces,
} from "./change-fields.ts";
import type { FieldLine } from "./field-lines.ts";

const VERBS: Readonly<Record<Action, string>> = {
  create: "create",
  update: "update",
  replace: "replace",
  delete: "DELETE",
  adopt: "adopt",
  forget: "forget",
  compare: "compare",
  noop: "keep",
  report: "found",
};

/** `reverts drift of max_capacity that grace@example.com acknowledged until 2026-12-31T23:59:59Z: load test`. */
function revertText({ path, by, until, reason }: RevertedDrift): string {
  const field = path === undefined ? "" : ` of ${toDottedPath(path)}`;
  return `reverts drift${field} that ${by} acknowledged until ${timeText(until)}: ${reason}`;
}

/** Each part is made when a report asks for it: all parts of 100,000 changes take more memory than their plan. */
export class ChangeView {
  /** Exact values for machines; `table` says which of them are sensitive. */
  readonly source: Change;
  /** Who changed the object outside the spec, and when, as a sentence; empty if unknown. */
  readonly driftOrigin: string;
  readonly #registry: KindRegistry;
  readonly #places: SpecPlaces;
  readonly #split: SplitChange | undefined;

  constructor(
    source: Change,
    registry: KindRegistry,
    places: SpecPlaces,
    split?: SplitChange,
    driftOrigin = "",
  ) {
    this.source = source;
    this.driftOrigin = driftOrigin;
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

  /** The text after the address: the natural name if it differs, a replacement's strategy, a cause outside the spec. */
  get remarks(): readonly string[] {
    return remarksOf(this.source, this.#registry);
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

  get reasons(): readonly string[] {
    return this.source.reasons.map(printable);
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
