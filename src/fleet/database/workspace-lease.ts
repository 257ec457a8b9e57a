// A lease on a workspace: at most one process runs it. The lease is renewed during the run, and a run that cannot renew it stops.

import { type Diagnostic, error, type Failure } from "../../core/diagnostic.ts";
import { columnNumber, columnText, type Database } from "../../state/backends/postgres/database.ts";
import { ageOf, type Clock, momentOf } from "../../state/model/store.ts";
import type { FleetWorkspace } from "../model/fleet.ts";
import { FLEET_COMMANDS, type FleetCommand, type WorkspaceResult } from "../model/result.ts";
import { storable } from "./tables.ts";

interface WorkspaceLease {
  /** Aborts when the lease is lost, or could not be renewed in time. */
  readonly lost: AbortSignal;
  /** Shows the present log of the run to `fleet logs --follow`, with the next renewal. */
  logged(log: string): void;
  release(): Promise<void>;
}

/** Who runs what, for `fleet status`. */
export interface LeaseHolder {
  readonly worker: string;
  readonly version: string;
  readonly command: FleetCommand;
  readonly run?: string;
  readonly attempt?: number;
}

/** A run under its lease. `lost`: its process ended before the run reported a result. */
export interface ActiveRun extends Omit<LeaseHolder, "command"> {
  readonly workspace: string;
  readonly command: FleetCommand | undefined;
  readonly startedAt: number;
  readonly isLost: boolean;
  readonly log?: string;
}

interface WorkspaceLeaseTimes {
  /** From the last renewal to the moment at which another process may begin. */
  readonly expiryMs: number;
  readonly renewalMs: number;
  /** A run stops at this age of its last renewal: before the expiry, so that it has time to end. */
  readonly stopMs: number;
}

const TIMES: WorkspaceLeaseTimes = { expiryMs: 30_000, renewalMs: 5_000, stopMs: 20_000 };

/** Wait before the next try to acquire a lease of another process. */
const RETRY_MS = 1_000;

export interface WorkspaceLeases {
  /** The lease; or the process that holds it, if it did not become free in `patienceMs`, or before `signal` aborted. */
  acquire(
    workspace: string,
    holder: LeaseHolder,
    patienceMs: number,
    signal?: AbortSignal,
  ): Promise<WorkspaceLease | { readonly heldBy: string }>;
  /** The log only of the workspace that `of` names. */
  active(of?: string): Promise<readonly ActiveRun[]>;
}

/** Expiry uses the clock of the server; the age of a renewal uses `clock`. */
export function openLeases(
  database: Database,
  schema: string,
  clock: Clock,
  times: WorkspaceLeaseTimes = TIMES,
): WorkspaceLeases {
  const table = `${schema}.leases`;
  const expiry = `clock_timestamp() + interval '${times.expiryMs} milliseconds'`;
  return {
    async acquire(workspace, holder, patienceMs, signal) {
      const row = leaseRow(database, table, expiry, workspace);
      const until = clock.elapsed() + patienceMs;
      for (;;) {
        const heldBy = await row.claim(holder);
        if (heldBy === undefined) return renewed(row, clock, times);
        if (clock.elapsed() >= until || signal?.aborted === true) return { heldBy };
        await clock.sleep(RETRY_MS, signal);
      }
    },
    active: (of) => activeRuns(database, table, of),
  };
}

type LeaseRow = ReturnType<typeof leaseRow>;

/** The row of a workspace, which this process holds while it has the token. */
function leaseRow(database: Database, table: string, expiry: string, workspace: string) {
  const key = [workspace, crypto.randomUUID()];
  const isKey = "workspace = $1 and token = $2";
  const isChanged = async (sql: string, ...values: readonly string[]): Promise<boolean> =>
    (await database.query(sql, [...key, ...values])).count > 0;
  return {
    /** Returns the worker that holds the lease, unless `holder` holds it now. */
    async claim({ worker, version, command, run, attempt }: LeaseHolder): Promise<string | undefined> {
      // A statement that is repeated over a broken connection finds its own token.
      const { count } = await database.query(
        `insert into ${table} as held (workspace, token, worker, expires_at, version, command, run, attempt, started_at)
         values ($1, $2, $3, ${expiry}, $4, $5, $6, $7::integer, clock_timestamp())
         on conflict (workspace) do update set token = $2, worker = $3, expires_at = ${expiry},
           version = $4, command = $5, run = $6, attempt = $7::integer, started_at = clock_timestamp(), log = null
         where held.expires_at < clock_timestamp() or held.token = $2`,
        [...key, worker, version, command, run ?? null, attempt ?? null],
      );
      if (count > 0) return undefined;
      const { rows } = await database.query(`select worker from ${table} where workspace = $1`, [workspace]);
      return columnText(rows[0], "worker") ?? "another process";
    },
    renew: () => isChanged(`update ${table} set expires_at = ${expiry} where ${isKey}`),
    log: (log: string) => isChanged(`update ${table} set log = $3 where ${isKey}`, storable(log)),
    release: () => isChanged(`delete from ${table} where ${isKey}`),
  };
}

/** The lease, which is renewed until it is released or lost. */
function renewed(row: LeaseRow, clock: Clock, times: WorkspaceLeaseTimes): WorkspaceLease {
  const [ended, lost, stop] = [new AbortController(), new AbortController(), new AbortController()];
  let renewedAt = momentOf(clock);
  let log: string | undefined;
  const left = (): number => times.stopMs - ageOf(clock, renewedAt);
  const watch = async (): Promise<void> => {
    while (!ended.signal.aborted && left() > 0) await clock.sleep(Math.max(1, left()), ended.signal);
    if (!ended.signal.aborted) lost.abort();
    stop.abort();
  };
  const renew = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(times.renewalMs, stop.signal);
      if (stop.signal.aborted) return;
      const sentAt = momentOf(clock);
      const isRenewed = await row.renew().catch(() => undefined);
      if (log !== undefined && isRenewed === true) {
        const text = log;
        log = undefined;
        await row.log(text).catch(() => undefined);
      }
      if (isRenewed === true) renewedAt = sentAt;
      if (isRenewed === false && !ended.signal.aborted) lost.abort();
    }
  };
  ended.signal.addEventListener("abort", () => stop.abort(), { once: true });
  const renewing = Promise.all([watch(), renew()]);
  return {
    lost: lost.signal,
    logged(text) {
      log = text;
    },
    async release() {
      ended.abort();
      await renewing;
      // A lease that cannot be released expires.
      await row.release().catch(() => false);
    },
  };
}

async function activeRuns(database: Database, table: string, of = ""): Promise<readonly ActiveRun[]> {
  const { rows } = await database.query(
    `select workspace, worker, version, command, run, attempt, (extract(epoch from started_at) * 1000)::float8 as started,
       expires_at < clock_timestamp() as lost,
       case when workspace = $1 then log end as log
     from ${table} order by started_at, workspace`,
    [of],
  );
  return rows.map(
    (row): ActiveRun => ({
      workspace: columnText(row, "workspace") ?? "",
      worker: columnText(row, "worker") ?? "",
      version: columnText(row, "version") ?? "?",
      command: FLEET_COMMANDS.find((name) => name === row.command),
      run: columnText(row, "run"),
      ...(row.attempt === null ? {} : { attempt: columnNumber(row, "attempt") }),
      startedAt: Math.round(columnNumber(row, "started")),
      isLost: row.lost === true,
      log: columnText(row, "log"),
    }),
  );
}

/** Never throws: a lease that another process holds, or a database that fails, is a result. */
export async function runUnderLease(
  leases: WorkspaceLeases,
  holder: LeaseHolder,
  workspace: FleetWorkspace,
  execute: (lost: AbortSignal, logged: (log: string) => void) => Promise<WorkspaceResult>,
  refused: (reason: Diagnostic) => WorkspaceResult,
): Promise<WorkspaceResult> {
  const lease = await leases.acquire(workspace.name, holder, 0).catch((failure: Failure) => failure);
  if (lease instanceof Error) return refused(lease.diagnostics[0] ?? busy(workspace.name, holder.worker));
  if ("heldBy" in lease) return refused(busy(workspace.name, lease.heldBy));
  try {
    return await execute(lease.lost, lease.logged);
  } finally {
    await lease.release();
  }
}

export function busy(workspace: string, heldBy: string): Diagnostic {
  return error("FLEET_BUSY", `${heldBy} already runs ${workspace}`, {
    hint: "wait until that run ends; if it was killed, its lease expires within 30 s",
  });
}
