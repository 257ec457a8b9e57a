import { describe, expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import { deposedBy, emptyState, fold } from "../../../src/state/format/fold.ts";
import type { JournalEntry, State } from "../../../src/state/model/record.ts";
import { intent, pastRun, ready } from "../build.ts";

function folded(...entries: readonly JournalEntry[]): State {
  return fold(
    emptyState("lineage"),
    entries.map((entry, at) => ({ seq: at + 1, at: 1000 + at, entry })),
  );
}

const pool = ready("pools.shared");

test("an intent is open from its line on, with one request sent", () => {
  const { open } = folded({ type: "intent", intent: intent("pools.shared") });
  expect(open).toEqual([{ ...intent("pools.shared"), seq: 1, at: 1000, sent: 1 }]);
});

test("further requests and their answers are counted, and the last operation shows", () => {
  const { open } = folded(
    { type: "intent", intent: intent("pools.shared") },
    { type: "answer", intent: 1, result: "succeeded" },
    { type: "request", intent: 1, operation: "things/edit" },
    { type: "answer", intent: 1, result: "refused" },
    { type: "request", intent: 1, operation: "things/pin" },
  );
  expect(open).toMatchObject([{ sent: 3, succeeded: 1, refused: 1, operation: "things/pin" }]);
});

test("done closes the intent and puts its record in place", () => {
  const state = folded(
    { type: "intent", intent: intent("pools.shared") },
    { type: "done", intent: 1, record: pool },
  );
  expect([state.open, [...state.records.values()]]).toEqual([[], [pool]]);
});

test("closed leaves nothing behind", () => {
  const state = folded({ type: "intent", intent: intent("pools.shared") }, { type: "closed", intent: 1 });
  expect([state.open, state.records.size]).toEqual([[], 0]);
});

test("a moved record takes its open intents and sweeps along", () => {
  const state = folded(
    { type: "intent", intent: intent("jobs.one") },
    { type: "created", intent: 1, id: remoteId(7) },
    { type: "sweep", sweep: { token: "t", address: "jobs.one" as Address, until: 9 } },
    { type: "moved", from: "jobs.one" as Address, to: "jobs.two" as Address },
  );
  expect(state.open.map(({ address }) => address)).toEqual(["jobs.two"]);
  expect(state.sweeps.map(({ address }) => address)).toEqual(["jobs.two"]);
  expect([...state.records.keys()]).toEqual(["jobs.two"]);
});

test("a resource that leaves the state without an ID leaves no open intent, which would bring it back", () => {
  const state = folded(
    { type: "intent", intent: intent("jobs.one") },
    { type: "created", intent: 1, id: remoteId(7) },
    { type: "intent", intent: intent("jobs.other") },
    { type: "gone", gone: { address: "jobs.one" as Address } },
  );
  expect(state.open.map(({ address }) => address)).toEqual(["jobs.other"]);
  expect(state.records.size).toBe(0);
});

test("created records an unfinished object at once, under the token of its intent", () => {
  const state = folded(
    { type: "intent", intent: intent("jobs.nightly") },
    { type: "created", intent: 1, id: remoteId(7) },
  );
  expect(state.open).toMatchObject([{ made: "7" }]);
  expect(state.records.get("jobs.nightly" as Address)).toEqual({
    status: "creating",
    address: "jobs.nightly",
    id: "7",
    name: "nightly",
    applied: { size: 1 },
    depends_on: [],
    token: "token-jobs.nightly",
  });
});

test("a replacement keeps the old object as deposed", () => {
  const state = folded(
    { type: "record", record: { ...pool, deposed: [remoteId("older")] } },
    { type: "intent", intent: intent("pools.shared", { replaces: pool.id }) },
    { type: "created", intent: 2, id: remoteId("new") },
  );
  expect(state.records.get(pool.address)).toMatchObject({ id: "new", deposed: ["older", pool.id] });
});

test("a deleted deposed object leaves the record, and the last one removes the list", () => {
  const record = { ...pool, deposed: [remoteId("a"), remoteId("b")] };
  const one = folded(
    { type: "record", record },
    { type: "gone", gone: { address: pool.address, id: remoteId("a") } },
  );
  expect(one.records.get(pool.address)).toEqual({ ...pool, deposed: ["b"] });
  const none = folded(
    { type: "record", record },
    { type: "gone", gone: { address: pool.address, id: remoteId("a") } },
    { type: "gone", gone: { address: pool.address, id: remoteId("b") } },
  );
  expect(none.records.get(pool.address)).toEqual(pool);
});

test("a record without its own object remains for its deposed ones", () => {
  const state = folded(
    { type: "record", record: { ...pool, deposed: [remoteId("a")] } },
    { type: "gone", gone: { address: pool.address, id: pool.id } },
  );
  expect(state.records.get(pool.address)).toEqual({ ...pool, id: "a" });
});

test("a deletion without an ID removes the record of the address; with another ID it removes nothing", () => {
  const record = { ...pool, deposed: [remoteId("a")] };
  const { address } = pool;
  expect(folded({ type: "record", record }, { type: "gone", gone: { address } }).records.size).toBe(0);
  const other = folded(
    { type: "record", record: pool },
    { type: "gone", gone: { address, id: remoteId("x") } },
  );
  expect(other.records.get(address)).toEqual(pool);
});

test("a moved record keeps its data, and those that depend on it follow", () => {
  const cluster = ready("clusters.adhoc", { depends_on: ["pools.shared" as Address] });
  const state = folded(
    { type: "record", record: pool },
    { type: "record", record: cluster },
    { type: "moved", from: pool.address, to: "pools.common" as Address },
  );
  expect(state.records.get("pools.common" as Address)).toEqual({
    former: [pool.address],
    ...pool,
    address: "pools.common",
  });
  expect(state.records.get(cluster.address)?.depends_on).toEqual(["pools.common"]);
  expect(state.records.has(pool.address)).toBe(false);
});

test("sweeps, host, caller and nonces are kept, and a swept token goes", () => {
  const sweep = { token: "t", address: pool.address, until: 5 };
  const state = folded(
    { type: "sweep", sweep },
    { type: "sweep", sweep: { ...sweep, token: "u" } },
    { type: "swept", token: "t" },
    { type: "host", host: "https://h" },
    { type: "caller", name: "ada", credential: "c" },
    { type: "nonce", nonce: "n1" },
    { type: "nonce", nonce: "n2" },
  );
  expect(state).toMatchObject({
    sweeps: [{ token: "u" }],
    host: "https://h",
    caller: { name: "ada", credential: "c" },
    nonces: ["n1", "n2"],
  });
});

test("known drift is kept until other reports and acknowledgements of the same place come, and moves along", () => {
  const accepted = (until: number, field?: string) => ({
    type: "acknowledged" as const,
    acknowledgement: {
      address: pool.address,
      ...(field === undefined ? {} : { field }),
      differences: ["d"],
      until,
      reason: "load test",
      by: "ada",
      at: 1,
    },
  });
  const report = (digest: string): JournalEntry => ({
    type: "reported",
    reported: [{ address: pool.address, differences: [digest] }],
  });
  const state = folded(
    report("old"),
    report("new"),
    accepted(5, "max_capacity"),
    accepted(6),
    accepted(7, "max_capacity"),
    { type: "moved", from: pool.address, to: "pools.common" as Address },
  );
  expect(state.reported).toEqual([{ address: "pools.common", differences: ["new"] }]);
  expect(state.acknowledged).toMatchObject([
    { address: "pools.common", until: 6 },
    { address: "pools.common", field: "max_capacity", until: 7 },
  ]);
  const less = fold(state, [
    { seq: 90, at: 9, entry: { type: "unacknowledged", address: "pools.common" as Address } },
    { seq: 91, at: 9, entry: { type: "reported", reported: [] } },
  ]);
  expect(less.reported).toBeUndefined();
  expect(less.acknowledged).toMatchObject([{ field: "max_capacity" }]);
});

test("folding in two halves is folding at once", () => {
  const entries: JournalEntry[] = [
    { type: "record", record: pool },
    { type: "intent", intent: intent("jobs.nightly") },
    { type: "created", intent: 2, id: remoteId(7) },
    { type: "request", intent: 2, operation: "jobs/reset" },
    { type: "gone", gone: { address: pool.address } },
    { type: "done", intent: 2, record: ready("jobs.nightly") },
  ];
  const lines = entries.map((entry, at) => ({ seq: at + 1, at: 0, entry }));
  const whole = fold(emptyState("l"), lines);
  for (let cut = 0; cut <= lines.length; cut++)
    expect(fold(fold(emptyState("l"), lines.slice(0, cut)), lines.slice(cut))).toEqual(whole);
});

test("folding nothing adds no member", () => {
  expect(fold(emptyState("l"), [])).toStrictEqual(emptyState("l"));
});

test("folding keeps every member of a state", () => {
  const state: State = {
    ...emptyState("l"),
    serial: 3,
    host: "h",
    records: new Map([[pool.address, pool]]),
    sweeps: [{ token: "t", address: pool.address, until: 5 }],
    open: [{ ...intent("pools.a"), seq: 8, at: 6 }],
    nonces: ["n"],
    caller: { name: "ada", credential: "c" },
    reported: [{ address: pool.address, differences: ["d"] }],
    acknowledged: [{ address: pool.address, differences: ["d"], until: 5, reason: "test", by: "ada", at: 1 }],
    history: [pastRun("1")],
    moved: "postgres://elsewhere",
    movingAbove: 4,
  };
  expect(fold(state, [])).toBe(state);
  const without = { seq: 9, at: 1, entry: { type: "swept", token: "another" } } as const;
  expect(fold(state, [without])).toStrictEqual(state);
});

test("the last 1,000 nonces are kept", () => {
  const { nonces } = folded(
    ...Array.from({ length: 1_002 }, (_, at): JournalEntry => ({ type: "nonce", nonce: `${at}` })),
  );
  expect([nonces.length, nonces[0], nonces.at(-1)]).toEqual([1_000, "2", "1001"]);
});

test("done closes the intent, and removes a deleted object if it names one", () => {
  const opening: JournalEntry[] = [
    { type: "record", record: pool },
    { type: "intent", intent: intent("pools.shared", { action: "delete" }) },
  ];
  const gone = folded(...opening, { type: "done", intent: 2, gone: { address: pool.address, id: pool.id } });
  expect([gone.open, gone.records.size]).toEqual([[], 0]);
  const only = folded(...opening, { type: "done", intent: 2 });
  expect([only.open, [...only.records.values()]]).toEqual([[], [pool]]);
});

test("an entry of an intent that is not open, or of an address without a record, has no effect", () => {
  expect(
    folded(
      { type: "request", intent: 9, operation: "x" },
      { type: "answer", intent: 9, result: "succeeded" },
      { type: "created", intent: 9, id: remoteId(1) },
      { type: "closed", intent: 9 },
      { type: "gone", gone: { address: pool.address, id: pool.id } },
      { type: "swept", token: "t" },
      { type: "moved", from: "pools.x" as Address, to: "pools.y" as Address },
    ),
  ).toStrictEqual(emptyState("lineage"));
});

test("an object that exists again is no longer to be deleted", () => {
  const state = folded(
    { type: "record", record: { ...pool, deposed: [remoteId("new"), remoteId("older")] } },
    { type: "intent", intent: intent("pools.shared", { replaces: pool.id }) },
    { type: "created", intent: 2, id: remoteId("new") },
  );
  expect(state.records.get(pool.address)).toMatchObject({ id: "new", deposed: ["older", pool.id] });
  expect(deposedBy(undefined, remoteId("a"), remoteId("a"))).toEqual([]);
});

test("of two replaced objects, the record without its own object has the first one", () => {
  const state = folded(
    { type: "record", record: { ...pool, deposed: [remoteId("a"), remoteId("b")] } },
    { type: "gone", gone: { address: pool.address, id: pool.id } },
  );
  expect(state.records.get(pool.address)).toEqual({ ...pool, id: "a", deposed: ["b"] });
});

test("a move is followed by the history, and changes no other record", () => {
  const other = ready("clusters.adhoc", { depends_on: ["pools.other" as Address] });
  const state = folded(
    { type: "run", run: pastRun("1", { changed: [pool.address, other.address], outcome: "applied" }) },
    { type: "record", record: pool },
    { type: "record", record: other },
    { type: "moved", from: pool.address, to: "pools.common" as Address },
  );
  expect(state.history?.[0]?.changed).toEqual(["pools.common", other.address]);
  expect(state.records.get(other.address)).toBe(other);
});

describe("known drift of an address", () => {
  const accepted = (address: string, field?: string): JournalEntry => ({
    type: "acknowledged",
    acknowledgement: {
      address: address as Address,
      ...(field === undefined ? {} : { field }),
      differences: ["d"],
      until: 5,
      reason: "known",
      by: "ada",
      at: 1,
    },
  });
  const reported: JournalEntry = {
    type: "reported",
    reported: [
      { address: "pools.shared" as Address, differences: ["d"] },
      { address: "pools.shared-2" as Address, differences: ["d"] },
    ],
  };
  const before = [
    { type: "record", record: ready("pools.shared") } as const,
    accepted("pools.shared"),
    accepted("pools.shared", "size"),
    accepted("pools.shared-2"),
    accepted("acls.etl/users"),
    reported,
  ];
  const left = (...entries: JournalEntry[]) => {
    const { acknowledged = [], reported: still = [] } = folded(...before, ...entries);
    return [[...new Set(acknowledged.map(({ address }) => address))], still.map(({ address }) => address)];
  };
  const ENDED = [["pools.shared-2", "acls.etl/users"], ["pools.shared-2"]];
  const KEPT = [
    ["pools.shared", "pools.shared-2", "acls.etl/users"],
    ["pools.shared", "pools.shared-2"],
  ];
  const shared = "pools.shared" as Address;
  const begun: JournalEntry = { type: "intent", intent: intent("pools.shared") };
  const id = remoteId("id-pools.shared");

  test.each<[string, JournalEntry[]]>([
    ["an apply ends a change of it", [begun, { type: "done", intent: 7, record: ready("pools.shared") }]],
    ["recovery records it", [{ type: "record", record: ready("pools.shared") }]],
    ["it is deleted", [begun, { type: "done", intent: 7, gone: { address: shared, id } }]],
    ["it is removed from the state", [{ type: "gone", gone: { address: shared } }]],
  ])("ends when %s", (_, entries) => {
    expect(left(...entries)).toEqual(ENDED);
  });

  test("ends when an unrecorded object of it is deleted", () => {
    const gone = { address: "acls.etl/users" as Address, id: remoteId("etl/users") };
    expect(left(begun, { type: "done", intent: 7, gone })).toEqual([
      ["pools.shared", "pools.shared-2"],
      KEPT[1],
    ]);
  });

  test.each<[string, JournalEntry[]]>([
    ["a change of it is refused", [begun, { type: "closed", intent: 7 }]],
    ["a change of it is interrupted", [begun]],
    [
      "a replaced object of it is deleted",
      [{ type: "gone", gone: { address: shared, id: remoteId("old") } }],
    ],
  ])("stays when %s", (_, entries) => {
    expect(left(...entries)).toEqual(KEPT);
  });

  test("moves with its resource", () => {
    expect(left({ type: "moved", from: shared, to: "pools.warm" as Address })).toEqual([
      ["pools.warm", "pools.shared-2", "acls.etl/users"],
      ["pools.warm", "pools.shared-2"],
    ]);
  });
});

test("an acknowledgement ends only the one of its address and field", () => {
  const accepted = (address: string, field: string): JournalEntry => ({
    type: "acknowledged",
    acknowledgement: {
      address: address as Address,
      field,
      differences: ["d"],
      until: 5,
      reason: "test",
      by: "ada",
      at: 1,
    },
  });
  const { acknowledged } = folded(
    accepted("pools.a", "x"),
    accepted("pools.b", "x"),
    accepted("pools.a", "y"),
    {
      type: "unacknowledged",
      address: "pools.a" as Address,
      field: "x",
    },
  );
  expect(acknowledged?.map(({ address, field }) => `${address} ${field}`)).toEqual([
    "pools.b x",
    "pools.a y",
  ]);
});

test("acknowledged drift of an address no longer counts as reported", () => {
  const [a, b] = ["pools.a" as Address, "pools.b" as Address];
  const accepted = (differences: readonly string[]): JournalEntry => ({
    type: "acknowledged",
    acknowledgement: { address: a, differences, until: 5, reason: "test", by: "ada", at: 1 },
  });
  const reported: JournalEntry = {
    type: "reported",
    reported: [
      { address: a, differences: ["x", "y"] },
      { address: b, differences: ["x"] },
    ],
  };
  expect(folded(reported, accepted(["x"])).reported).toEqual([
    { address: a, differences: ["y"] },
    { address: b, differences: ["x"] },
  ]);
  expect(folded(reported, accepted(["x", "y"])).reported).toEqual([{ address: b, differences: ["x"] }]);
});
