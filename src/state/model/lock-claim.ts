// A claim on the lock of a state: its holder, and its expiry.

export interface LockOwner {
  readonly user: string;
  readonly host: string;
  readonly pid: number;
  /** Names a machine, boot and process space in which `pid` means one process; empty where the system tells none. */
  readonly machine: string;
  /** Distinguishes two processes with the same PID; empty if the system does not provide it. */
  readonly started: string;
  /** The page of the CI run that the process belongs to. */
  readonly run_url?: string;
}

/** One acquisition of the lock. `fence` grows with each; the greatest one holds the lock. Times in epoch ms. */
export interface LockClaim {
  readonly fence: number;
  readonly nonce: string;
  readonly owner: LockOwner;
  readonly taken_at: number;
  readonly renewed_at: number;
  readonly lease_ms: number;
  /** The longest time that a request of the holder may take after its lease expired. */
  readonly request_ms: number;
  readonly released?: true;
  /** Number of the last entry that was durable when the claim was last written. */
  readonly seq?: number;
}

/** When a lease counts: how long it lasts, how often it is renewed, how long its last request may take. */
export interface LeaseTimes {
  readonly leaseMs: number;
  readonly requestMs: number;
}
