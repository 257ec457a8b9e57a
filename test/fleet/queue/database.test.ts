// The tables of a fleet: migrations, results with retention, leases, and what a role without rights may do.

import { afterAll, describe, expect, test } from "vitest";
import type { Failure } from "../../../src/core/diagnostic.ts";
import { openResultTable, prepareTables } from "../../../src/fleet/database/tables.ts";
import { openLeases } from "../../../src/fleet/database/workspace-lease.ts";
import { nodeClock } from "../../../src/state/backends/file/node-ports.ts";
import { rejectedCode } from "../../failures.ts";
import { openFleet, server } from "./fleet-server.ts";
import { holderNamed, resultOf } from "./workspaces.ts";

afterAll(() => server?.stop());

const NOW = Date.now();

describe.skipIf(server === undefined)("the tables of a fleet", () => {
  test("are created once when several processes start at the same time", async () => {
    const fleets = await Promise.all(Array.from({ length: 5 }, () => openFleet("many")));
    const found = await fleets[0]?.database.query("select version from many.format", []);
    expect(found?.rows).toEqual([{ version: 1 }]);
    await Promise.all(fleets.map(({ database }) => database.close()));
  });

  test("are migrated forward once, and keep their rows", async () => {
    const { database, results } = await openFleet("older");
    await results.add(resultOf("ads"), "r1");
    const statements = (schema: string) => [
      `alter table ${schema}.results add column more integer default 7`,
    ];
    const next = [
      { version: 1, statements: () => ["select 1"] },
      { version: 2, statements },
    ];
    const prepare = () => prepareTables(database, "older", "0.9.0", next);
    await Promise.all([prepare(), prepare()]);
    const { rows } = await database.query("select workspace, more from older.results", []);
    expect(rows).toEqual([{ workspace: "ads", more: 7 }]);
    expect((await results.recent(5, ["ads"])).get("ads")).toHaveLength(1);
    const refusal = await prepareTables(database, "older", "0.1.0").catch(
      (failure: Failure) => failure.diagnostics[0],
    );
    expect(refusal).toMatchObject({
      code: "FLEET_DATABASE",
      message:
        "the tables of the fleet have version 2 (of workspace 0.9.0), and this program (workspace 0.1.0) supports up to 1",
      hint: "update this machine to workspace 0.9.0",
    });
    await database.close();
  });

  test("get their queue once when several workers start at the same time", async () => {
    const fleet = await openFleet("together");
    const queues = await Promise.all(Array.from({ length: 3 }, () => fleet.openQueue("work")));
    const { rows } = await fleet.database.query(
      "select name, policy from together_jobs.queue order by 1",
      [],
    );
    expect(rows).toEqual(
      expect.arrayContaining([
        { name: "fleet", policy: "exclusive" },
        { name: "fleet-dead", policy: "standard" },
      ]),
    );
    for (const queue of queues) await queue.close();
    await fleet.database.close();
  });

  test("reject a queue of a newer version", async () => {
    const fleet = await openFleet("newer");
    await (await fleet.openQueue("send")).close();
    await fleet.database.query("update newer_jobs.version set version = 9999", []);
    expect(await rejectedCode(fleet.openQueue("work"))).toBe("FLEET_DATABASE");
    await fleet.database.close();
  });

  test("have no queue before the first command that needs one, which a reader reports", async () => {
    const fleet = await openFleet("unused");
    const problem = await fleet.openQueue("read").then(String, String);
    expect(problem).toContain("the database has no queue yet");
    await fleet.database.close();
  });

  test("can be read by a role that has no other right", async () => {
    const { database, results } = await openFleet("reading");
    await results.add(resultOf("ads", "changes"), "r1");
    await database.script([
      "create role auditor login",
      "grant usage on schema reading to auditor",
      "grant select on all tables in schema reading to auditor",
    ]);
    const auditor = await openFleet("reading", "auditor");
    expect((await auditor.results.recent(5, ["ads"])).get("ads")).toMatchObject([{ status: "changes" }]);
    expect(await rejectedCode(auditor.results.add(resultOf("ads")))).toBe("FLEET_DATABASE");
    await auditor.database.close();
    await database.close();
  });
});

describe.skipIf(server === undefined)("the queue of a fleet", () => {
  test("cannot be opened to change it by a role that can only read it, and reports that once", async () => {
    const fleet = await openFleet("viewed");
    await (await fleet.openQueue("send")).close();
    await fleet.database.script([
      "create role viewer login",
      "grant usage on schema viewed, viewed_jobs to viewer",
      "grant select on all tables in schema viewed to viewer",
      "grant select on all tables in schema viewed_jobs to viewer",
    ]);
    const viewer = await openFleet("viewed", "viewer");
    for (const role of ["send", "work"] as const)
      expect(await rejectedCode(viewer.openQueue(role))).toBe("FLEET_DATABASE");
    const queue = await viewer.openQueue("read");
    expect(await queue.jobs()).toEqual([]);
    await queue.close();
    expect(viewer.problems).toEqual([]);
    await viewer.database.close();
    await fleet.database.close();
  });
});

describe.skipIf(server === undefined)("results in PostgreSQL", () => {
  test("replace the earlier result of the same run, and are read newest first with findings of the last only", async () => {
    const { database, results } = await openFleet("results");
    const diagnostics = [{ severity: "error", code: "API_REFUSED", message: "no" } as const];
    await results.add(resultOf("ads", "failed", { startedAt: NOW - 2, diagnostics }), "first");
    await results.add(resultOf("ads", "failed", { startedAt: NOW - 1, diagnostics }), "second");
    await results.add(resultOf("ads", "ok", { startedAt: NOW }), "second");
    await results.add(resultOf("web", "failed", { diagnostics }), "third");
    const found = await results.recent(10, ["ads", "web", "new"]);
    expect(found.get("ads")?.map(({ status }) => status)).toEqual(["ok", "failed"]);
    expect(found.get("ads")?.[1]?.diagnostics).toEqual([]);
    expect(found.get("web")?.[0]?.diagnostics).toEqual(diagnostics);
    expect(found.has("new")).toBe(false);
    await database.close();
  });

  test.each(["a\0b", "half a pair: \ud83d"])(
    "are recorded with a message that JSON in PostgreSQL cannot contain: %j",
    async (message) => {
      const { database, results } = await openFleet("characters");
      const diagnostics = [{ severity: "error", code: "GUARD_RULE", message } as const];
      await results.add(resultOf("ads", "failed", { startedAt: Date.now(), diagnostics }));
      const [found] = (await results.recent(1, ["ads"])).get("ads") ?? [];
      expect(found?.diagnostics).toEqual([
        { ...diagnostics[0], message: message.replace(/[\0\ud83d]/u, "\ufffd") },
      ]);
      await database.close();
    },
  );

  test("of an apply keep what it changed when its job is repeated and finds nothing to do", async () => {
    const { database, results } = await openFleet("repeated");
    const apply = { command: "apply", startedAt: NOW } as const;
    await results.add(resultOf("ads", "changes", { ...apply, counts: { create: 2 } }), "job");
    await results.add(resultOf("ads", "ok", apply), "job");
    expect((await results.recent(5, ["ads"])).get("ads")).toMatchObject([{ counts: { create: 2 } }]);
    await results.add(resultOf("ads", "failed", apply), "job");
    expect((await results.recent(5, ["ads"])).get("ads")).toMatchObject([{ status: "failed" }]);
    await database.close();
  });

  test("of a run that completed are kept when its job is canceled at the same moment", async () => {
    const { database, results } = await openFleet("completed");
    await results.add(resultOf("ads", "changes", { startedAt: NOW, counts: { create: 2 } }), "job");
    await results.add(resultOf("ads", "interrupted", { startedAt: NOW }), "job");
    expect((await results.recent(5, ["ads"])).get("ads")).toMatchObject([
      { status: "changes", counts: { create: 2 } },
    ]);
    await database.close();
  });

  test("of a worker whose clock is ahead do not hide later results of other workers", async () => {
    const { database, results } = await openFleet("skew");
    await results.add(resultOf("ads", "failed", { startedAt: Date.now() + 86_400_000 }), "ahead");
    await results.add(resultOf("ads", "ok", { startedAt: Date.now() }), "later");
    expect((await results.recent(5, ["ads"])).get("ads")?.map(({ status }) => status)).toEqual([
      "ok",
      "failed",
    ]);
    await database.close();
  });

  test("of a worker whose clock is behind are newer than the results before them", async () => {
    const { database, results } = await openFleet("behind");
    await results.add(resultOf("ads", "ok", { startedAt: Date.now() }), "on time");
    await results.add(resultOf("ads", "failed", { startedAt: Date.now() - 86_400_000 }), "behind");
    expect((await results.recent(5, ["ads"])).get("ads")?.map(({ status }) => status)).toEqual([
      "failed",
      "ok",
    ]);
    await database.close();
  });

  test("that were edited in the table are left out if they are not results", async () => {
    const { database, results } = await openFleet("edited");
    for (const name of ["a", "b", "c"]) await results.add(resultOf(name), name);
    await database.query("update edited.results set body = 'null' where workspace = 'a'", []);
    await database.query(
      "update edited.results set body = body || '{\"status\":\"<b>\"}' where workspace = 'b'",
      [],
    );
    await database.query(
      'update edited.results set body = body || \'{"drift":{"cost":"x"}}\' where workspace = \'c\'',
      [],
    );
    const found = await results.recent(5, ["a", "b", "c"]);
    expect([...found.keys()]).toEqual(["c"]);
    expect(found.get("c")).toMatchObject([{ drift: {} }]);
    await database.close();
  });

  test("of each command are read and kept, with the findings of its last one, however many of another command follow", async () => {
    const { database, results } = await openFleet("commands");
    const diagnostics = [{ severity: "error", code: "API_REFUSED", message: "no" } as const];
    const at = (age: number) => ({ startedAt: NOW - 1_000 + age });
    await results.add(resultOf("ads", "changes", { ...at(0), command: "plan", counts: { create: 2 } }));
    await results.add(resultOf("ads", "failed", { ...at(1), diagnostics }));
    for (let age = 2; age < 104; age++)
      await results.add(resultOf("ads", "ok", { ...at(age), command: "validate" }));
    expect((await results.recent(1, ["ads"])).get("ads")).toMatchObject([
      { command: "validate" },
      { command: "drift", diagnostics },
      { command: "plan", counts: { create: 2 } },
    ]);
    await database.close();
  });

  test("are removed beyond the last 100 of a workspace and command, and at an age of 400 days", async () => {
    const { database } = await openFleet("retention");
    const results = openResultTable(database, "retention", nodeClock);
    await results.add(resultOf("old", "ok", { startedAt: 1000 }), "old");
    for (let at = 0; at < 103; at++)
      await results.add(resultOf("ads", "ok", { startedAt: Date.now() + at }), `r${at}`);
    const later = openResultTable(database, "retention", nodeClock);
    await later.add(resultOf("web", "ok", { startedAt: Date.now() }), "web");
    const { rows } = await database.query(
      "select workspace, count(*)::int as n from retention.results group by 1 order by 1",
      [],
    );
    expect(rows).toEqual([
      { workspace: "ads", n: 100 },
      { workspace: "web", n: 1 },
    ]);
    await database.close();
  });
});

describe.skipIf(server === undefined)("a lease", () => {
  test("excludes every other holder until it is released", async () => {
    const { database, leases } = await openFleet("leases");
    const lease = await leases.acquire("ads", holderNamed("a"), 0);
    expect(await leases.acquire("ads", holderNamed("b"), 0)).toEqual({ heldBy: "a" });
    expect(await leases.acquire("web", holderNamed("b"), 0)).toHaveProperty("lost");
    if ("release" in lease) await lease.release();
    expect(await leases.acquire("ads", holderNamed("b"), 0)).toHaveProperty("lost");
    await database.close();
  });

  test("can be acquired when it has expired, and its earlier holder learns that it is lost", async () => {
    const { database } = await openFleet("expired");
    const times = { expiryMs: 30_000, renewalMs: 20, stopMs: 20_000 };
    const slow = await openLeases(database, "expired", nodeClock, { ...times, renewalMs: 600_000 }).acquire(
      "ads",
      holderNamed("slow"),
      0,
    );
    await database.query("update expired.leases set expires_at = now() - interval '1 s'", []);
    const next = await openLeases(database, "expired", nodeClock, times).acquire(
      "ads",
      holderNamed("next"),
      0,
    );
    expect(next).toHaveProperty("lost");
    expect(slow).toMatchObject({ lost: { aborted: false } });
    await database.query("delete from expired.leases", []);
    if ("lost" in next) await new Promise((resolve) => next.lost.addEventListener("abort", resolve));
    await database.close();
  });

  test("is given up before it expires when the database does not answer", async () => {
    const { database } = await openFleet("silent");
    let silent = false;
    const flaky = {
      ...database,
      query: (...args: Parameters<typeof database.query>) =>
        silent ? Promise.reject(new Error("no answer")) : database.query(...args),
    };
    const leases = openLeases(flaky, "silent", nodeClock, { expiryMs: 30_000, renewalMs: 10, stopMs: 100 });
    const lease = await leases.acquire("ads", holderNamed("a"), 0);
    silent = true;
    if (!("lost" in lease)) throw new Error("the lease is free");
    await new Promise((resolve) => lease.lost.addEventListener("abort", resolve));
    expect(await leases.acquire("web", holderNamed("b"), 0).catch(() => "no answer")).toBe("no answer");
    await database.close();
  });
});
