// A run that a person started, under the lease of its workspace, so that no worker runs the workspace at the same time.

import { type Diagnostic, error, type Failure } from "../../core/diagnostic.ts";
import type { WorkspaceLeases } from "../database/lease.ts";
import type { FleetWorkspace } from "../model/fleet.ts";
import type { WorkspaceResult } from "../model/result.ts";

/** Never throws: a lease that another process holds, or a database that fails, is a result. */
export async function runUnderLease(
  leases: WorkspaceLeases,
  worker: string,
  workspace: FleetWorkspace,
  execute: (lost: AbortSignal) => Promise<WorkspaceResult>,
  refused: (reason: Diagnostic) => WorkspaceResult,
): Promise<WorkspaceResult> {
  const lease = await leases.acquire(workspace.name, worker, 0).catch((failure: Failure) => failure);
  if (lease instanceof Error) return refused(lease.diagnostics[0] ?? busy(workspace.name, worker));
  if ("heldBy" in lease) return refused(busy(workspace.name, lease.heldBy));
  try {
    return await execute(lease.lost);
  } finally {
    await lease.release();
  }
}

export function busy(workspace: string, heldBy: string): Diagnostic {
  return error("FLEET_BUSY", `${heldBy} already runs ${workspace}`, {
    hint: "wait until that run ends; if it was killed, its lease expires within 30 s",
  });
}
