// The planning rules of a kind: pure functions of the spec, live objects, and the plan.

import type { Address, RemoteId } from "../core/address.ts";
import type { Code } from "../core/codes.ts";
import type { JsonObject } from "../core/json.ts";
import type { Path } from "../core/pointer.ts";
import type { Place } from "../core/sensitive/places.ts";
import type { AccessPlanning } from "./access.ts";
import type { Compute } from "./compute.ts";
import type { FieldDialect, Values } from "./field-schema.ts";
import type { LiveObject } from "./live.ts";

/** The actions of a plan that change something, in the order of summaries. */
export const CHANGING_ACTIONS = [
  "create",
  "update",
  "replace",
  "delete",
  "adopt",
  "import",
  "move",
  "forget",
] as const;

export const ACTIONS = [...CHANGING_ACTIONS, "compare", "noop", "report"] as const;

/** One operation of an update, decided by the plan and shown in it: `resize`, `edit`, `pin`, `add-members`. */
export interface Step {
  readonly operation: string;
  /** Input of the operation other than values, such as IDs and names to add or remove. JSON only. */
  readonly detail?: JsonObject;
}

/** A problem that a kind's own check finds in one resource; `path` leads to the field. */
export interface Problem {
  /** Absent for an error. */
  readonly severity?: "warning";
  readonly path: Path;
  readonly code: Code;
  readonly message: string;
  readonly hint?: string;
}

/** One difference, as the planner found it (planner/diff). */
export interface FieldDiff {
  readonly path: Path;
  /** Live value; undefined if there is none. */
  readonly before: JsonObject[string] | undefined;
  /** Value to reach; undefined where the field goes back to what the server decides, or away. */
  readonly after: JsonObject[string] | undefined;
  /** True where `after` is known only after apply; `after` then holds the reference's text. */
  readonly unknown?: true;
  readonly cause: Cause;
  readonly replaces: boolean;
}

/** Why a change is planned: the spec moved, the live object moved, or both. */
export type Cause = "spec" | "drift" | "both";

/** The workspace as consequences and guards see it: `live` is now, the rest is what the plan makes of it. */
export interface PlannedWorkspace {
  live(kind: string): readonly LiveObject[];
  /** Name of the caller, where known. */
  readonly caller: string | undefined;
  /** Active job runs, where they were read. */
  readonly activeRuns: readonly JsonObject[] | undefined;
  /** True if this plan deletes (or replaces) the object with this kind and natural name. */
  isRemoved(kind: string, name: string): boolean;
  /** True if this plan removes the object from the state and keeps it. */
  isForgotten(kind: string, name: string): boolean;
  /** Values of a live object of a kind after the plan; undefined if it is deleted. */
  valuesAfter(kind: string, live: LiveObject): Values | undefined;
  /** The objects of a kind that the plan creates. */
  created(kind: string): readonly { readonly address: Address; readonly values: Values }[];
  /** True if the spec declares the object with this kind and natural name. */
  declared(kind: string, name: string): boolean;
  /** Whether a live or created object has a sensitive value at a path or below it, which no sentence may contain. */
  isSensitive(
    kind: string,
    object: { readonly id: RemoteId } | { readonly address: Address },
    path: Path,
  ): boolean;
}

/** The input of a provider's planning rules: one planned change, reduced to the parts that all actions share. */
export interface PlannedChange {
  readonly action: "create" | "update" | "replace" | "delete";
  readonly address: Address;
  readonly name: string;
  readonly live: LiveObject | undefined;
  readonly after: Values | undefined;
  readonly diffs: readonly FieldDiff[];
  readonly steps: readonly Step[];
}

/** A guard of the kind: `code` is one of the GUARD_ codes. `PLAN_UNCHECKED` is a warning that something was not checked. */
export interface Objection {
  readonly code: Code;
  readonly message: string;
  readonly hint?: string;
}

/** Facts that a kind can need: the caller, and active job runs. */
type NeededFact = "caller" | "activeRuns";

/** For kinds with a field `content`. */
interface ContentRules {
  /** The digest that a spec has there, of the payload in the form in which contents are compared. Pure. */
  digest?(bytes: Uint8Array, values: Values): string;
  /** Content as lines for people to compare, the same form for every format; undefined where it is not text. Pure. */
  text?(bytes: Uint8Array, values: Values): string | undefined;
  /** The natural name of an object that an interrupted write may leave: a part of an upload. Pure. */
  partialUploadName?(name: string, token: string): string;
}

export interface ImpliedMembership {
  readonly field: string;
  readonly group: { readonly kind: string; readonly name: string };
  readonly member: { readonly kind: string; readonly name: string };
}

export interface PlanningRules {
  /** Rules about one resource that a schema cannot express. References are still strings here (`${…}`). */
  validate?(values: Values, name: string): readonly Problem[];
  /** Further rules of a dialect. */
  readonly validateIn?: { readonly [D in FieldDialect["dialect"]]?: NonNullable<PlanningRules["validate"]> };
  /**
   * The values with what the kind itself leaves out or adds: pool members drop what they inherit. `like`: values whose form
   * the result has where two forms say the same: a job with one task has it in `tasks` or has the task's fields itself. Pure.
   */
  normalize?(values: Values, like?: Values): Values;
  /**
   * Where a value can be: `normalize` moves it, others move it in the live object, and answers about runs and events have it
   * elsewhere. What is sensitive at one of these paths is sensitive at all. The default is the path. Pure.
   */
  placeOf?(path: Path): Place;
  /** Objects that a resource depends on by natural name, in addition to its fields, such as the principal of an ACL. */
  dependencies?(name: string, values: Values): readonly { readonly kind: string; readonly name: string }[];
  /** Whether the change comes after another one of the plan that the spec does not say it needs, if that is possible. Pure. */
  waitsFor?(change: PlannedChange, other: PlannedChange): boolean;
  /** Further kinds whose live objects decide whether a plan of these values is allowed. */
  kindsReadForObjections?(values: Values): readonly string[];
  /** A membership that follows from the value of a field. */
  impliedMembership?(name: string): ImpliedMembership;
  /** Principals that the values name and that must exist, with the kind of each; `path` leads to the value, or to the key of a map. Pure. */
  namedPrincipals?(
    values: Values,
  ): readonly { readonly kind: string; readonly name: string; readonly path: Path }[];
  /** An object of one of these kinds that the resource's own name contains and that must exist: an ACL's principal. */
  namedInKey?(name: string): { readonly kinds: readonly string[]; readonly name: string } | undefined;
  /** Values that an export omits, because the service fills them in if a spec does not have them. Pure. */
  omittedByExport?(values: Values): Values;
  /** The operations of an update. Pure. The default is one step `update`. */
  steps?(diffs: readonly FieldDiff[], live: LiveObject, after: Values): readonly Step[];
  /** The facts that side effects and guards of the change need, also those that the plan has already. */
  neededFacts?(change: PlannedChange, workspace: PlannedWorkspace): readonly NeededFact[];
  /** Side effects of the change, as sentences, from live data. */
  consequences?(change: PlannedChange, workspace: PlannedWorkspace): readonly string[];
  /** Whom the change harms at once: a sentence for each. A saved plan that harms one more than it did when it was made is not applied. Pure. */
  harms?(change: PlannedChange, workspace: PlannedWorkspace): readonly string[];
  objections?(change: PlannedChange, workspace: PlannedWorkspace): readonly Objection[];
  /** Warnings about a managed live object whose details were read, whether it changes or not. Pure. */
  liveProblems?(live: LiveObject): readonly Problem[];
  /** Users of a live object after the plan: while one exists, a replaced object is kept. */
  keptWhileUsedBy?(live: LiveObject, workspace: PlannedWorkspace): readonly string[];
  /** Undeclared objects that are kept and are not drift, such as the MANAGE that the service grants with a scope. */
  isImplicit?(live: LiveObject, caller: string | undefined, parent: Values): boolean;
  readonly content?: ContentRules;
  /** The machines that an object with these values runs on, for its cost. Pure. */
  machines?(values: Values): Compute;
  /** How objects of the kind decide what principals can do. */
  readonly access?: AccessPlanning;
}
