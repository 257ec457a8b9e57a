// Every write of an apply meets a failing network: the next run finds out what became of it, and nothing is made twice.

import { expect, test } from "vitest";
import type { HttpRequest, HttpResponse } from "../../src/api/http/transport.ts";
import { FIRST, inventory, SECOND } from "./scenario.ts";
import { doing, results, type Send, Site } from "./site.ts";

type Fate = "lost before" | "lost after" | "committed late" | "failed after";

interface Ill {
  readonly transport: (request: HttpRequest, send: Send) => Promise<HttpResponse>;
  /** Commits what was held back. */
  readonly late: () => Promise<void>;
}

/** The `nth` write meets its fate; everything else goes through. */
function ill(fate: Fate, nth: number): Ill {
  let count = 0;
  let held: (() => Promise<unknown>) | undefined;
  const gone = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
  return {
    late: async () => {
      await held?.();
      held = undefined;
    },
    transport: async (request, send) => {
      const write = request.method !== "GET" && !request.path.endsWith("/events");
      if (!write || count++ !== nth) return send(request);
      switch (fate) {
        case "lost before":
          throw gone();
        case "lost after":
          await send(request);
          throw gone();
        case "committed late":
          held = () => send(request);
          throw Object.assign(new Error("no complete answer in time"), { name: "TimeoutError" });
        case "failed after": {
          await send(request);
          const body = new TextEncoder().encode('{"error_code":"INTERNAL_ERROR","message":"x"}');
          return { status: 500, headers: { "content-type": "application/json" }, body };
        }
      }
      return fate satisfies never;
    },
  };
}

async function siteAt(before: string | undefined): Promise<Site> {
  const site = await Site.start();
  site.env = { DB_PASSWORD: "first", OTHER_PASSWORD: "second" };
  if (before !== undefined) await site.drive(site.process().apply(await site.spec(before)));
  return site;
}

async function everyWrite(before: string | undefined, after: string, fate: Fate): Promise<number> {
  const calm = await siteAt(before);
  calm.writes.length = 0;
  await calm.drive(calm.process({ parallelism: 1 }).apply(await calm.spec(after)));
  const wanted = await inventory(calm);
  const operations = calm.writes.filter((write) => !write.endsWith("/events"));
  calm.close();
  const failures: string[] = [];
  for (const [nth, operation] of operations.entries()) {
    const site = await siteAt(before);
    const spec = await site.spec(after);
    const { transport, late } = ill(fate, nth);
    await site.drive(site.process({ transport, parallelism: 1 }).apply(spec));
    await late();
    const next = site.process({ pid: 2 });
    await site.drive(next.apply(spec));
    const plan = await site.drive(next.plan(spec));
    const state = await site.state();
    const found = {
      again: doing(plan),
      open: state.open,
      live: await inventory(site),
      left: [...state.records.values()].filter((one) => one.deposed !== undefined || one.status !== "ready"),
    };
    const good = { again: [], open: [], live: wanted, left: [] };
    if (JSON.stringify(found) !== JSON.stringify(good))
      failures.push(`${nth} ${operation}: ${JSON.stringify(found)}`);
    site.close();
  }
  expect(failures).toEqual([]);
  return operations.length;
}

for (const fate of ["lost before", "lost after", "committed late", "failed after"] as const) {
  test(`a creating write that is ${fate} is cleared up by the next run`, { timeout: 60_000 }, async () => {
    expect(await everyWrite(undefined, FIRST, fate)).toBeGreaterThan(9);
  });
}

test("a changing write that is committed late is cleared up by the next run", {
  timeout: 60_000,
}, async () => {
  expect(await everyWrite(FIRST, SECOND, "committed late")).toBeGreaterThan(7);
});

test("an object whose creation had no answer is left to the next run if its access list was not sent", async () => {
  const site = await Site.start("azure");
  const spec = await site.spec(
    "{ groups: { ops: {} }, pools: { shared: { node_type_id: Standard_DS3_v2, access: { ops: CAN_MANAGE } } } }",
  );
  const { transport } = ill("lost after", 1);
  const lost = await site.drive(site.process({ transport }).apply(spec));
  expect(results(lost.outcome)).toEqual(["applied create groups.ops", "unknown create pools.shared"]);
  const second = await site.drive(site.process({ pid: 2 }).apply(spec));
  expect(second.plan.drift).toEqual([]);
  expect(results(second.outcome)).toContain("applied update pools.shared");
  expect(doing(await site.drive(site.process({ pid: 3 }).plan(spec)))).toEqual([]);
  site.close();
});
