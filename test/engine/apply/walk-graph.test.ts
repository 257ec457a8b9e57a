import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type GraphNode, walkGraph } from "../../../src/engine/apply/walk-graph.ts";
import { Semaphore } from "../../../src/engine/concurrency.ts";
import { sampleOf } from "../../sample-size.ts";

interface Setting {
  readonly after: Readonly<Record<string, readonly string[]>>;
  readonly fails?: readonly string[];
  readonly parallelism?: number;
  readonly stopAfter?: string;
}

async function walked(setting: Setting) {
  const log: string[] = [];
  let running = 0;
  let most = 0;
  let stopped = false;
  const nodes: GraphNode[] = Object.entries(setting.after).map(([key, after]) => ({
    key,
    after,
    run: async () => {
      log.push(`begin ${key}`);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      log.push(`end ${key}`);
      if (key === setting.stopAfter) stopped = true;
      return setting.fails?.includes(key) !== true;
    },
    blocked: (by) => log.push(`blocked ${key} by ${by}`),
    skipped: () => log.push(`skipped ${key}`),
  }));
  const slots = new Semaphore(setting.parallelism ?? 1);
  await walkGraph(
    nodes,
    () => slots,
    () => stopped,
  );
  return { log, most };
}

const node = (key: string, run: () => Promise<boolean>, kind?: string): GraphNode => ({
  key,
  ...(kind === undefined ? {} : { kind }),
  after: [],
  run,
  blocked: () => undefined,
  skipped: () => undefined,
});

/** Adds its key to the log when it ends. */
const logged = (log: string[], key: string, run: () => Promise<void>, kind?: string): GraphNode =>
  node(
    key,
    async () => {
      await run();
      log.push(key);
      return true;
    },
    kind,
  );

const CHAIN = { a: [], b: ["a"], c: ["b"], d: [] };

test("one slot runs nodes in their order, each after what it needs", async () => {
  const { log } = await walked({ after: { c: ["b"], a: [], b: ["a"], d: [] } });
  expect(log.filter((line) => line.startsWith("begin"))).toEqual([
    "begin a",
    "begin b",
    "begin c",
    "begin d",
  ]);
});

test("a node that needs another one twice waits for it once", async () => {
  const { log } = await walked({ after: { a: [], b: ["a", "a"] } });
  expect(log).toEqual(["begin a", "end a", "begin b", "end b"]);
});

test("a failure blocks what needs it, near and far, and nothing else", async () => {
  const { log } = await walked({ after: CHAIN, fails: ["a"] });
  expect(log.filter((line) => !line.startsWith("begin"))).toEqual([
    "end a",
    "blocked b by a",
    "blocked c by a",
    "end d",
  ]);
});

test("after a stop nothing begins, what runs ends, and the rest is skipped", async () => {
  const { log } = await walked({ after: CHAIN, parallelism: 2, stopAfter: "a" });
  expect(log.filter((line) => line.startsWith("begin"))).toEqual(["begin a", "begin d"]);
  expect(log).toContain("end d");
  expect(log.slice(-2)).toEqual(["skipped b", "skipped c"]);
});

test("needs that have no node are met already", async () => {
  const { log } = await walked({ after: { a: ["elsewhere"] } });
  expect(log).toEqual(["begin a", "end a"]);
});

test("as many run at once as there are slots, and never more", async () => {
  const after = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`n${at}`, []]));
  expect((await walked({ after, parallelism: 7 })).most).toBe(7);
  expect((await walked({ after, parallelism: 1 })).most).toBe(1);
});

test("a cycle is reported as a bug instead of waiting", async () => {
  await expect(walked({ after: { a: ["b"], b: ["a"] } })).rejects.toThrow("dependency cycle");
});

test("a bug in one node ends the walk with it once everything in flight has ended", async () => {
  let ended = false;
  const slow = node("slow", async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    ended = true;
    return true;
  });
  const broken = node("broken", async () => {
    throw new TypeError("a bug");
  });
  const slots = new Semaphore(2);
  const walk = walkGraph(
    [slow, broken],
    () => slots,
    () => false,
  );
  await expect(walk).rejects.toThrow("a bug");
  expect(ended).toBe(true);
});

test("a slot that is lent while a node waits lets another one run", async () => {
  const slots = new Semaphore(1);
  const log: string[] = [];
  const waiting = Promise.withResolvers<void>();
  await walkGraph(
    [
      logged(log, "waits", () => slots.outside(() => waiting.promise)),
      logged(log, "wakes", async () => waiting.resolve()),
    ],
    () => slots,
    () => false,
  );
  expect(log).toEqual(["wakes", "waits"]);
});

test("any graph, any failures, any parallelism: each node ends once, after its needs, or is blocked by a failed one", async () => {
  const graph = fc.integer({ min: 1, max: 25 }).chain((size) =>
    fc.record({
      edges: fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 40 }),
      fails: fc.array(fc.nat(size - 1), { maxLength: 4 }),
      parallelism: fc.integer({ min: 1, max: 8 }),
      size: fc.constant(size),
    }),
  );
  await fc.assert(
    fc.asyncProperty(graph, async ({ edges, fails, parallelism, size }) => {
      const after: Record<string, string[]> = Object.fromEntries(
        Array.from({ length: size }, (_, at) => [`n${at}`, [] as string[]]),
      );
      for (const [a, b] of edges) if (a !== b) after[`n${Math.max(a, b)}`]?.push(`n${Math.min(a, b)}`);
      const failing = fails.map((at) => `n${at}`);
      const { log, most } = await walked({ after, fails: failing, parallelism });
      expect(most).toBeLessThanOrEqual(parallelism);
      for (const [key, needs] of Object.entries(after)) {
        const begun = log.indexOf(`begin ${key}`);
        const blocked = log.filter((line) => line.startsWith(`blocked ${key} `)).length;
        expect(log.filter((line) => line === `end ${key}`).length + blocked).toBe(1);
        const bad = needs.some(
          (need) => failing.includes(need) || log.some((line) => line.startsWith(`blocked ${need} `)),
        );
        expect(blocked === 1).toBe(bad);
        if (begun >= 0) for (const need of needs) expect(log.indexOf(`end ${need}`)).toBeLessThan(begun);
      }
    }),
    { numRuns: sampleOf(60) },
  );
});

test("nodes that wait for the slots of one kind do not delay another kind", async () => {
  const kinds = new Map([
    ["slow", new Semaphore(1)],
    ["fast", new Semaphore(1)],
  ]);
  const log: string[] = [];
  const held = Promise.withResolvers<void>();
  await walkGraph(
    [
      logged(log, "a", () => held.promise, "slow"),
      logged(log, "b", async () => undefined, "slow"),
      logged(log, "c", async () => undefined, "fast"),
      logged(log, "d", async () => held.resolve(), "fast"),
    ],
    (kind) => kinds.get(kind) ?? new Semaphore(1),
    () => false,
  );
  expect(log[0]).toBe("c");
  expect(log.at(-1)).toBe("b");
});
