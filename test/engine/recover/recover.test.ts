import { expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import { recordBeforeWrites, recover } from "../../../src/engine/recover/recover.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import type { JournalEntry, StateRecord } from "../../../src/state/model/record.ts";
import type { Lease } from "../../../src/state/model/store.ts";
import { ready } from "../../state/build.ts";
import { toys } from "../toy.ts";
import { at, lateSweep, NOW, object, open, recovered } from "./recovered.ts";

const HOURS_72 = 72 * 3_600_000;

test("recovery leaves a state without open intents and sweeps unchanged", () => {
  const state = emptyState("l");
  const found = recover({ registry: toys, state, live: new Map(), now: NOW });
  expect(found).toEqual({ state, entries: [], diagnostics: [] });
  expect(found.state).toBe(state);
});

test("client-named: an object that was absent and now equals the request is adopted", () => {
  const { state, entries, diagnostics } = recovered({
    open: [open("things.a")],
    live: { things: [object("t1", "a")] },
  });
  expect(at(state, "things.a")).toEqual({
    status: "ready",
    address: "things.a",
    id: "t1",
    name: "a",
    applied: { size: 1 },
    depends_on: [],
    seen: {},
  });
  expect([state.open, diagnostics]).toEqual([[], []]);
  expect(entries.map(({ type }) => type)).toEqual(["record", "closed"]);
});

test("client-named: an object that differs from the request is a collision, and the intent stays open", () => {
  const { state, entries, diagnostics } = recovered({
    open: [open("things.a")],
    live: { things: [object("t1", "a", { size: 2 })] },
  });
  expect(diagnostics).toMatchObject([{ code: "PLAN_COLLISION", address: "things.a" }]);
  expect([entries, state.open.length, state.records.size]).toEqual([[], 1, 0]);
});

test("client-named: what existed before is never adopted, even if it is equal", () => {
  const { diagnostics } = recovered({
    open: [open("things.a", { existed: true })],
    live: { things: [object("t1", "a")] },
  });
  expect(diagnostics).toMatchObject([{ code: "PLAN_COLLISION" }]);
});

test("client-named: an object whose creation was confirmed is managed, whatever its values are now", () => {
  const { state, diagnostics } = recovered({
    open: [open("things.a", { sent: 2, succeeded: 1 })],
    live: { things: [object("t1", "a", { size: 5 })] },
  });
  expect([at(state, "things.a")?.id, diagnostics]).toEqual(["t1", []]);
});

test("a collision does not block an adopting run, and ends once the object is recorded", () => {
  const live = { things: [object("t1", "a", { size: 2 })] };
  expect(recovered({ open: [open("things.a")], live, adopt: true }).diagnostics).toEqual([]);
  const after = recovered({
    open: [open("things.a")],
    live,
    records: [ready("things.a", { id: remoteId("t1") })],
  });
  expect([after.state.open, after.diagnostics]).toEqual([[], []]);
});

test("an object that is not there may still appear, so it is swept for 72 hours", () => {
  const { state } = recovered({ open: [open("things.a")] });
  expect(state.open).toEqual([]);
  expect(state.sweeps).toMatchObject([
    { token: "token-things.a", address: "things.a", until: NOW - 1000 + HOURS_72 },
  ]);
});

test("an object whose creation was answered is not swept if it is missing", () => {
  const { state } = recovered({ open: [open("things.a", { sent: 1, succeeded: 1 })] });
  expect([state.open, state.sweeps]).toEqual([[], []]);
});

test("an intent older than that is closed without a sweep", () => {
  const { state } = recovered({ open: [open("things.a")], now: NOW + HOURS_72 });
  expect([state.open, state.sweeps]).toEqual([[], []]);
});

test("the intents and sweeps of an unreadable kind are kept", () => {
  const sweep = {
    token: "token-things.b",
    address: "things.b" as Address,
    until: NOW + 5,
    intent: open("things.b"),
  };
  const { entries, state } = recovered({
    open: [open("things.a")],
    sweeps: [sweep],
    live: { things: "unreadable" },
  });
  expect([entries, state.open.length, state.sweeps.length]).toEqual([[], 1, 1]);
});

test("tagged: found by its token among others of the same name", () => {
  const { state } = recovered({
    open: [open("tagged.a")],
    live: {
      tagged: [object("c1", "a", { size: 1 }, "other"), object("c2", "a", { size: 3 }, "token-tagged.a")],
    },
  });
  expect(at(state, "tagged.a")).toMatchObject({ status: "ready", id: "c2" });
});

test("two-phase: an object that still shows its token is recorded as unfinished, with its id", () => {
  const { state } = recovered({
    open: [open("phased.a")],
    live: { phased: [object("j1", "a [x]", {}, "token-phased.a")] },
  });
  expect(at(state, "phased.a")).toMatchObject({ status: "creating", id: "j1", token: "token-phased.a" });
});

test("two-phase: an object with a known ID and without its token was finished", () => {
  const creating: StateRecord = {
    status: "creating",
    address: "phased.a" as Address,
    id: remoteId("j1"),
    name: "a",
    applied: { size: 1 },
    depends_on: [],
    token: "token-phased.a",
  };
  const { state } = recovered({
    open: [open("phased.a", { made: remoteId("j1"), sent: 2, succeeded: 1 })],
    records: [creating],
    live: { phased: [object("j1", "a")] },
  });
  expect(at(state, "phased.a")).toMatchObject({ status: "ready", id: "j1", seen: {} });
});

test("two-phase: a deleted object with a known ID is forgotten and not swept", () => {
  const creating: StateRecord = {
    status: "creating",
    address: "phased.a" as Address,
    id: remoteId("j1"),
    name: "a",
    applied: {},
    depends_on: [],
    token: "token-phased.a",
  };
  const { state } = recovered({
    open: [open("phased.a", { made: remoteId("j1"), sent: 2, succeeded: 1 })],
    records: [creating],
  });
  expect([state.records.size, state.sweeps, state.open]).toEqual([0, [], []]);
});

test("repeatable: an existing object is managed and may be written again", () => {
  const { state } = recovered({
    open: [open("items.red/chair", { existed: true })],
    live: { items: [object("i1", "red/chair", { size: 4 })] },
  });
  expect(at(state, "items.red/chair")).toMatchObject({ status: "ready", id: "i1" });
});

test("an update records the values that its object has and continues from them", () => {
  const { state } = recovered({
    open: [open("things.a", { action: "update", id: remoteId("t1"), wanted: { size: 2, ref: "x" } })],
    records: [ready("things.a", { id: remoteId("t1"), applied: { size: 1 }, seen: { color: "red" } })],
    live: { things: [object("t1", "a", { size: 1, ref: "x", color: "red" })] },
  });
  expect(at(state, "things.a")).toMatchObject({ applied: { size: 1, ref: "x" }, seen: { color: "red" } });
  expect(state.open).toEqual([]);
});

test("a delete counts as done if the object is missing; otherwise the next plan repeats it", () => {
  const setting = {
    open: [open("things.a", { action: "delete", id: remoteId("t1") })],
    records: [ready("things.a", { id: remoteId("t1") })],
  };
  expect(recovered(setting).state.records.size).toBe(0);
  const there = recovered({ ...setting, live: { things: [object("t1", "a")] } });
  expect([at(there.state, "things.a")?.id, there.state.open]).toEqual(["t1", []]);
});

test("a delete that counts as done takes the members of the object, too, and those of no other", () => {
  const { state } = recovered({
    open: [open("rooms.red", { action: "delete", id: remoteId("t1") })],
    records: [
      ready("rooms.red", { id: remoteId("t1") }),
      ready("items.red/chair", { id: remoteId("red/chair") }),
      ready("items.blue/chair", { id: remoteId("blue/chair") }),
    ],
    live: { rooms: [] },
  });
  expect([...state.records.keys()]).toEqual(["items.blue/chair"]);
});

test("a delete of a deposed object takes only that one from the record", () => {
  const { state } = recovered({
    open: [open("things.a", { action: "delete", id: remoteId("old") })],
    records: [ready("things.a", { id: remoteId("t1"), deposed: [remoteId("old")] })],
    live: { things: [object("t1", "a")] },
  });
  expect(at(state, "things.a")).toEqual(ready("things.a", { id: remoteId("t1") }));
});

test("a successor that was found keeps the object that gives way as deposed", () => {
  const { state } = recovered({
    open: [open("things.a", { replaces: remoteId("old") })],
    records: [ready("things.a", { id: remoteId("old") })],
    live: { things: [object("old", "a-before"), object("new", "a")] },
  });
  expect(at(state, "things.a")).toMatchObject({ id: "new", deposed: ["old"] });
});

test("a late commit for an address without a record is adopted", () => {
  const { state } = recovered({
    sweeps: [lateSweep("tagged.a")],
    live: { tagged: [object("c1", "a", {}, "token-tagged.a")] },
  });
  expect([at(state, "tagged.a")?.id, state.sweeps]).toEqual(["c1", []]);
});

test("a late commit of an address that was made again by now is a leftover to be deleted", () => {
  const { state } = recovered({
    sweeps: [lateSweep("tagged.a")],
    records: [ready("tagged.a", { id: remoteId("c2") })],
    live: { tagged: [object("c1", "a", {}, "token-tagged.a"), object("c2", "a", {}, "other")] },
  });
  expect(at(state, "tagged.a")).toMatchObject({ id: "c2", deposed: ["c1"] });
  expect(state.sweeps).toEqual([]);
});

test("a late commit of a replacement becomes the object, and the old one has to go", () => {
  const sweep = { ...lateSweep("tagged.a"), intent: open("tagged.a", { replaces: remoteId("old") }) };
  const { state } = recovered({
    sweeps: [sweep],
    records: [ready("tagged.a", { id: remoteId("old") })],
    live: { tagged: [object("old", "a"), object("c1", "a", {}, "token-tagged.a")] },
  });
  expect(at(state, "tagged.a")).toMatchObject({ id: "c1", deposed: ["old"] });
});

test("an object of the swept name that differs from the request is unmanaged and not changed", () => {
  const { state, diagnostics } = recovered({
    sweeps: [lateSweep("things.a")],
    live: { things: [object("t1", "a", { size: 9 })] },
  });
  expect([state.records.size, state.sweeps.length, diagnostics]).toEqual([0, 1, []]);
});

test("a sweep ends after its last millisecond, also without an intent or of an unknown kind", () => {
  const { intent: _, ...bare } = lateSweep("things.a");
  for (const sweep of [lateSweep("things.a"), bare, lateSweep("gone.a")]) {
    expect(recovered({ sweeps: [sweep], now: NOW + 1000 }).entries).toEqual([]);
    expect(recovered({ sweeps: [sweep], now: NOW + 1001 }).entries).toEqual([
      { type: "swept", token: sweep.token },
    ]);
  }
});

test.each([
  ["the object of the address", { id: remoteId("t1") }],
  ["a replaced object", { id: remoteId("t2"), deposed: [remoteId("t1")] }],
])("a sweep ends when it finds %s that is recorded already", (_what, more) => {
  const { entries } = recovered({
    sweeps: [lateSweep("things.a")],
    records: [ready("things.a", more)],
    live: { things: [object("t1", "a")] },
  });
  expect(entries).toEqual([{ type: "swept", token: "token-things.a" }]);
});

test("a late commit of a kind whose writes may be repeated is adopted, whatever its values are", () => {
  const { state } = recovered({
    sweeps: [lateSweep("items.red/chair")],
    live: { items: [object("i1", "red/chair", { size: 9 })] },
  });
  expect([at(state, "items.red/chair")?.id, state.sweeps]).toEqual(["i1", []]);
});

test("the sweep of an update looks only for the part of an upload, and records it for deletion", () => {
  const sweep = lateSweep("uploads.a", { action: "update" });
  const records = [ready("uploads.a", { id: remoteId("u1") })];
  const content = object("u1", "a");
  expect(recovered({ sweeps: [sweep], records, live: { uploads: [content] } }).entries).toEqual([]);
  const uploads = [content, object("p1", "a.token-uploads.a.part")];
  const { entries, state } = recovered({ sweeps: [sweep], records, live: { uploads } });
  expect(entries).toMatchObject([
    { type: "record", record: { address: "uploads.a.token-uploads.a.part", id: "p1" } },
    { type: "swept", token: "token-uploads.a" },
  ]);
  expect([...state.records.keys()]).toEqual(["uploads.a", "uploads.a.token-uploads.a.part"]);
});

test("recovering what was recovered finds nothing more", () => {
  const live = { things: [object("t1", "a")], tagged: [object("c1", "b", {}, "token-tagged.b")] };
  const first = recovered({ open: [open("things.a"), open("tagged.b", { seq: 8 })], live });
  const again = recovered({
    live,
    open: first.state.open,
    sweeps: first.state.sweeps,
    records: [...first.state.records.values()],
  });
  expect(again.entries).toEqual([]);
});

test("an object of another address that was renamed since is not what a creation made, at once or later", () => {
  const records = [ready("things.b", { id: remoteId("t1"), name: "b" })];
  const live = { things: [object("t1", "a")] };
  const first = recovered({ open: [open("things.a")], records, live });
  expect(at(first.state, "things.a")).toBeUndefined();
  expect(first.diagnostics).toEqual([]);
  const [sweep] = first.state.sweeps;
  expect(sweep?.address).toBe("things.a");
  const later = recovered({ sweeps: first.state.sweeps, records, live });
  expect([...later.state.records.keys()]).toEqual(["things.b"]);
});

test.each([
  ["another kind has the ID", ready("boxes.z", { id: remoteId("t1") })],
  ["another address of the kind has another ID", ready("things.b", { id: remoteId("t9") })],
])("a creation is adopted where %s", (_what, record) => {
  const { state } = recovered({
    open: [open("things.a")],
    records: [record],
    live: { things: [object("t1", "a")] },
  });
  expect(at(state, "things.a")?.id).toBe("t1");
});

test("a replaced object of another address is not what a creation made", () => {
  const { state } = recovered({
    open: [open("things.a")],
    records: [ready("things.b", { id: remoteId("t2"), deposed: [remoteId("t1")] })],
    live: { things: [object("t1", "a")] },
  });
  expect([...state.records.keys()]).toEqual(["things.b"]);
});

test("recovery appends its entries to the journal in their order", async () => {
  const appended: JournalEntry[] = [];
  const lease = { append: async (entry: JournalEntry) => appended.push(entry) } as unknown as Lease;
  const { entries } = recovered({ open: [open("things.a")], live: { things: [object("t1", "a")] } });
  await recordBeforeWrites(lease, entries);
  expect(appended).toEqual(entries);
});
