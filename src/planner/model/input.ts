// The input of a plan. The same input and facts give the same plan, byte for byte.

import type { Address } from "../../core/address.ts";
import type { Json } from "../../core/json.ts";
import type { Path } from "../../core/pointer.ts";
import type { Live } from "../../resource/live.ts";
import type { PlanningRegistry } from "../../resource/registry.ts";
import type { Spec } from "../../spec/model/spec.ts";
import type { State } from "../../state/model/record.ts";

export interface PlanInput {
  readonly registry: PlanningRegistry;
  readonly host: string;
  readonly spec: Spec;
  readonly live: Live;
  readonly state: State;
  /** Where records that the spec moved come from, by their new address, and the state before. */
  readonly moved?: { readonly origins: ReadonlyMap<Address, Address>; readonly before: State };
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
}
