// The entries that resolve an open intent: its values and names, replaced objects, and tokens for later runs.

import { describe, expect, test } from "vitest";
import { remoteId } from "../../../src/core/address.ts";
import type { OpenIntent } from "../../../src/state/model/record.ts";
import { ready } from "../../state/build.ts";
import { at, NOW, object, open, recovered } from "./recovered.ts";

const HOURS_72 = 72 * 3_600_000;

const t1 = remoteId("t1");
const closed = { type: "closed", intent: 7 };

test("an intent of a kind that is unknown or was not listed stays open", () => {
  for (const setting of [
    { open: [open("gone.a")] },
    { open: [open("things.a")], live: { things: "unlisted" } } as const,
    { open: [open("items.red/chair")], unreadableParents: ["red"] },
  ])
    expect(recovered(setting)).toMatchObject({ entries: [], diagnostics: [] });
});

describe("an interrupted update", () => {
  const update = (address: string, more: Partial<OpenIntent> = {}): OpenIntent =>
    open(address, { action: "update", id: t1, ...more });

  test("of an address without a record is closed", () => {
    expect(recovered({ open: [update("things.a")] }).entries).toEqual([closed]);
  });

  test("of an unfinished object leaves its record unchanged", () => {
    const { seen: _, ...common } = ready("phased.a", { id: t1 });
    const creating = { ...common, status: "creating", token: "token" } as const;
    const wanted = { size: 2 };
    expect(recovered({ open: [update("phased.a", { wanted })], records: [creating] }).entries).toEqual([
      closed,
    ]);
  });

  test("of an object that the address no longer has leaves the record unchanged", () => {
    const records = [ready("things.a", { id: remoteId("t2") })];
    expect(recovered({ open: [update("things.a", { wanted: { size: 2 } })], records }).entries).toEqual([
      closed,
    ]);
  });

  test("without an ID is one of the recorded object", () => {
    const { id: _, ...intent } = update("things.a", { wanted: { size: 2 } });
    const { state } = recovered({ open: [intent], records: [ready("things.a", { id: t1 })] });
    expect(at(state, "things.a")).toEqual(ready("things.a", { id: t1, applied: { size: 2 } }));
  });

  test("leaves out values that cannot be read back, and their witnesses", () => {
    const wanted = { size: 2, key: "digest", secret: "digest" };
    const { state } = recovered({
      open: [update("vaults.a", { wanted })],
      records: [
        ready("vaults.a", { id: t1, applied: { size: 1, secret: "before" }, seen: { changed: "1" } }),
      ],
      live: { vaults: [{ ...object("t1", "a", { size: 2 }), facts: { changed: "2" } }] },
    });
    expect(at(state, "vaults.a")).toMatchObject({ applied: { size: 2 }, seen: {} });
  });

  test("of content that is uploaded in parts is looked for later, and of other content is not", () => {
    const { entries, state } = recovered({ open: [update("uploads.a")] });
    expect(entries).toEqual([
      {
        type: "sweep",
        sweep: {
          token: "token-uploads.a",
          address: "uploads.a",
          until: NOW - 1000 + HOURS_72,
          intent: update("uploads.a"),
        },
      },
      closed,
    ]);
    expect(state.sweeps).toHaveLength(1);
    for (const address of ["things.a", "notes.a"])
      expect(recovered({ open: [update(address)] }).entries).toEqual([closed]);
  });

  test("without an unanswered request is not looked for later", () => {
    const answered = update("uploads.a", { sent: 2, succeeded: 1, refused: 1 });
    expect(recovered({ open: [answered] }).entries).toEqual([closed]);
  });
});

describe("an interrupted rename", () => {
  const rename = open("named.a", { action: "update", id: t1, wanted: { title: "new", size: 2 } });
  const record = (title?: string) =>
    ready("named.a", {
      id: t1,
      name: "old",
      applied: { ...(title === undefined ? {} : { title }), size: 1 },
    });

  test.each([
    ["did not happen", "old", { name: "old", applied: { title: "old", size: 1 } }],
    ["happened", "new", { name: "new", applied: { title: "new", size: 1 } }],
    ["was followed by another", "third", { name: "old", applied: { title: "new", size: 1 } }],
  ])("that %s is recorded with the live name where it is known", (_what, name, expected) => {
    const live = { named: [object("t1", name, { title: name, size: 1 })] };
    const { state } = recovered({ open: [rename], records: [record("old")], live });
    expect(at(state, "named.a")).toEqual({ ...record("old"), ...expected });
  });

  test("records the wanted values where the object is missing", () => {
    const { state } = recovered({ open: [rename], records: [record("old")] });
    expect(at(state, "named.a")).toEqual({ ...record("old"), applied: { title: "new", size: 2 } });
  });
});

describe("an interrupted delete", () => {
  test("without an ID leaves the record unchanged", () => {
    const intent = open("things.a", { action: "delete" });
    expect(recovered({ open: [intent], records: [ready("things.a")] }).entries).toEqual([closed]);
  });
});

describe("a creation that is not found", () => {
  test("leaves the record of the address unchanged", () => {
    const { entries } = recovered({ open: [open("things.a")], records: [ready("things.a")] });
    expect(entries).toMatchObject([{ type: "sweep" }, { type: "closed" }]);
    expect(entries).toHaveLength(2);
  });

  test.each([
    ["nothing", []],
    ["another object", [ready("phased.a", { id: remoteId("j0"), deposed: [remoteId("j1")] })]],
  ])("and had an ID is closed where the state records %s", (_what, records) => {
    const intent = open("phased.a", { made: remoteId("j1") });
    expect(recovered({ open: [intent], records }).entries).toEqual([closed]);
  });

  test.each<[Partial<OpenIntent>, number]>([
    [{ sent: 2, succeeded: 1 }, 1],
    [{ sent: 2, refused: 1 }, 1],
    [{ sent: 2, succeeded: 1, refused: 1 }, 0],
    [{ sent: 1, refused: 1 }, 0],
  ])("after %o is looked for later by %i token", (requests, expected) => {
    const { entries, state } = recovered({ open: [open("things.a", requests)] });
    expect(state.sweeps).toHaveLength(expected);
    expect(entries).toHaveLength(expected + 1);
  });

  test("and does not say how many requests were sent is looked for later", () => {
    const { sent: _, ...intent } = open("things.a");
    expect(recovered({ open: [intent] }).state.sweeps).toHaveLength(1);
  });

  test("is looked for until 72 hours after its intent, and not in the last millisecond", () => {
    const end = NOW - 1000 + HOURS_72;
    expect(recovered({ open: [open("things.a")], now: end - 1 }).state.sweeps).toHaveLength(1);
    expect(recovered({ open: [open("things.a")], now: end }).entries).toEqual([closed]);
  });
});

describe("a creation that is found", () => {
  test("keeps what the record says about deletion and lists, and the recorded object as replaced", () => {
    const before = ready("things.a", {
      id: remoteId("t0"),
      prevent_destroy: true,
      owns: ["items"],
      deposed: [remoteId("t9")],
    });
    const live = { things: [object("t1", "a")] };
    const { state } = recovered({ open: [open("things.a")], records: [before], live });
    expect(at(state, "things.a")).toEqual({ ...before, id: t1, deposed: ["t9", "t0"] });
  });

  test("depose only the object that it replaces", () => {
    const intent = open("things.a", { replaces: remoteId("t5") });
    const live = { things: [object("t1", "a")] };
    const records = [ready("things.a", { id: remoteId("t0") })];
    expect(at(recovered({ open: [intent], records, live }).state, "things.a")?.deposed).toEqual(["t5"]);
  });

  test("has the other objects of its token as replaced objects", () => {
    const live = {
      tagged: [
        object("c1", "a", { size: 1 }, "token-tagged.a"),
        object("c2", "a", {}, "other"),
        object("c3", "a", {}, "token-tagged.a"),
      ],
    };
    const { entries } = recovered({ open: [open("tagged.a")], live });
    expect(entries).toEqual([
      { type: "record", record: ready("tagged.a", { id: remoteId("c1"), deposed: [remoteId("c3")] }) },
      closed,
    ]);
  });

  test("blocks with a way out where its origin is unknown", () => {
    const live = { things: [object("t1", "a", { size: 2 })] };
    expect(recovered({ open: [open("things.a")], live }).diagnostics).toMatchObject([
      {
        code: "PLAN_COLLISION",
        address: "things.a",
        message: 'thing "a" exists, but it is unknown whether an interrupted run created it',
        hint: "to adopt it, run `workspace import things.a t1`; otherwise, rename or delete it",
      },
    ]);
  });
});

describe("an interrupted upload", () => {
  const part = {
    type: "record",
    record: {
      status: "creating",
      address: "uploads.a.token-uploads.a.part",
      id: "p1",
      name: "a.token-uploads.a.part",
      applied: {},
      depends_on: [],
      token: "token-uploads.a",
    },
  };

  test("is recorded under its own address, for the next plan to delete", () => {
    const uploads = [object("p1", "a.token-uploads.a.part"), object("p2", "a.other.part")];
    const { entries } = recovered({ open: [open("uploads.a")], live: { uploads } });
    expect(entries[0]).toEqual(part);
    expect(entries.slice(1)).toMatchObject([{ type: "sweep" }, { type: "closed" }, part, { type: "swept" }]);
  });

  test("that is not found adds no record", () => {
    for (const address of ["uploads.a", "notes.a"])
      expect(recovered({ open: [open(address)] }).entries).toMatchObject([
        { type: "sweep" },
        { type: "closed" },
      ]);
  });
});
