// Walks a graph with bounded parallelism: each node runs after its dependencies, and a failure blocks only its dependents.

import type { Semaphore } from "../concurrency.ts";

export interface GraphNode {
  readonly key: string;
  /** Keys of the dependencies; a key without a node counts as done. */
  readonly after: readonly string[];
  /** Nodes of one kind share slots. */
  readonly kind?: string;
  /** True when what waits for it may begin. */
  run(): Promise<boolean>;
  /** Called in place of `run` when a node that it needs did not succeed. */
  blocked(by: string): void;
  /** Called in place of `run` when the walk was stopped before its turn. */
  skipped(): void;
}

/** Slots by kind: nodes of one kind never take the slots of another. */
type SlotsOf = (kind: string) => Semaphore;

/** The progress of a node: how many dependencies it waits for, and what waits for it. */
interface Visit {
  readonly node: GraphNode;
  readonly position: number;
  readonly dependents: Visit[];
  waitsFor: number;
  isSettled: boolean;
}

/** Of the nodes of a kind that are ready, the first in the given order begins first. */
export async function walkGraph(
  nodes: readonly GraphNode[],
  slots: SlotsOf,
  stopped: () => boolean,
): Promise<void> {
  const visits = visitsOf(nodes);
  const ended = Promise.withResolvers<void>();
  /** Visits that wait for a slot or run. */
  let active = 0;
  let crash: { readonly reason: unknown } | undefined;

  const begin = (visit: Visit): void => {
    active += 1;
    slots(visit.node.kind ?? "").queue(() => void run(visit), visit.position);
  };
  const run = async (visit: Visit): Promise<void> => {
    try {
      // Yields to other work between two starts.
      await undefined;
      if (crash !== undefined || stopped()) return;
      const isDone = await visit.node.run();
      visit.isSettled = true;
      if (isDone) for (const dependent of released(visit)) begin(dependent);
      else block(visit);
    } catch (reason) {
      // A bug: nodes in progress finish, then the walk fails with it.
      crash ??= { reason };
    } finally {
      slots(visit.node.kind ?? "").give();
      active -= 1;
      if (active === 0) ended.resolve();
    }
  };

  for (const visit of visits) if (visit.waitsFor === 0) begin(visit);
  if (active > 0) await ended.promise;
  if (crash !== undefined) throw crash.reason;
  const left = visits.filter(({ isSettled }) => !isSettled);
  if (left.length > 0 && !stopped())
    throw new Error("dependency cycle: plans are audited before they are applied");
  for (const { node } of left) node.skipped();
}

function visitsOf(nodes: readonly GraphNode[]): readonly Visit[] {
  const visits = nodes.map(
    (node, position): Visit => ({ node, position, dependents: [], waitsFor: 0, isSettled: false }),
  );
  const byKey = new Map(visits.map((visit) => [visit.node.key, visit]));
  for (const visit of visits)
    for (const key of new Set(visit.node.after)) {
      const needed = byKey.get(key);
      if (needed === undefined) continue;
      needed.dependents.push(visit);
      visit.waitsFor += 1;
    }
  return visits;
}

/** The dependents of a node that waited for nothing else. */
function released({ dependents }: Visit): readonly Visit[] {
  for (const dependent of dependents) dependent.waitsFor -= 1;
  return dependents.filter(({ waitsFor, isSettled }) => waitsFor === 0 && !isSettled);
}

/** Everything that needs a failed node, near or far. */
function block(failed: Visit): void {
  const queue = [...failed.dependents];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (next.isSettled) continue;
    next.isSettled = true;
    next.node.blocked(failed.node.key);
    queue.push(...next.dependents);
  }
}
