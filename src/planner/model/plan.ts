// A plan with its guards, drift, and changes of access, its split against a base, and what an apply reports about it.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, hasErrors } from "../../core/diagnostic.ts";
import { defined, type JsonObject } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { PrincipalKind } from "../../resource/access.ts";
import type { Values } from "../../resource/field-schema.ts";
import { ACTIONS, type FieldDiff } from "../../resource/planning.ts";
import type { AcceptedDrift, Action, Change, ContentDiff } from "./change.ts";
import type { PlanCapacity, PlanCost } from "./plan-cost.ts";

/** A live difference from the recorded state: changed, deleted, or created outside `workspace` (`appeared`). */
export interface Drift {
  readonly address: Address;
  readonly kind: string;
  readonly name: string;
  readonly what: "changed" | "deleted" | "appeared";
  /** Empty unless it changed. */
  readonly diffs: readonly FieldDiff[];
  /** Of a deleted object what was recorded, of one that appeared what is live. */
  readonly values?: Values;
  /** Metadata of the live object: its creator, the time of its last change. */
  readonly facts?: JsonObject;
  /** From the recorded text to the live one, where both are known. */
  readonly content?: ContentDiff;
  /** Absent if it was not read. */
  readonly origin?: DriftOrigin;
  /** Of an object that appeared. */
  readonly id?: string;
  /** Keyed digests, one for each mark: made before values are hidden, because a run hides only the values that it has. */
  readonly digests?: readonly string[];
  /** Of each difference, or of the object that was deleted or appeared. Absent if the state was not asked and the spec agrees with none. */
  readonly marks?: readonly DriftMark[];
}

/** The status of a difference in the state. */
export interface DriftMark {
  /** An earlier `drift --since last` reported it. */
  readonly reported: boolean;
  readonly acknowledged?: AcceptedDrift;
  /** The spec agrees with the workspace, so that the next apply only records it. */
  readonly declared?: boolean;
}

/** What the service records of a change made outside; every member may be absent. */
export interface DriftOrigin {
  readonly by?: string;
  /** Epoch ms. */
  readonly at?: number;
  /** Who created the object: of kinds that do not record who changed it. */
  readonly creator?: string;
}

/** A live object of a managed kind that the spec does not know. */
export interface Unmanaged {
  readonly kind: string;
  readonly name: string;
  readonly id: string;
}

/** An objection to the plan; a plan with guards is shown and not applied (exit 3). */
export interface Guard {
  readonly diagnostic: Diagnostic;
  readonly addresses: readonly Address[];
  /** In a plan that was compared with a base: whether the caused changes alone raise it. */
  readonly origin?: ChangeOrigin;
}

/** `offline`: live values are what the state recorded. `untrusted`: only what the state manages is in it. */
export type Mode = "offline" | "untrusted";

/** Which part of the resources a plan with `--only` or `--exclude` decides. */
export interface PlanPart {
  readonly planned: number;
  readonly total: number;
  /** Absent: `--only`. */
  readonly options?: readonly ("--only" | "--exclude")[];
  /** Resources that would change, but depend on an excluded one. */
  readonly excluded?: readonly Address[];
}

/** Keys of the spec that were likely renamed, found by equal fields of deleted and created resources. */
export interface LikelyRenames {
  readonly pairs: readonly LikelyRename[];
  /** Deleted resources that fit several created ones equally well, or share the best one with another. */
  readonly ties: readonly { readonly from: Address; readonly candidates: readonly Address[] }[];
}

export interface LikelyRename {
  readonly from: Address;
  readonly to: Address;
  /** The name that the declaration needs as well, because the service cannot change it. */
  readonly name?: { readonly field: string; readonly value: string };
}

export interface Plan {
  readonly host: string;
  /** How the plan differs from a full plan; absent for a full plan. */
  readonly modes?: readonly Mode[];
  /** Absent without prices. */
  readonly cost?: PlanCost;
  /** Absent without --cost. */
  readonly capacity?: PlanCapacity;
  /** Absent if the plan decides all resources. */
  readonly part?: PlanPart;
  /** Of a plan that was compared with the plan of a base. */
  readonly split?: PlanSplit;
  readonly changes: readonly Change[];
  /** Absent if the plan does not change access. */
  readonly access?: AccessDiff;
  /** Absent without any. */
  readonly renames?: LikelyRenames;
  readonly drift: readonly Drift[];
  readonly unmanaged: readonly Unmanaged[];
  readonly guards: readonly Guard[];
  /** Errors here forbid an apply (exit 1; a refused immutable change is exit 3). */
  readonly diagnostics: readonly Diagnostic[];
}

/** Everything that was found about a plan, in the order of its text: diagnostics, then guards. */
export function findingsOf({
  guards,
  diagnostics,
}: Pick<Plan, "guards" | "diagnostics">): readonly Diagnostic[] {
  return [...diagnostics, ...guards.map(({ diagnostic }) => diagnostic)];
}

export function isBlocked(plan: Pick<Plan, "guards" | "diagnostics">): boolean {
  return hasErrors(findingsOf(plan));
}

export type Summary = Readonly<Record<Action, number>>;

export function summaryOf(changes: readonly { readonly action: Action }[]): Summary {
  const summary = Object.fromEntries(ACTIONS.map((action) => [action, 0])) as Record<Action, number>;
  for (const change of changes) summary[change.action] += 1;
  return summary;
}

/** `applied` and `failed` are certain; `unknown` is left to the next run; `blocked` waits for a failed one; `skipped`: live moved, or the run was stopped. */
export type ChangeStatus = "applied" | "failed" | "unknown" | "blocked" | "skipped";

export interface ChangeOutcome {
  readonly address: Address;
  readonly kind: string;
  readonly action: Action;
  readonly result: ChangeStatus;
  readonly id?: string;
  readonly diagnostic?: Diagnostic;
  /** For blocked changes: what they wait for. */
  readonly blockedBy?: Address;
  readonly elapsedMs: number;
}

/** Whether a change was skipped because the run was stopped, not because of anything about it. */
export function wasStopped({ result, diagnostic }: Pick<ChangeOutcome, "result" | "diagnostic">): boolean {
  return result === "skipped" && diagnostic?.code === "APPLY_INTERRUPTED";
}

export interface ApplyOutcome {
  readonly changes: readonly ChangeOutcome[];
  /** Findings that belong to no change: interrupted, state not written, verification. */
  readonly diagnostics: readonly Diagnostic[];
  readonly interrupted: boolean;
  readonly elapsedMs: number;
}

export type ApplyEvent =
  | { readonly type: "apply_begin"; readonly totals: Readonly<Record<string, number>> }
  | {
      readonly type: "apply_start";
      readonly address: Address;
      readonly kind: string;
      readonly action: Action;
    }
  | {
      readonly type: "apply_waiting";
      readonly address: Address;
      readonly kind: string;
      readonly what: string;
    }
  | { readonly type: "apply_complete"; readonly outcome: ChangeOutcome }
  | { readonly type: "apply_skipped"; readonly outcome: ChangeOutcome }
  | { readonly type: "apply_errored"; readonly outcome: ChangeOutcome };

/** Reading and planning report which kind they have read, out of how many. */
export type ReadEvent = {
  readonly type: "read";
  readonly kind: string;
  /** Absent where the kind could not be read. */
  readonly objects?: number;
  readonly done: number;
  readonly total: number;
};

/** `caused`: the base's plan does not have it. `pending`: it does, because of drift or of a spec that was not applied yet. */
export type ChangeOrigin = "caused" | "pending";

export interface FieldOrigin {
  readonly path: Path;
  readonly origin: ChangeOrigin;
}

export interface SplitChange {
  readonly origin: ChangeOrigin;
  /** The origin of each field of a change that the base contains in part; otherwise empty. */
  readonly fields: readonly FieldOrigin[];
  /** The base contains all of it, at another address. Only the move is caused, so the change raises no caused guard. */
  readonly movesOnly?: true;
}

export interface ResolvedChange {
  /** As the plan of the base has it. */
  readonly change: Change;
  /** The fields that no longer differ, where the plan still changes the same resource; absent where it does not. */
  readonly fields?: readonly Path[];
}

/** Plain data, so that a saved plan keeps it. */
export interface PlanSplit {
  /** The base of the comparison: a folder or a Git reference, as the user gave it. */
  readonly base: string;
  /** By `changeKey`: every change that touches the workspace or the state. */
  readonly changes: Readonly<Record<string, SplitChange>>;
  /** In the order of the base's plan. */
  readonly resolved: readonly ResolvedChange[];
  /** Errors of single resources that the plan of the base has, too. */
  readonly pendingErrors: readonly Diagnostic[];
}

/** A right of one principal, gained or lost as a whole or by a level. */
export interface AccessRight {
  readonly principal: string;
  readonly principalKind: PrincipalKind;
  /** Of a group: how many users and service principals it has; absent if its members are not known. */
  readonly people?: number;
  /** How many of these gain or lose it: the others have it in another way. Administrators, who can do everything, are counted. */
  readonly affected?: number;
  /** The level that is gained or lost. */
  readonly level: string;
  /** The lower level that a principal had before, or keeps. */
  readonly instead?: string;
  readonly kind: string;
  readonly object: string;
  /** Groups from the principal to the one that has the right; empty for a direct right. */
  readonly through: readonly string[];
  /** The folder whose list has the right. */
  readonly inheritedFrom?: string;
  /** The service gives the right to the creator of the object. */
  readonly asCreator?: true;
}

/** Present if the plan changes access, or if a part of that is not known. */
export interface AccessDiff {
  readonly gained: readonly AccessRight[];
  readonly lost: readonly AccessRight[];
  /** Access that may change too and was not compared, as sentences. */
  readonly notCompared: readonly string[];
}

/** For machines and for rules. */
export function accessJson({ gained, lost, notCompared }: AccessDiff): JsonObject {
  return {
    gained: gained.map((right) => rightJson(right, "before")),
    lost: lost.map((right) => rightJson(right, "after")),
    not_compared: notCompared,
  };
}

/** `side`: whether the other level is the one before or after. */
export function rightJson(right: AccessRight, side: "before" | "after" = "before"): JsonObject {
  return defined({
    principal: right.principal,
    principal_kind: right.principalKind,
    people: right.people,
    affected: right.affected,
    level: right.level,
    [side]: right.instead,
    kind: right.kind,
    object: right.object,
    through: right.through,
    inherited_from: right.inheritedFrom,
    as_creator: right.asCreator,
  }) as JsonObject;
}
