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

/** Ready nodes begin in their given order; where many wait, those with the longest chain of dependents begin first. */
export async function walkGraph(
  nodes: readonly GraphNode[],
  slots: SlotsOf,
  stopped: () => boolean,
): Promise<void> {
  await new Walk(nodes, slots, stopped).all();
}

/** With fewer nodes than this, most that are ready begin at once, so urgency would only change the order of the report. */
const CROWDED = 100;

interface Lane {
  readonly slots: Semaphore;
  /** Places of nodes that may begin, by urgency. */
  readonly ready: Heap;
}

class Walk {
  readonly #nodes: readonly GraphNode[];
  readonly #stopped: () => boolean;
  readonly #missing: number[];
  /** Places of the nodes that wait for a node. */
  readonly #dependents = new Map<number, number[]>();
  readonly #lanes = new Map<string, Lane>();
  /** The rank of each node: the smallest begins first. */
  readonly #ranks: readonly number[];
  /** Places of nodes by rank. */
  readonly #places: readonly number[];
  readonly #settled: boolean[];
  #left: number;
  #wake: (() => void) | undefined;
  #crash: { readonly reason: unknown } | undefined;

  constructor(nodes: readonly GraphNode[], slots: SlotsOf, stopped: () => boolean) {
    this.#nodes = nodes;
    this.#stopped = stopped;
    this.#left = nodes.length;
    this.#settled = nodes.map(() => false);
    const places = new Map(nodes.map((node, at) => [node.key, at]));
    this.#missing = nodes.map((node, at) => {
      const needs = new Set(node.after.flatMap((key) => places.get(key) ?? []));
      for (const need of needs) {
        const waiting = this.#dependents.get(need);
        if (waiting === undefined) this.#dependents.set(need, [at]);
        else waiting.push(at);
      }
      return needs.size;
    });
    const urgency = nodes.length > CROWDED ? urgencyOf(this.#dependents, this.#missing) : [];
    this.#places = nodes.map((_, at) => at).sort((a, b) => (urgency[b] ?? 0) - (urgency[a] ?? 0) || a - b);
    const ranks = nodes.map(() => 0);
    this.#places.forEach((at, rank) => {
      ranks[at] = rank;
    });
    this.#ranks = ranks;
    for (const { lane = "" } of nodes)
      if (!this.#lanes.has(lane)) this.#lanes.set(lane, { slots: slots(lane), ready: new Heap() });
    for (const lane of this.#lanes.values()) lane.slots.whenFreed(() => this.#wake?.());
    this.#missing.forEach((count, at) => {
      if (count === 0) this.#push(at);
    });
  }

  #push(at: number): void {
    this.#lanes.get(this.#nodes[at]?.lane ?? "")?.ready.push(this.#ranks[at] ?? 0);
  }

  /** Takes a slot for the most urgent node that is ready and has one. */
  #next(): { readonly at: number; readonly slots: Semaphore } | "none ready" | "no slot" {
    let hasReady = false;
    for (const { ready, slots } of this.#byUrgency()) {
      hasReady = true;
      if (!slots.tryTake()) continue;
      return { at: this.#places[ready.pop() ?? 0] ?? 0, slots };
    }
    return hasReady ? "no slot" : "none ready";
  }

  #byUrgency(): readonly Lane[] {
    const lanes = [...this.#lanes.values()].filter(({ ready }) => ready.first !== undefined);
    return lanes.length < 2 ? lanes : lanes.sort((a, b) => (a.ready.first ?? 0) - (b.ready.first ?? 0));
  }

  async all(): Promise<void> {
    let running = 0;
    while (this.#left > 0 && this.#crash === undefined && !this.#stopped()) {
      const next = this.#next();
      if (typeof next === "string") {
        if (running === 0 && next === "none ready")
          throw new Error("dependency cycle: plans are audited before they are applied");
        await this.#change();
        continue;
      }
      running += 1;
      void this.#run(next.at).finally(() => {
        running -= 1;
        next.slots.give();
        this.#wake?.();
      });
      // Yields to other work between two starts.
      await undefined;
    }
    while (running > 0) await this.#change();
    if (this.#crash !== undefined) throw this.#crash.reason;
    this.#nodes.forEach((node, at) => {
      if (this.#settled[at] !== true) node.skipped();
    });
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async #run(at: number): Promise<void> {
    const node = this.#nodes[at];
    if (node === undefined) return;
    try {
      const good = await node.run();
      this.#settle(at);
      if (good) this.#release(at);
      else this.#block(at, node.key);
    } catch (reason) {
      // A bug: nodes in progress finish, then the walk fails with it.
      this.#crash ??= { reason };
    }
  }

  #settle(at: number): void {
    this.#settled[at] = true;
    this.#left -= 1;
  }

  #release(at: number): void {
    for (const dependent of this.#dependents.get(at) ?? []) {
      const left = (this.#missing[dependent] ?? 0) - 1;
      this.#missing[dependent] = left;
      if (left === 0 && this.#settled[dependent] !== true) this.#push(dependent);
    }
  }

  /** Everything that needs a failed node, near or far. */
  #block(at: number, by: string): void {
    const queue = [...(this.#dependents.get(at) ?? [])];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (this.#settled[next] === true) continue;
      this.#settle(next);
      this.#nodes[next]?.blocked(by);
      queue.push(...(this.#dependents.get(next) ?? []));
    }
  }
}

/** How many nodes wait for each node in the longest chain, and as a fraction how many wait in all. */
function urgencyOf(
  dependents: ReadonlyMap<number, readonly number[]>,
  missing: readonly number[],
): readonly number[] {
  const open = [...missing];
  const order: number[] = [];
  open.forEach((count, at) => {
    if (count === 0) order.push(at);
  });
  for (let next = 0; next < order.length; next++)
    for (const dependent of dependents.get(order[next] ?? 0) ?? []) {
      open[dependent] = (open[dependent] ?? 0) - 1;
      if (open[dependent] === 0) order.push(dependent);
    }
  const heights = missing.map(() => 0);
  const counts = missing.map(() => 0);
  for (const at of order.toReversed())
    for (const dependent of dependents.get(at) ?? []) {
      heights[at] = Math.max(heights[at] ?? 0, (heights[dependent] ?? 0) + 1);
      counts[at] = Math.min(missing.length, (counts[at] ?? 0) + (counts[dependent] ?? 0) + 1);
    }
  return heights.map((height, at) => height + (counts[at] ?? 0) / (missing.length + 1));
}

/** The smallest of many numbers first. */
class Heap {
  readonly #items: number[] = [];

  get first(): number | undefined {
    return this.#items[0];
  }

  push(item: number): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = items[up] ?? 0;
      if (above <= item) break;
      items[at] = above;
      at = up;
    }
    items[at] = item;
  }

  pop(): number | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (first === undefined || last === undefined || items.length === 0) return first;
    let at = 0;
    for (let down = 1; down < items.length; down = 2 * at + 1) {
      const right = items[down + 1];
      const left = items[down] ?? 0;
      const small = right !== undefined && right < left ? right : left;
      if (small >= last) break;
      items[at] = small;
      at = small === left ? down : down + 1;
    }
    items[at] = last;
    return first;
  }
}
