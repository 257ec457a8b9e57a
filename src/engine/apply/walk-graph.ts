// Walks a graph of work: each node after those it needs, as many at once as there are slots, a failure stops only what needs it.

import type { Semaphore } from "../concurrency.ts";

export interface GraphNode {
  readonly key: string;
  /** Keys of the nodes that come before; keys without a node are done already. */
  readonly after: readonly string[];
  /** True when what waits for it may begin. */
  run(): Promise<boolean>;
  /** Called in place of `run` when a node that it needs did not succeed. */
  blocked(by: string): void;
  /** Called in place of `run` when the walk was stopped before its turn. */
  skipped(): void;
}

/** Nodes that are ready begin in their given order. Resolves when each node was run, blocked or skipped. */
export async function walkGraph(
  nodes: readonly GraphNode[],
  slots: Semaphore,
  stopped: () => boolean,
): Promise<void> {
  await new Walk(nodes, slots, stopped).all();
}

class Walk {
  readonly #nodes: readonly GraphNode[];
  readonly #slots: Semaphore;
  readonly #stopped: () => boolean;
  readonly #missing: number[];
  readonly #dependents: number[][];
  readonly #ready = new Heap();
  readonly #settled: boolean[];
  #left: number;
  #wake: (() => void) | undefined;
  #crash: { readonly reason: unknown } | undefined;

  constructor(nodes: readonly GraphNode[], slots: Semaphore, stopped: () => boolean) {
    this.#nodes = nodes;
    this.#slots = slots;
    this.#stopped = stopped;
    this.#left = nodes.length;
    this.#settled = nodes.map(() => false);
    const places = new Map(nodes.map((node, at) => [node.key, at]));
    this.#dependents = nodes.map(() => []);
    this.#missing = nodes.map((node, at) => {
      const needs = new Set(node.after.flatMap((key) => places.get(key) ?? []));
      for (const need of needs) this.#dependents[need]?.push(at);
      return needs.size;
    });
    this.#missing.forEach((count, at) => {
      if (count === 0) this.#ready.push(at);
    });
  }

  async all(): Promise<void> {
    let running = 0;
    while (this.#left > 0 && this.#crash === undefined) {
      if (this.#ready.size === 0) {
        if (running === 0) throw new Error("dependency cycle: plans are audited before they are applied");
        await this.#change();
        continue;
      }
      await this.#slots.take();
      const at = this.#crash === undefined && !this.#stopped() ? this.#ready.pop() : undefined;
      if (at === undefined) {
        this.#slots.give();
        if (this.#crash === undefined && !this.#stopped()) continue;
        break;
      }
      running += 1;
      void this.#run(at).finally(() => {
        running -= 1;
        this.#slots.give();
        this.#wake?.();
      });
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
      // A bug: what is in flight ends, and then the walk fails with it.
      this.#crash ??= { reason };
    }
  }

  #settle(at: number): void {
    this.#settled[at] = true;
    this.#left -= 1;
  }

  #release(at: number): void {
    for (const dependent of this.#dependents[at] ?? []) {
      const left = (this.#missing[dependent] ?? 0) - 1;
      this.#missing[dependent] = left;
      if (left === 0 && this.#settled[dependent] !== true) this.#ready.push(dependent);
    }
  }

  /** Everything that needs a failed node, near or far. */
  #block(at: number, by: string): void {
    const queue = [...(this.#dependents[at] ?? [])];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (this.#settled[next] === true) continue;
      this.#settle(next);
      this.#nodes[next]?.blocked(by);
      queue.push(...(this.#dependents[next] ?? []));
    }
  }
}

/** The smallest of many numbers first. */
class Heap {
  readonly #items: number[] = [];

  get size(): number {
    return this.#items.length;
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
