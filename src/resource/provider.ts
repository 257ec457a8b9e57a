// What a kind of resource is: a table of fields, its identity, how it survives a crash, and verbs that decide nothing.

import type { Reader, SecretValue, Writer } from "../api/contract/reader.ts";
import type { Address, RemoteId } from "../core/address.ts";
import type { Code } from "../core/codes.ts";
import type { JsonObject } from "../core/json.ts";
import type { Path } from "../core/pointer.ts";
import type { FieldTable, Severity, Values } from "./field-schema.ts";

/** How a crash between a request and its answer is resolved on the next run (design 6). */
export type RecoveryClass = "client-named" | "repeatable" | "tagged" | "two-phase";

/** How an object that cannot be changed in place gives way to its successor (design 5). */
export type ReplaceStrategy = "create-first" | "rename-aside" | "delete-first";

/** A thing that is in the workspace now, in spec form. */
export interface LiveObject {
  readonly id: RemoteId;
  /** Its name in an address: the natural key, or for kinds without one the name that the service shows (not unique). */
  readonly name: string;
  /** Spec form, defaults included; ids in `names` fields are turned into names by the engine. */
  readonly values: Values;
  /** What planning needs beside the spec form: states, the creator (`creator_user_name`), timestamps, the token. Never compared. */
  readonly facts: JsonObject;
}

/** What is to be listed. */
export interface ListScope {
  /** For nested kinds: names of the parents to look into (those that exist live). */
  readonly parents: readonly string[];
  /** Names of this kind that the spec or the state knows. */
  readonly names: ReadonlySet<string>;
  /** Remote ids of this kind that the state knows: for lists that leave things out (terminated clusters). */
  readonly ids?: ReadonlySet<string>;
}

/** Sent with an object so that it can be found again after a crash; absent where the crash class needs none. */
export type Token = string;

/** A finished piece of content behind a value: a secret, or the bytes of a notebook or file. */
export interface Payload {
  readonly digest: string;
  bytes(): Uint8Array;
  /** Set for secrets: what a request must carry instead of bytes. */
  readonly secret?: SecretValue;
}

/** One operation of an update, decided by the plan and shown in it: `resize`, `edit`, `pin`, `add-members`. */
export interface Step {
  readonly operation: string;
  /** What the operation needs that is not in the values: ids and names to add or remove. JSON only. */
  readonly detail?: JsonObject;
}

/** What a verb acts on. */
export interface Task {
  readonly address: Address;
  readonly name: string;
  /** The values to reach, references and names resolved to ids: ready for the wire. */
  readonly values: Values;
  readonly token: Token;
  readonly payload?: Payload;
}

export interface UpdateTask extends Task {
  readonly id: RemoteId;
  readonly live: LiveObject;
  /** What the object was before, ids instead of names, to send deltas from. */
  readonly before: Values;
  readonly steps: readonly Step[];
}

export interface DeleteTask {
  readonly address: Address;
  readonly id: RemoteId;
  readonly name: string;
  readonly live: LiveObject | undefined;
}

/** What acting verbs get beside the writer. */
export interface OperationWriter extends Writer {
  /** Makes the id of an object that exists but is not finished durable (two-phase creation). */
  created(id: RemoteId): Promise<void>;
  /** Polls until `look` gives a value. Fails with APPLY_DEADLINE after the deadline (milliseconds) of the engine's clock. */
  until<T>(what: string, look: () => Promise<T | undefined>, deadlineMs: number): Promise<T>;
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
  /** Live value; undefined where nothing is there. */
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

/** The world as consequences and guards see it. */
export interface PlannedWorkspace {
  live(kind: string): readonly LiveObject[];
  /** Name of the caller, where known. */
  readonly caller: string | undefined;
  /** Active runs, where the plan asked for them (`wants`). */
  readonly activeRuns: readonly JsonObject[] | undefined;
  /** True when this plan deletes (or replaces) the thing with this kind and natural name. */
  isRemoved(kind: string, name: string): boolean;
  /** Values of a live thing of a kind once the plan is done; undefined when it goes. */
  valuesAfter(kind: string, live: LiveObject): Values | undefined;
  /** True when the spec declares the thing with this kind and natural name. */
  declared(kind: string, name: string): boolean;
}

/** What a kind is asked about: one planned change, reduced to what all of them share. */
export interface PlannedChange {
  readonly action: "create" | "update" | "replace" | "delete";
  readonly address: Address;
  readonly name: string;
  readonly live: LiveObject | undefined;
  readonly after: Values | undefined;
  readonly diffs: readonly FieldDiff[];
  readonly steps: readonly Step[];
}

/** A reason not to apply. `code` is one of the GUARD_ codes. */
export interface Objection {
  readonly code: Code;
  readonly message: string;
  readonly hint?: string;
}

/** Data that planning fetches only when a planned change asks for it: who we are, active runs, contents to be shown as text, what uses what goes, and values to be confirmed. */
export type FactRequest = "caller" | "runs" | "contents" | "around" | "lookups";

export interface Provider {
  readonly kind: string;
  /** `pool` and `pools`, for sentences. */
  readonly singular: string;
  readonly description: string;
  readonly fields: FieldTable;
  /** How much it matters if an object comes or goes, or a field differs that names no severity; `other` where unset. */
  readonly severity?: Severity;
  /** The field that holds the natural key; unset in a spec it is the resource's own name. Undefined: the resource's name is the key itself. */
  readonly nameField: string | undefined;
  /** Whether the service lets only one thing have a name. */
  readonly unique: boolean;
  readonly ignoreCase?: true;
  /** The attribute under which the remote id is referred to: `instance_pool_id`. */
  readonly idAttribute: string;
  readonly recovery: RecoveryClass;
  readonly replaceStrategy: ReplaceStrategy;
  /** For kinds written inside another resource: `acls` inside `scopes` under the key `acls`. `shorthand` is the field that a bare value means. */
  readonly nested?: { readonly kind: string; readonly under: string; readonly shorthand?: string };
  /** The most that a workspace, or a parent, may hold. */
  readonly limit?: { readonly max: number; readonly per: "workspace" | "parent" };
  /** Kinds that may use a thing of this kind, whoever manages them: looked at before one goes. */
  readonly usedBy?: readonly string[];
  /** Names that exist in every workspace and are never created or deleted. */
  readonly builtIn?: readonly string[];

  /** What a schema cannot say about one resource. References are still text here (`${…}`). */
  validate?(values: Values, name: string): readonly Problem[];
  /** The values with what the kind itself leaves out or adds: pool members drop what they inherit. Pure. */
  normalize?(values: Values): Values;
  /** Things that a resource needs by natural name, beside what its fields say: an ACL's principal, a notebook's folder. Edges where they are managed. */
  dependencies?(name: string, values: Values): readonly { readonly kind: string; readonly name: string }[];
  /** A thing of one of these kinds that the resource's own name speaks of, and that the service wants to exist: an ACL's principal. */
  namedInKey?(name: string): { readonly kinds: readonly string[]; readonly name: string };
  /** For kinds with a field `content`: what the spec puts there, a digest of the payload in the form in which contents are compared. Pure. */
  contentDigest?(bytes: Uint8Array, values: Values): string;
  /** Content as lines for people to compare, the same form for every format; undefined where it is not text. Pure. */
  contentText?(bytes: Uint8Array, values: Values): string | undefined;
  /** What the service is known to fill in where a spec says nothing: an export leaves such values out. Pure. */
  serverDefaults?(values: Values): Values;
  /** The natural name of what a write that was cut may leave beside its object: a part of an upload. Pure. */
  partialUploadName?(name: string, token: Token): string;
  /** The operations of an update. Pure. The default is one step `update`. */
  steps?(diffs: readonly FieldDiff[], live: LiveObject, after: Values): readonly Step[];
  requests?(change: PlannedChange, workspace: PlannedWorkspace): readonly FactRequest[];
  /** What the change does to people, as sentences, from live data. */
  consequences?(change: PlannedChange, workspace: PlannedWorkspace): readonly string[];
  objections?(change: PlannedChange, workspace: PlannedWorkspace): readonly Objection[];
  /** What would still use a live thing after the plan: while there is any, an object that gave way stays. */
  usersOf?(live: LiveObject, workspace: PlannedWorkspace): readonly string[];
  /** Live objects that stay without being in the spec and are no drift (the MANAGE that the service gives with a scope); `parent` is what the spec says of its parent. */
  isImplicit?(live: LiveObject, workspace: PlannedWorkspace, parent: Values): boolean;

  /** Everything of this kind, in as few requests as there can be. */
  list(api: Reader, scope: ListScope): Promise<readonly LiveObject[]>;
  /** More about objects that a list does not tell enough about; only called for those that the spec or the state knows. */
  readDetails?(api: Reader, object: LiveObject, desired: Values | undefined): Promise<LiveObject>;
  /** For kinds with a field `content`: the bytes of a live object in pieces, in the form that its source file has by its name. */
  readContent?(api: Reader, live: LiveObject): AsyncIterable<Uint8Array>;
  /** One object, or undefined when it is gone. */
  read(api: Reader, id: RemoteId): Promise<LiveObject | undefined>;
  create(api: OperationWriter, task: Task): Promise<RemoteId>;
  update(api: OperationWriter, task: UpdateTask): Promise<void>;
  /** Succeeds when the object is gone already. */
  delete(api: OperationWriter, task: DeleteTask): Promise<void>;
  /** For "rename-aside", and for names that go round in a cycle: gives the live object another name and changes nothing else. */
  rename?(
    api: OperationWriter,
    task: { readonly id: RemoteId; readonly live: LiveObject; readonly name: string },
  ): Promise<void>;
}
