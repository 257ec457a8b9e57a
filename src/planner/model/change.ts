// A planned change of one resource, with its reasons: a union on `action`.

import type { Address, RemoteId } from "../../core/address.ts";
import { type Path, toDottedPath } from "../../core/pointer.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { ReplaceStrategy } from "../../resource/kind.ts";
import type { Cause, FieldDiff, Step } from "../../resource/planning.ts";
import type { Reference } from "../../spec/model/spec.ts";
import type { Acknowledgement } from "../../state/model/record.ts";

/** Who accepted drift, until when, and why. */
export type AcceptedDrift = Pick<Acknowledgement, "until" | "by" | "reason">;

export type NonEmpty<T> = readonly [T, ...T[]];

/** Drift that a user acknowledged and that a change ends. */
export interface RevertedDrift extends AcceptedDrift {
  /** The field; absent if the object was deleted or appeared. */
  readonly path?: Path;
}

/** The reason of a replacement, for each field that forces it. */
export const replacementReason = (path: Path): string => `${toDottedPath(path)} cannot be changed in place`;

/** Why a record is deleted, unless there is more to say. */
export const UNDECLARED = "it is no longer in the spec";

interface Common {
  readonly address: Address;
  readonly kind: string;
  /** Natural name in the workspace. */
  readonly name: string;
  readonly cause: Cause;
  /** Why, as sentences: `node_type_id cannot be changed in place`. */
  readonly reasons: readonly string[];
  /** Side effects, as sentences. */
  readonly consequences: readonly string[];
  /** Whom it harms, by sentences, as its kind says; absent if it harms no one. */
  readonly harms?: readonly string[];
  readonly dependsOn: readonly Address[];
  readonly reverts?: NonEmpty<RevertedDrift>;
  /** The address before a `moved` entry of the spec gave the record this one. */
  readonly movedFrom?: Address;
}

/** Desired values. A reference that is known only after apply keeps its text and is listed in `unresolved`. */
interface Reaching {
  readonly after: Values;
  readonly unresolved: readonly Reference[];
  /** Digest of the payload that belongs to it (a secret's keyed digest, a file's SHA-256). */
  readonly payload?: string;
}

interface Existing {
  readonly id: RemoteId;
  /** Live values, spec form. */
  readonly before: Values;
  /** Fingerprint of the live values at planning; an apply that finds another one skips the change. */
  readonly fingerprint: string;
}

/** The object whose name a change takes. The name is free when the change of that object is done, or when it has removed the old object. */
export interface NameSource {
  readonly address: Address;
  readonly id: RemoteId;
  readonly freedWhen: "done" | "removed";
}

/** A change that gives an object a name which another object still has when the plan is made. */
interface Taking {
  readonly nameFrom?: NameSource;
}

/** The changed lines of a content, as a unified diff without its header. */
export interface ContentDiff {
  readonly lines: readonly string[];
  readonly added: number;
  readonly removed: number;
}

/** An unmanaged live object with the name of an object that the plan creates. */
export interface Namesake {
  readonly id: RemoteId;
  readonly creator?: string;
  /** Why it cannot be adopted. */
  readonly unmanageable?: string;
}

export type Create = Common &
  Reaching &
  Taking & {
    readonly action: "create";
    /** In kinds whose names are not unique, where there are any. */
    readonly namesakes?: NonEmpty<Namesake>;
    /** All lines of the content, if it is a short text. */
    readonly content?: ContentDiff;
  };
export type Update = Common &
  Reaching &
  Existing &
  Taking & {
    readonly action: "update";
    readonly diffs: NonEmpty<FieldDiff>;
    readonly steps: readonly Step[];
    /** Present if the content is text, it changes, and both sides were read. */
    readonly content?: ContentDiff;
  };
export type Replace = Common &
  Reaching &
  Existing &
  Taking & {
    readonly action: "replace";
    readonly diffs: NonEmpty<FieldDiff>;
    readonly because: NonEmpty<FieldDiff>;
    readonly replacing: ReplaceStrategy;
    /** Addresses whose changes come before the deletion of the old object, because they used or use its ID. */
    readonly removeAfter: readonly Address[];
    /** The old object is still in use: it is not deleted now, and each later plan checks it again. */
    readonly keepsOld?: true;
  };
/** `deposed`: a replaced object of a current address, or a late creation that is not recorded. */
export type Delete = Common & Existing & { readonly action: "delete"; readonly deposed?: true };
/** Changes only the state: records a live object that matches the spec. `import`: the spec has an entry with its ID. */
export type Adopt = Common & Reaching & Existing & { readonly action: "adopt" | "import" };
/** Changes only the state: the record gets another address. */
export type MoveRecord = Common &
  Reaching &
  Existing & { readonly action: "move"; readonly movedFrom: Address };
/** Changes only the state: the object was deleted, or is no longer managed. `deposed`: a replaced object; its record stays. */
export type Forget = Common & { readonly action: "forget"; readonly id: RemoteId; readonly deposed?: true };
/**
 * A secret whose value is not known when the plan is made, and that is as recorded otherwise: an apply compares the value with the
 * recorded digest, which is in `after`, and writes it only if it differs. `steps`: the write. `source`: where the value is.
 */
export type Compare = Common &
  Reaching &
  Existing & { readonly action: "compare"; readonly steps: readonly Step[]; readonly source: string };
/** Has no fingerprint, because nothing is written. `compared`: a `compare` whose value does not differ. */
export type Noop = Common &
  Reaching &
  Omit<Existing, "fingerprint"> & { readonly action: "noop"; readonly compared?: true };
/** A live member of a managed parent that is unmanaged and cannot be compared (a secret). It is not changed. */
export type Report = Common & Existing & { readonly action: "report" };

export type Change =
  | Create
  | Update
  | Replace
  | Delete
  | Adopt
  | MoveRecord
  | Forget
  | Compare
  | Noop
  | Report;
export type Action = Change["action"];

/** A change that writes values to an object. */
export type Write = Create | Update | Replace;

export function writes(change: Change): change is Write {
  return change.action === "create" || change.action === "update" || change.action === "replace";
}

/** Whether an object goes: it is deleted, or another one takes its place. */
export function removes(change: Change): change is Delete | Replace {
  return change.action === "delete" || change.action === "replace";
}

/** A change with desired values. */
export type Desiring = Extract<Change, Reaching>;

/** A change that rests on a live object as the plan read it. */
export type ObjectChange = Extract<Change, Existing>;

/** Whether a field has a value that is known only after the apply. */
export function isUnresolved({ unresolved }: Desiring, field: string): boolean {
  return unresolved.some(({ path }) => String(path[0]) === field);
}

export function nameSourceOf(change: Change): NameSource | undefined {
  return "nameFrom" in change ? change.nameFrom : undefined;
}

/** Whether a change is about a replaced object and not about the current one of its address. */
export function isOfReplaced(change: Change): boolean {
  return "deposed" in change && change.deposed === true;
}

/** The key of a change in a plan. Two changes may share an address: a replaced object and its replacement. */
export function changeKey(change: Change): string {
  return "id" in change && isOfReplaced(change) ? `${change.address}#${change.id}` : change.address;
}

/** Whether a change deletes the current object of its address, and not one that was replaced earlier. */
export function deletesCurrent(change: Change): change is Delete {
  return change.action === "delete" && change.deposed !== true;
}

/** Whether a resource leaves the state because its object is deleted together with its parent. */
export function isDeletedWithParent(change: Change): boolean {
  return change.action === "forget" && change.dependsOn.length > 0;
}

/** Whether applying a change does something, or may do something: to the workspace, or to the state. */
export function touches({ action }: { readonly action: Action }): boolean {
  return action !== "noop" && action !== "report";
}

export function changesAnything(plan: { readonly changes: readonly Change[] }): boolean {
  return plan.changes.some(touches);
}
