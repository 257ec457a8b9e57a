// A spec: its resources as written, with their origin, and as resolved, with its rules and entries; each with its location.

import type { Address } from "../../core/address.ts";
import type { Location } from "../../core/diagnostic.ts";
import type { Path } from "../../core/pointer.ts";
import type { SensitiveTexts } from "../../core/sensitive/texts.ts";
import type { RuleLogic, RulePart } from "../../expressions/rule.ts";
import type { Severity, Values } from "../../resource/field-schema.ts";
import type { PlannedKind } from "../../resource/kind.ts";
import type { Payload } from "../../resource/operations.ts";
import type { Span } from "./source.ts";
import type { MapNode, SpecNode } from "./tree.ts";

/** A reference `${kind.name.attribute}` inside a string, as its parts; other parts are literal text. */
export type ReferencePart = string | { readonly address: Address; readonly attribute: string };

/** A string of a resource's values that holds references. Where `parts` is one reference, the value keeps its type. */
export interface Reference {
  readonly path: Path;
  readonly parts: readonly ReferencePart[];
}

export interface Lifecycle {
  readonly prevent_destroy: boolean;
  /** Top-level fields or dotted paths that are never compared after creation. */
  readonly ignore_changes: readonly string[];
  readonly on_immutable_change?: "error" | "replace";
}

/** One desired resource. `values` has only the fields of the spec, and references as their text. */
export interface Resource {
  readonly address: Address;
  readonly kind: string;
  /** The address without its kind. */
  readonly key: string;
  /** The natural name in the workspace: the kind's name field, else the key. */
  readonly name: string;
  readonly values: Values;
  readonly references: readonly Reference[];
  /** The paths of strings, numbers, and booleans that were computed from sensitive values; absent if there are none. */
  readonly sensitive?: readonly Path[];
  /** Every dependency: references, names of managed resources, and the parent of a nested resource. Sorted. */
  readonly dependsOn: readonly Address[];
  /** Nested kinds whose key is present in the spec (`acls: {}` counts): their lists are authoritative. */
  readonly owns: readonly string[];
  readonly lifecycle: Lifecycle;
  readonly payload?: Payload;
  /** The source of a secret whose value was not read: `env ETL_TOKEN`. */
  readonly unread?: string;
  readonly at: Location;
  /** The place of a field's value, or of the nearest ancestor. */
  locate(path: Path): Location;
}

export interface Policy {
  readonly on_immutable_change: "error" | "replace";
  readonly on_immutable_change_by_kind: Readonly<Record<string, "error" | "replace">>;
  /** A count, or a share between 0 and 1. */
  readonly max_deletes: { readonly count: number } | { readonly share: number };
  readonly authoritative: readonly string[];
  /** Whether a plan without a state may create an object whose name an unmanaged object has. */
  readonly duplicate_names: "error" | "allow";
}

/** The selected target with its deployment settings. */
export interface TargetSettings {
  readonly name: string;
  /** The place of the host, or of the target. */
  readonly at: Location;
  /** The host that a run must have anyway; it is only compared. */
  readonly host?: string;
  readonly profile?: string;
  /** A folder relative to the spec, or `workspace:/folder`. */
  readonly state?: string;
  /** An apply needs an explicit target and a saved plan. */
  readonly protected: boolean;
}

/** A resource that has another address now; or a module, as `modules.team`. */
export interface MovedEntry {
  readonly from: Address;
  readonly to: Address;
  readonly at: Location;
}

/** A resource, or a module, that the spec no longer declares. Without `destroy` it leaves the state only. */
export interface RemovedEntry {
  readonly address: Address;
  readonly destroy: boolean;
  readonly at: Location;
}

/** A live object that becomes a resource of the spec. */
export interface ImportEntry {
  readonly to: Address;
  readonly id: string;
  readonly at: Location;
}

export interface StateEntries {
  readonly moved: readonly MovedEntry[];
  readonly removed: readonly RemovedEntry[];
  readonly imports: readonly ImportEntry[];
}

export interface Spec {
  /** Every file that was read, relative to the folder of the main file, with the SHA-256 of its bytes. */
  readonly files: readonly { readonly path: string; readonly digest: string }[];
  readonly resources: ReadonlyMap<Address, Resource>;
  readonly policy: Policy;
  /** Absent in a spec without targets. */
  readonly target?: TargetSettings;
  /** Entries of the spec about records of the state; absent if there are none. */
  readonly stateEntries?: StateEntries;
  /** Those of folders first. Absent if there are none, or if the run does not check plans. */
  readonly rules?: readonly Rule[];
  /** The variables that are declared as sensitive; absent if there are none. */
  readonly sensitiveVariables?: ReadonlySet<string>;
  /** Values that no output may show. */
  readonly sensitive?: SensitiveTexts;
}

export interface Rule extends RuleLogic {
  readonly name: string;
  readonly severity: Severity;
  readonly enforcement: "error" | "warn";
  readonly at: Location;
  /** Fields of `change.after` that `assert` reads, in its order. */
  readonly fields: readonly Path[];
  locate(part: RulePart, offset: number): Location;
}

/** A file of a folder of rules. `shown`: what diagnostics call it. */
export interface RuleFile {
  readonly shown: string;
  readonly bytes: Uint8Array;
}

export interface InstanceOrigin {
  /** What its addresses begin with after the kind: `team/ads/`. */
  readonly prefix: string;
  /** The entries of `modules` that use it, innermost first. */
  readonly uses: readonly Span[];
}

/** Sections that declare resources, with their expressions put in. */
export interface SpecPart {
  readonly root: MapNode;
  /** Undefined for the spec itself. */
  readonly origin: InstanceOrigin | undefined;
  /** The values of its locals and outputs. */
  readonly values?: readonly SpecNode[];
}

export interface WrittenResource {
  readonly address: Address;
  readonly provider: PlannedKind;
  readonly key: string;
  readonly name: string;
  /** The location of its key. */
  readonly at: Span;
  /** Its fields; the natural name among them, lifecycle and nested kinds not. */
  readonly fields: MapNode;
  readonly lifecycle: SpecNode | undefined;
  readonly parent: Address | undefined;
  /** The instance of a module that declares it. */
  readonly origin: InstanceOrigin | undefined;
  readonly owns: readonly string[];
}

/** The declared resources of a spec, with unresolved references. */
export interface DeclaredSpec {
  /** The sections of the main spec. */
  readonly root: MapNode;
  /** The section of rules, in which nothing is expanded. */
  readonly rules: SpecNode | undefined;
  readonly resources: readonly WrittenResource[];
}
