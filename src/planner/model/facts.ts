// Facts: data from additional requests that describe or block changes. A plan can be drafted without them.

import type { Address } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { CatalogName } from "../../resource/catalog.ts";
import type { Live } from "../../resource/live.ts";
import type { Update } from "./change.ts";

/** Where a value is to be found: in a catalog, or among the IDs or names of a kind. */
export type LookupSource =
  | { readonly in: "catalog"; readonly of: CatalogName }
  | { readonly in: "ids" | "names"; readonly of: string };

export interface Question {
  readonly address: Address;
  readonly path: Path;
  readonly text: string;
  readonly place: LookupSource;
}

/** A content as lines for people (`Provider.contentText`): what is live, and what the spec brings. */
export interface ContentTexts {
  readonly before: string;
  readonly after: string;
}

/** The workspace's answer about one catalog or kind. */
export type LookupAnswer = {
  /** For catalogs: what one of its values is, and the request that lists them. */
  readonly one?: string;
  readonly operation?: string;
} & (
  | {
      readonly readable: true;
      readonly values: ReadonlySet<string>;
      /** Requested, but skipped because it would need too many requests. */
      readonly unasked?: ReadonlySet<string>;
      /** Requested, but unknown because a request failed. */
      readonly failed?: ReadonlyMap<string, Diagnostic>;
    }
  | { readonly readable: false; readonly diagnostic: Diagnostic }
);

export interface Lookups {
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
  readonly dependents?: Live;
  /** Values that the workspace confirms; what has no entry is not checked. */
  readonly lookups?: Lookups;
}

/** The facts that a draft lacks. Empty collections request nothing. */
export interface FactRequests {
  readonly caller: boolean;
  readonly activeRuns: boolean;
  /** Kinds to list that may use what the plan deletes. */
  readonly dependents: ReadonlySet<string>;
  /** Updates of contents that are text, in the order of the plan. */
  readonly contents: readonly Update[];
  readonly lookups: readonly Question[];
}
