// Executes a plan without changing it: walks its graph, journals each step, verifies the writes, saves the state.

import type { Address } from "../../core/address.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import { lazily } from "../../core/lazily.ts";
import { failureDiagnostic } from "../../core/request-failure.ts";
import { type Change, type Create, changeKey, type Replace, writes } from "../../planner/model/change.ts";
import {
  type ApplyEvent,
  type ApplyOutcome,
  type ChangeOutcome,
  type ChangeStatus,
  wasStopped,
} from "../../planner/model/plan.ts";
import { type WorkItem, workGraph } from "../../planner/order/apply-order.ts";
import {
  type ApplyInput,
  type ApplyRun,
  type ChangeResult,
  isStopped,
  notStarted,
  startRun,
} from "./apply-run.ts";
import {
  create,
  forget,
  recordAsIs,
  remove,
  removeReplaced,
  renameReplaced,
  update,
} from "./change-actions.ts";
import { recordUnchanged, save, verify } from "./verify.ts";
import { type GraphNode, walkGraph } from "./walk-graph.ts";

/** The caller holds the lock, has appended the entries of recovery, and has audited the plan; a saved one was audited before it was saved. */
export async function applyPlan(input: ApplyInput): Promise<ApplyOutcome> {
  const { clock, signal } = input;
  const { changes } = input.plan;
  const begun = clock.now();
  const run = startRun(input);
  const outcomes = new OutcomeLog(() => clock.now(), input.onEvent);
  const items = workGraph(changes);
  outcomes.begin(items);
  // If this fails, the run is halted: the walk then starts nothing and skips each change.
  await recordHost(run);
  const walk: Walk = {
    run,
    outcomes,
    // Only blocked changes need it.
    changeByItem: lazily(() => new Map(items.map((item) => [item.key, item.change]))),
  };
  await walkGraph(
    items.map((item) => new WorkNode(walk, item)),
    run.slots,
    () => isStopped(run),
  );
  return {
    changes: outcomes.all(changes),
    // A halted run can write nothing: its journal is the record, and the history says that the run is unfinished.
    diagnostics: run.halted === undefined ? await endRun(run, outcomes) : [run.halted],
    interrupted: signal.aborted,
    elapsedMs: clock.now() - begun,
  };
}

async function endRun(run: ApplyRun, outcomes: OutcomeLog): Promise<readonly Diagnostic[]> {
  const { plan, signal, clock } = run.input;
  recordUnchanged(run);
  // After a stop, the user waits for the end, and the next plan compares.
  const written = plan.changes.filter(
    (change) => writes(change) && outcomes.of(change)?.result === "applied",
  );
  const differences = isStopped(run) ? [] : await verify(run, written);
  run.endHistory?.(outcomes.all(plan.changes), signal.aborted, clock.now());
  return [...differences, ...(await save(run))];
}

/** A state belongs to the workspace that it is first applied to. */
async function recordHost(run: ApplyRun): Promise<void> {
  const { lease, plan } = run.input;
  if (lease.state().host !== "" || plan.changes.length === 0) return;
  try {
    await lease.append({ type: "host", host: plan.host });
  } catch (failure) {
    run.halted = failureDiagnostic(failure);
  }
}

/** What the nodes of an apply share. */
interface Walk {
  readonly run: ApplyRun;
  readonly outcomes: OutcomeLog;
  readonly changeByItem: () => ReadonlyMap<string, Change>;
}

/** A class, because an apply of 100,000 resources has as many nodes, and three functions in each take more memory. */
class WorkNode implements GraphNode {
  readonly #walk: Walk;
  readonly #item: WorkItem;

  constructor(walk: Walk, item: WorkItem) {
    this.#walk = walk;
    this.#item = item;
  }

  get key(): string {
    return this.#item.key;
  }

  get after(): readonly string[] {
    return this.#item.after;
  }

  get kind(): string {
    return this.#item.change.kind;
  }

  async run(): Promise<boolean> {
    const { change, phase } = this.#item;
    const { run, outcomes } = this.#walk;
    outcomes.start(change);
    const result = await applyItem(run, this.#item);
    // A new object is not the end of a replacement: the item that removes the old one is.
    if (phase !== "make" || result.result !== "applied") outcomes.end(change, result);
    return result.result === "applied";
  }

  blocked(by: string): void {
    const { change } = this.#item;
    const { outcomes, changeByItem } = this.#walk;
    const cause = changeByItem().get(by);
    if (cause === undefined) throw new Error(`the plan has no item ${by}, which blocks ${change.address}`);
    const outcome = outcomes.of(cause);
    // The cause has not failed: the run ended before it.
    if (outcome !== undefined && wasStopped(outcome)) {
      this.skipped();
      return;
    }
    const { address } = cause;
    outcomes.end(change, { result: "blocked", diagnostic: blockedDiagnostic(change, address) }, address);
  }

  skipped(): void {
    const { change } = this.#item;
    this.#walk.outcomes.end(change, { result: "skipped", diagnostic: notStarted(change) });
  }
}

function applyItem(run: ApplyRun, { change, phase }: WorkItem): Promise<ChangeResult> {
  switch (change.action) {
    case "create":
      return create(run, change, { nameWasTaken: isNameTaken(run, change) });
    case "update":
      return update(run, change);
    case "replace":
      if (phase === "remove") return removeReplaced(run, change);
      // With `delete-first`, this item is the whole replacement. Otherwise another item removes the old object, unless the plan keeps it.
      return createReplacement(run, change);
    case "delete":
      return remove(run, change);
    case "adopt":
    case "import":
    case "move":
      return recordAsIs(run, change);
    case "forget":
      return forget(run, change);
    // Only a comparison that found no difference has an item; other unchanged resources have none.
    case "noop":
      return Promise.resolve({ result: "applied", id: change.id });
    // `withSecretValues` has turned each comparison into an update or a noop.
    case "compare":
    case "report":
      throw new Error(`${change.address} is of the action ${change.action}, which an apply does not execute`);
    default:
      return change satisfies never;
  }
}

async function createReplacement(run: ApplyRun, change: Replace): Promise<ChangeResult> {
  if (change.replacing === "create-first")
    return create(run, change, { nameWasTaken: isNameTaken(run, change) });
  const freed = await (change.replacing === "rename-aside"
    ? renameReplaced(run, change)
    : remove(run, { ...change, action: "delete" }));
  return freed.result === "applied" ? create(run, change, { nameWasTaken: false }) : freed;
}

/** Whether an object has the name when a creation begins. A name that another change of the plan frees is free by then. */
function isNameTaken(run: ApplyRun, change: Create | Replace): boolean {
  return change.nameFrom === undefined && run.names.idOf(change.kind, change.name) !== undefined;
}

/** The outcome of each change, for the report of the apply. */
class OutcomeLog {
  readonly #now: () => number;
  readonly #onEvent: (event: ApplyEvent) => void;
  readonly #started = new Map<string, number>();
  readonly #outcomes = new Map<string, ChangeOutcome>();

  constructor(now: () => number, onEvent: (event: ApplyEvent) => void) {
    this.#now = now;
    this.#onEvent = onEvent;
  }

  begin(items: readonly WorkItem[]): void {
    const totals: Record<string, number> = {};
    for (const { change, phase } of items)
      if (phase !== "remove") totals[change.kind] = (totals[change.kind] ?? 0) + 1;
    this.#onEvent({ type: "apply_begin", totals });
  }

  start(change: Change): void {
    const key = changeKey(change);
    if (this.#started.has(key)) return;
    this.#started.set(key, this.#now());
    const { address, kind, action } = change;
    this.#onEvent({ type: "apply_start", address, kind, action });
  }

  /** Keeps the first outcome: if a new object failed, the removal of the old one that waits for it adds nothing. */
  end(change: Change, ended: ChangeResult, blockedBy?: Address): void {
    const key = changeKey(change);
    if (this.#outcomes.has(key)) return;
    const { address, kind, action } = change;
    const now = this.#now();
    const outcome: ChangeOutcome = {
      address,
      kind,
      action,
      result: ended.result,
      id: ended.id,
      diagnostic: ended.diagnostic,
      blockedBy,
      elapsedMs: now - (this.#started.get(key) ?? now),
    };
    this.#started.delete(key);
    this.#outcomes.set(key, outcome);
    this.#onEvent({ type: eventOf(ended.result), outcome });
  }

  of(change: Change): ChangeOutcome | undefined {
    return this.#outcomes.get(changeKey(change));
  }

  /** In the order of the plan. */
  all(changes: readonly Change[]): readonly ChangeOutcome[] {
    return changes.flatMap((change) => this.of(change) ?? []);
  }
}

/** A skipped change did not fail: live moved, or the run was stopped before it. */
function eventOf(result: ChangeStatus): "apply_complete" | "apply_skipped" | "apply_errored" {
  if (result === "applied") return "apply_complete";
  return result === "skipped" ? "apply_skipped" : "apply_errored";
}

function blockedDiagnostic(change: Change, by: Address): Diagnostic {
  return error("APPLY_BLOCKED", `${change.address} is blocked because ${by} was not applied`, {
    address: change.address,
    hint: `fix ${by}, then apply again`,
  });
}
