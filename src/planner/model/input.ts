// The input of a plan and the facts that complete it. The same input and facts give the same plan, byte for byte.

import type { Address } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { CatalogName, MachineSize } from "../../resource/compute.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import type { Live } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";
import type { Create, Update } from "./change.ts";

export interface PlanInput {
  readonly registry: PlanningRegistry;
  readonly host: string;
  readonly spec: Spec;
  readonly live: Live;
  readonly state: State;
  /** Where records that the spec moved come from, by their new address, and the state before. */
  readonly moved?: {
    readonly origins: ReadonlyMap<Address, Address>;
    /** Those that move back without an entry, because the spec declares an earlier address again. */
    readonly back?: ReadonlySet<Address>;
    readonly before: State;
  };
  /** Adopt objects that exist under a natural key instead of reporting an error. */
  readonly adopt?: boolean;
  /** Create objects although unmanaged ones have the same name and no state exists. */
  readonly allowDuplicates?: boolean;
  /** Plan the deletion of everything managed; the spec then serves for policy and lifecycle only. */
  readonly destroy?: boolean;
  /** `live` is not everything: what it lacks may be there. */
  readonly partial?: boolean;
  /** Whether a field has, or had, a sensitive value, so that no sentence may contain these values of it. */
  readonly isSensitive?: (address: Address, path: Path, ...values: readonly (Json | undefined)[]) => boolean;
  /** Restricts the plan to these addresses and what they need. */
  readonly only?: (address: Address) => boolean;
  /** Leaves out these addresses and what depends on them. */
  readonly exclude?: (address: Address) => boolean;
}

/** Whether the options select an address; what selected addresses need may be planned, too. */
export function isSelected(
  { only, exclude }: Pick<PlanInput, "only" | "exclude">,
  address: Address,
): boolean {
  return only?.(address) !== false && exclude?.(address) !== true;
}

/** Where a value is to be found: in a catalog, or among the IDs or names of a kind. */
export type LookupSource =
  | { readonly in: "catalog"; readonly of: CatalogName }
  | { readonly in: "ids" | "names" | "principals"; readonly of: string };

/** A value that the workspace has to confirm. */
export interface Lookup {
  readonly address: Address;
  readonly path: Path;
  readonly text: string;
  readonly source: LookupSource;
}

/** A content as lines for people (`planning.content.text` of its kind): what is live, and what the spec brings. */
export interface ContentTexts {
  readonly before: string;
  readonly after: string;
}

/** The workspace's answer about one catalog or kind. */
export type LookupAnswer = {
  /** For catalogs: what one of its values is, and the request that lists them. */
  readonly singular?: string;
  readonly operation?: string;
} & (
  | {
      readonly readable: true;
      readonly values: ReadonlySet<string>;
      /** Of machine types. */
      readonly sizes?: ReadonlyMap<string, MachineSize>;
      /** Requested, but skipped because it would need too many requests. */
      readonly unasked?: ReadonlySet<string>;
      /** Requested, but unknown because a request failed. */
      readonly failed?: ReadonlyMap<string, Diagnostic>;
    }
  | { readonly readable: false; readonly diagnostic: Diagnostic }
);

export interface LookupAnswers {
  readonly catalogs: ReadonlyMap<string, LookupAnswer>;
  readonly kinds: ReadonlyMap<string, LookupAnswer>;
}

/** A member that is absent was not read; then the plan does without. */
export interface PlanFacts {
  /** User name of the caller according to the service; undefined while unknown. */
  readonly caller?: string;
  /** Active job runs, where the plan stops or restarts something. */
  readonly activeRuns?: readonly JsonObject[];
  /** Contents before and after; other addresses are shown by digest. */
  readonly contents?: ReadonlyMap<Address, ContentTexts>;
  /** Objects of kinds that may use deleted objects; only for side effects and guards. */
  readonly dependentsOfDeleted?: Live;
  /** Users, groups, and service principals, where the plan changes access and did not read them. */
  readonly principals?: Live;
  /** Values that the workspace confirms; what has no entry is not checked. */
  readonly lookups?: LookupAnswers;
}

/** The facts that a draft lacks. */
export interface MissingFacts {
  readonly caller: boolean;
  readonly activeRuns: boolean;
  /** Kinds to list that may use what the plan deletes. */
  readonly dependentsOfDeleted: ReadonlySet<string>;
  /** Changes that set contents of kinds that have text, in the order of the plan. */
  readonly contents: readonly (Create | Update)[];
  readonly lookups: readonly Lookup[];
  /** Kinds of principals to list, because the plan changes access. */
  readonly principals: ReadonlySet<string>;
}

/** A lock or a key alone is not a state: runs that were refused or only planned leave these behind. */
export function stateExists(state: State): boolean {
  const { serial, host, caller, records, open, sweeps, nonces } = state;
  if (serial > 0 || host !== "" || caller !== undefined) return true;
  return records.size > 0 || open.length > 0 || sweeps.length > 0 || nonces.length > 0;
}
