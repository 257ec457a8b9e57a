// The history of applies in a state: bounded, kept by every way that a state travels, and readable after a crash.

import { describe, expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import { digest } from "../../../src/core/digest.ts";
import type { PastRun } from "../../../src/core/past-run.ts";
import { SensitiveValues } from "../../../src/core/sensitive/values.ts";
import { recordedLease } from "../../../src/engine/apply/run-history.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import { registry } from "../../../src/providers/index.ts";
import { emptyState, fold } from "../../../src/state/format/fold.ts";
import {
  readSnapshot,
  type SnapshotContent,
  snapshotText as snapshotPieces,
  stateFromJson,
  stateToJson,
} from "../../../src/state/format/snapshot.ts";
import type { JournalEntry } from "../../../src/state/model/record.ts";
import { mergeRestored } from "../../../src/state/store/migrate.ts";
import { ACKNOWLEDGED, intent, pastRun, ready, storeOn } from "../build.ts";
import { Disk } from "../memory-files.ts";
import { VirtualClock } from "../virtual-clock.ts";

const PLAN = { host: "h", changes: [], drift: [], unmanaged: [], guards: [], diagnostics: [] };
const ORIGIN = { command: "apply", actor: "ada", run_url: "https://ci.test/1" } as const;
const REST = { seq: 1, folded: "", key: "" };

function folded(...entries: readonly JournalEntry[]) {
  return fold(
    emptyState("l"),
    entries.map((entry, at) => ({ seq: at + 1, at, entry })),
  );
}

const run = (id: string, more?: Partial<PastRun>): JournalEntry => ({ type: "run", run: pastRun(id, more) });

function snapshotText(from: SnapshotContent) {
  const { text, digest } = snapshotPieces(from);
  return { text: [...text].join(""), digest };
}

test("a state keeps the last 100 applies", () => {
  const { history = [] } = folded(...Array.from({ length: 103 }, (_, at) => run(`${at}`)));
  expect([history.length, history[0]?.id, history.at(-1)?.id]).toEqual([100, "3", "102"]);
});

test("the entry that ends an apply replaces the one that began it", () => {
  const { history } = folded(run("a"), run("b"), run("a", { outcome: "applied", ended_at: 7 }));
  expect(history?.map(({ id, outcome }) => [id, outcome])).toEqual([
    ["a", "applied"],
    ["b", "unfinished"],
  ]);
});

test("an unfinished apply lists what its journal shows as changed, at most 100 addresses", () => {
  const done = Array.from({ length: 102 }, (_, at): JournalEntry[] => [
    { type: "intent", intent: intent(`pools.p${at}`) },
    { type: "done", intent: 2 + 2 * at, record: ready(`pools.p${at}`) },
  ]);
  const [only] = folded(run("a", { changed: [] }), ...done.flat()).history ?? [];
  expect([only?.changed.length, only?.changed[99], only?.more]).toEqual([100, "pools.p99", 2]);
});

test("an unfinished apply also lists the objects that recovery found created or deleted", () => {
  const left = (address: string, action: "create" | "update" | "delete", seq: number): JournalEntry[] => [
    { type: "intent", intent: { ...intent(address), action } },
    action === "delete"
      ? { type: "gone", gone: { address: address as Address, id: remoteId("1") } }
      : { type: "record", record: ready(address) },
    { type: "closed", intent: seq },
  ];
  const created = left("pools.a", "create", 2);
  const deleted = left("pools.b", "delete", 5);
  const maybeUpdated = left("pools.c", "update", 8);
  const [only] = folded(run("a", { changed: [] }), ...created, ...deleted, ...maybeUpdated).history ?? [];
  expect(only?.changed).toEqual(["pools.a", "pools.b"]);
});

test("an unfinished apply lists an object with a request that succeeded, once", () => {
  const entries = (address: string, seq: number): JournalEntry[] => [
    { type: "intent", intent: intent(address) },
    { type: "answer", intent: seq, result: "succeeded" },
    { type: "answer", intent: seq, result: "succeeded" },
  ];
  const many = Array.from({ length: 101 }, (_, at) => entries(`pools.p${at}`, 2 + 3 * at)).flat();
  const last: JournalEntry = { type: "done", intent: 302, record: ready("pools.p100") };
  const refused: JournalEntry[] = [
    { type: "intent", intent: intent("pools.x") },
    { type: "answer", intent: 306, result: "refused" },
  ];
  const [only] = folded(run("a", { changed: [] }), ...many, last, ...refused).history ?? [];
  expect([only?.changed.length, only?.more]).toEqual([100, 1]);
});

test("changes after the end of an apply do not count as its own", () => {
  const ended = run("a", { outcome: "applied", changed: [] });
  const { history } = folded(
    ended,
    { type: "intent", intent: intent("pools.x") },
    { type: "done", intent: 2, record: ready("pools.x") },
  );
  expect(history?.[0]?.changed).toEqual([]);
});

const NONE = new SensitiveValues({ key: new Uint8Array(32), lineage: "" });

test("an apply that is killed leaves an unfinished entry with its actor, run and changes", async () => {
  const disk = new Disk();
  const clock = new VirtualClock(5_000);
  const lease = await storeOn({ disk, clock }).lock({ timeoutMs: 0 });
  const recorded = recordedLease(lease, { origin: ORIGIN, plan: PLAN }, { clock, registry, sensitive: NONE });
  const seq = await recorded.append({ type: "intent", intent: intent("pools.a") });
  await recorded.append({ type: "done", intent: seq, record: ready("pools.a") });
  const { history } = (await storeOn({ disk, clock }).read()).state;
  expect(history).toEqual([
    {
      ...ORIGIN,
      id: lease.nonce,
      started_at: 5_000,
      plan: digest("[]"),
      outcome: "unfinished",
      applied: {},
      left: 0,
      changed: ["pools.a"],
    },
  ]);
});

test("an apply without changes adds no entry and keeps the serial", async () => {
  const disk = new Disk();
  const clock = new VirtualClock(5_000);
  const lease = await storeOn({ disk, clock }).lock({ timeoutMs: 0 });
  const recorded = recordedLease(lease, { origin: ORIGIN, plan: PLAN }, { clock, registry, sensitive: NONE });
  recorded.end([], false, 6_000);
  expect(await recorded.publish()).toMatchObject({ serial: 0 });
  expect(recorded.state().history).toBeUndefined();
});

test("the end of an apply counts actions, what is left, and the addresses beyond 100", async () => {
  const disk = new Disk();
  const clock = new VirtualClock(5_000);
  const lease = await storeOn({ disk, clock }).lock({ timeoutMs: 0 });
  const recorded = recordedLease(lease, { origin: ORIGIN, plan: PLAN }, { clock, registry, sensitive: NONE });
  await recorded.append({ type: "host", host: "h" });
  const outcome = (at: number, result: "applied" | "failed") => ({
    address: `pools.p${at}` as Address,
    kind: "pools",
    action: "create" as const,
    result,
    elapsedMs: 1,
  });
  const outcomes = [
    ...Array.from({ length: 101 }, (_, at) => outcome(at, "applied")),
    outcome(101, "failed"),
  ];
  recorded.end(outcomes, false, 6_000);
  const { history } = await recorded.publish();
  expect(history).toMatchObject([
    { outcome: "failed", applied: { create: 101 }, left: 1, more: 1, ended_at: 6_000 },
  ]);
  expect(history?.[0]?.changed).toHaveLength(100);
});

test("a state of format 1 loads without a history, and the next write has format 4", () => {
  const { text } = snapshotText({ state: emptyState("l"), ...REST });
  const body = text.slice(text.indexOf("\n") + 1);
  const old = `{"format_version":1,"digest":"${digest(`1\n${body}`)}",\n${body}`;
  const { state } = readSnapshot(new TextEncoder().encode(old), "s");
  expect(state).toEqual(emptyState("l"));
  expect(snapshotText({ state, ...REST }).text).toContain('"format_version":4');
});

test("a state without applies has no member for them, as before", () => {
  expect(snapshotText({ state: emptyState("l"), ...REST }).text).not.toContain("history");
});

test("the JSON of `state pull` keeps the history", () => {
  const state = { ...emptyState("l"), history: [pastRun("a", { outcome: "applied", commit: "c" })] };
  expect(stateFromJson(stateToJson({ state, key: "" }), "f").state).toEqual(state);
});

test.each([
  ["an outcome that does not exist", { outcome: "fine" }],
  ["counts that are texts", { applied: { create: "1" } }],
  ["an address that is none", { changed: ["x"] }],
  ["a time that is no number", { started_at: "now" }],
])("a history with %s is refused as damage", (_, wrong) => {
  const state = { ...emptyState("l"), history: [{ ...pastRun("a"), ...wrong } as unknown as PastRun] };
  expect(() => stateFromJson(stateToJson({ state, key: "" }), "f")).toThrow("STATE_CORRUPT");
});

test("restoring an older state keeps the applies that came after it", () => {
  const old = { ...emptyState("l"), history: [pastRun("a", { started_at: 1 })] };
  const present = {
    ...emptyState("l"),
    history: [pastRun("a", { started_at: 1 }), pastRun("b", { started_at: 2 })],
  };
  expect(mergeRestored(old, present).history?.map(({ id }) => id)).toEqual(["a", "b"]);
});

describe("acknowledgements of a restored state", () => {
  const accepted = { ...ACKNOWLEDGED, differences: ["old"] };
  const old = { ...emptyState("l"), acknowledged: [accepted] };

  test("are those of the present state, so that none returns that ended since", () => {
    expect(mergeRestored(old, emptyState("l")).acknowledged).toEqual([]);
    const present = { ...emptyState("l"), acknowledged: [{ ...accepted, differences: ["new"] }] };
    expect(mergeRestored(old, present).acknowledged).toEqual(present.acknowledged);
  });

  test("are none if the present state cannot be read or is another one", () => {
    expect(mergeRestored(old, undefined).acknowledged).toBeUndefined();
    expect(mergeRestored(old, emptyState("other")).acknowledged).toBeUndefined();
  });
});

const CHANGED = {
  address: "clusters.etl",
  kind: "clusters",
  action: "update",
  diffs: [
    { path: ["num_workers"], before: 2, after: 8, cause: "spec", replaces: false },
    { path: ["spark_conf", "spark.a/b"], after: "x".repeat(600), cause: "spec", replaces: false },
    {
      path: ["docker_image"],
      after: { url: "r/i", basic_auth: { password: "canary" } },
      cause: "spec",
      replaces: false,
    },
  ],
} as unknown as Change;

const SECRET = {
  address: "secrets.etl/db",
  kind: "secrets",
  action: "update",
  diffs: [{ path: ["value"], before: "canary-old", after: "canary-new", cause: "spec", replaces: false }],
} as unknown as Change;

/** The runs in the state after an apply of these changes. */
async function recordedRuns(changes: readonly Change[]): Promise<readonly PastRun[]> {
  const disk = new Disk();
  const clock = new VirtualClock(5_000);
  const lease = await storeOn({ disk, clock }).lock({ timeoutMs: 0 });
  const recorded = recordedLease(
    lease,
    { origin: ORIGIN, plan: { ...PLAN, changes } },
    { clock, registry, sensitive: NONE },
  );
  await recorded.append({ type: "host", host: "h" });
  const outcomes = changes.map(({ address, kind, action }) => ({
    address,
    kind,
    action,
    result: "applied" as const,
    elapsedMs: 1,
  }));
  recorded.end(outcomes, false, 6_000);
  await recorded.publish();
  await lease.release();
  return (await storeOn({ disk, clock }).read()).state.history ?? [];
}

test("a run keeps what it changed, field by field, with the length of a long value", async () => {
  const [run] = await recordedRuns([CHANGED]);
  expect(run?.details).toMatchObject([
    {
      address: "clusters.etl",
      action: "update",
      fields: [
        { path: "/num_workers", before: 2, after: 8 },
        { path: "/spark_conf/spark.a~1b", after: "(602 characters)" },
        { path: "/docker_image" },
      ],
    },
  ]);
});

test("no secret value is in the details of a run", async () => {
  const text = JSON.stringify(await recordedRuns([CHANGED, SECRET]));
  expect(text).toContain("secrets.etl/db");
  expect(text).not.toContain("canary-old");
  expect(text).not.toContain("canary-new");
});

test("a run with many changes keeps the details of the first ones", async () => {
  const many = Array.from({ length: 300 }, (_, at) => ({ ...CHANGED, address: `clusters.c${at}` }) as Change);
  const [run] = await recordedRuns(many);
  expect(run?.details?.[0]?.address).toBe("clusters.c0");
  expect(JSON.stringify(run?.details).length).toBeLessThanOrEqual(16_384 + 2 * 300);
  expect(run?.details?.length).toBeLessThan(300);
});

test("only the last 20 runs keep their details", () => {
  const details = [{ address: "pools.a" as Address, action: "update", fields: [] }];
  const runs = Array.from({ length: 25 }, (_, at) => run(`r${at}`, { outcome: "applied", details }));
  const { history = [] } = folded(...runs);
  expect(history.map((past) => past.details !== undefined)).toEqual([
    ...Array.from({ length: 5 }, () => false),
    ...Array.from({ length: 20 }, () => true),
  ]);
});
