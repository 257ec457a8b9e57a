// The parts of a running service.

import type { Dialect } from "./dialect/databricks.ts";
import type { Contract } from "./http/contract.ts";
import type { Store } from "./store/store.ts";
import type { EmulatorClock } from "./world/clock.ts";
import type { Area } from "./world/operation.ts";

export interface AppParts {
  readonly store: Store;
  readonly contract: Contract;
  readonly clock: EmulatorClock;
  /** Token of the administrator. */
  readonly token: string;
  /** User name of the administrator. */
  readonly admin: string;
  /** Waits for the fault `slow`; without it a slow answer comes at once. */
  readonly sleep?: (ms: number) => Promise<void>;
  readonly areas?: readonly Area[];
  /** Another dialect than the contract's; its areas and description take the place of those above. */
  readonly dialect?: Dialect;
}
