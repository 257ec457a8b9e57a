// Everything that planning knows. The same input gives the same plan, byte for byte.

import type { Address } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Live } from "../../resource/live.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";

/** A content as lines for people (`Provider.contentText`): what is live, and what the spec brings. */
export interface ContentTexts {
  readonly before: string;
  readonly after: string;
}

/** What the workspace said of one catalog or kind that a plan asked about. */
export type LookupAnswer = {
  /** For catalogs: what one of its values is, and the request that lists them. */
  readonly one?: string;
  readonly operation?: string;
} & (
  | {
      readonly readable: true;
      readonly values: ReadonlySet<string>;
      /** Asked about, and left out because it would take too many requests. */
      readonly unasked?: ReadonlySet<string>;
      /** Asked about, and left open by a request that failed. */
      readonly failed?: ReadonlyMap<string, Diagnostic>;
    }
  | { readonly readable: false; readonly diagnostic: Diagnostic }
);

export interface Lookups {
  readonly catalogs: ReadonlyMap<string, LookupAnswer>;
  readonly kinds: ReadonlyMap<string, LookupAnswer>;
}

export interface PlanInput {
  readonly registry: PlanningRegistry;
  readonly host: string;
  readonly spec: Spec;
  readonly live: Live;
  readonly state: State;
  /** Who the service says we are; undefined while unknown. */
  readonly caller?: string;
  /** Active runs, where an earlier plan wanted them. */
  readonly activeRuns?: readonly JsonObject[];
  /** Contents before and after, if an earlier plan requested them; other addresses are shown by digest. */
  readonly contents?: ReadonlyMap<Address, ContentTexts>;
  /** Kinds that an earlier plan wanted to look into: for what its deletes do to others, and for nothing else. */
  readonly dependents?: Live;
  /** Values that an earlier plan wanted confirmed; what has no entry is not checked. */
  readonly lookups?: Lookups;
  /** Adopt objects that exist under a natural key instead of reporting an error. */
  readonly adopt?: boolean;
  /** Create objects although unmanaged ones have the same name and no state exists. */
  readonly allowDuplicates?: boolean;
  /** Plan the deletion of everything managed; the spec then serves for policy and lifecycle only. */
  readonly destroy?: boolean;
  /** `live` is not everything: what it lacks may be there. */
  readonly partial?: boolean;
  /** Restricts the plan to these addresses and what they need. */
  readonly only?: (address: Address) => boolean;
}
