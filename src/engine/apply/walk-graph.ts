// Walks a graph with bounded parallelism: each node runs after its dependencies, and a failure blocks only its dependents.

import type { Semaphore } from "../concurrency.ts";

export interface GraphNode {
  readonly key: string;
  /** Keys of the dependencies; a key without a node counts as done. */
  readonly after: readonly string[];
  /** Nodes of one lane share slots; absent means the only lane. */
  readonly lane?: string;
  /** True when what waits for it may begin. */
  run(): Promise<boolean>;
  /** Called in place of `run` when a node that it needs did not succeed. */
  blocked(by: string): void;
  /** Called in place of `run` when the walk was stopped before its turn. */
  skipped(): void;
}

/** Slots by lane: nodes of one lane never take the slots of another. */
export type SlotsOf = (lane: string) => Semaphore;

/** Of the nodes of a lane that are ready, the first in the given order begins first. */
export async function walkGraph(
  nodes: readonly GraphNode[],
  slots: SlotsOf,
  stopped: () => boolean,
): Promise<void> {
  await new Walk(nodes, slots, stopped).all();
}

/** The progress of a node: how many dependencies it waits for, and what waits for it. */
class Visit {
  readonly node: GraphNode;
  readonly position: number;
  waitsFor = 0;
  isSettled = false;
  readonly dependents: Visit[] = [];

  constructor(node: GraphNode, position: number) {
    this.node = node;
    this.position = position;
  }
}

class Lane {
  readonly slots: Semaphore;
  readonly #ready: Visit[] = [];
  #begun = 0;

  constructor(slots: Semaphore) {
    this.slots = slots;
  }

  get isEmpty(): boolean {
    return this.#begun === this.#ready.length;
  }

  /** Nodes become ready almost in their order, so most are added at the end. */
  add(visit: Visit): void {
    let at = this.#ready.length;
    while (at > this.#begun && (this.#ready[at - 1]?.position ?? 0) > visit.position) at -= 1;
    this.#ready.splice(at, 0, visit);
  }

  take(): Visit | undefined {
    return this.#ready[this.#begun++];
  }
}

class Walk {
  readonly #visits: readonly Visit[];
  readonly #lanes = new Map<string, Lane>();
  readonly #stopped: () => boolean;
  #left: number;
  #running = 0;
  #wake: (() => void) | undefined;
  #crash: { readonly reason: unknown } | undefined;

  constructor(nodes: readonly GraphNode[], slots: SlotsOf, stopped: () => boolean) {
    this.#stopped = stopped;
    this.#left = nodes.length;
    this.#visits = nodes.map((node, position) => new Visit(node, position));
    const byKey = new Map(this.#visits.map((visit) => [visit.node.key, visit]));
    for (const visit of this.#visits)
      for (const key of new Set(visit.node.after)) {
        const needed = byKey.get(key);
        if (needed === undefined) continue;
        needed.dependents.push(visit);
        visit.waitsFor += 1;
      }
    for (const { lane = "" } of nodes)
      if (!this.#lanes.has(lane)) this.#lanes.set(lane, new Lane(slots(lane)));
    for (const lane of this.#lanes.values()) lane.slots.whenFreed(() => this.#wake?.());
    for (const visit of this.#visits) if (visit.waitsFor === 0) this.#ready(visit);
  }

  async all(): Promise<void> {
    while (this.#left > 0 && this.#crash === undefined && !this.#stopped()) {
      if (this.#begin()) {
        // Yields to other work between two starts.
        await undefined;
        continue;
      }
      if (this.#running === 0 && [...this.#lanes.values()].every((lane) => lane.isEmpty))
        throw new Error("dependency cycle: plans are audited before they are applied");
      await this.#change();
    }
    while (this.#running > 0) await this.#change();
    if (this.#crash !== undefined) throw this.#crash.reason;
    for (const { node, isSettled } of this.#visits) if (!isSettled) node.skipped();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #ready(visit: Visit): void {
    this.#lanes.get(visit.node.lane ?? "")?.add(visit);
  }

  /** Begins one node of the first lane with a ready node and a free slot; false if there is none. */
  #begin(): boolean {
    for (const lane of this.#lanes.values()) {
      if (lane.isEmpty || !lane.slots.tryTake()) continue;
      const visit = lane.take();
      if (visit === undefined) continue;
      this.#running += 1;
      void this.#run(visit).finally(() => {
        this.#running -= 1;
        lane.slots.give();
        this.#wake?.();
      });
      return true;
    }
    return false;
  }

  async #run(visit: Visit): Promise<void> {
    try {
      const isDone = await visit.node.run();
      this.#settle(visit);
      if (isDone) this.#release(visit);
      else this.#block(visit);
    } catch (reason) {
      // A bug: nodes in progress finish, then the walk fails with it.
      this.#crash ??= { reason };
    }
  }

  #settle(visit: Visit): void {
    visit.isSettled = true;
    this.#left -= 1;
  }

  #release({ dependents }: Visit): void {
    for (const dependent of dependents) {
      dependent.waitsFor -= 1;
      if (dependent.waitsFor === 0 && !dependent.isSettled) this.#ready(dependent);
    }
  }

  /** Everything that needs a failed node, near or far. */
  #block(failed: Visit): void {
    const queue = [...failed.dependents];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (next.isSettled) continue;
      this.#settle(next);
      next.node.blocked(failed.node.key);
      queue.push(...next.dependents);
    }
  }
}
