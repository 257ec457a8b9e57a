// The two stores: what one transaction does is whole or nothing, and what is on disk comes back.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DataInUse, openStore } from "../../../src/emulator/store/sqlite.ts";
import { Store } from "../../../src/emulator/store/store.ts";
import type { World } from "../../../src/emulator/world/world.ts";
import { sampleOf } from "../../sample-size.ts";

let folder: string;
const open: Store[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "store-test-"));
});
afterEach(() => {
  for (const store of open.splice(0)) store.close();
  rmSync(folder, { recursive: true, force: true });
});

const kept = (store: Store): Store => {
  open.push(store);
  return store;
};
const stores = [
  ["memory", () => kept(new Store())],
  ["sqlite", () => kept(openStore(folder))],
] as const;
const rows = (store: Store, name = "t") => [...store.world.collection(name).entries()];
const failing = (store: Store, work: (world: World) => void) =>
  expect(() =>
    store.transact(0, (world) => {
      work(world);
      throw new Error("stop");
    }),
  ).toThrow("stop");

describe.each(stores)("a store in %s", (_name, start) => {
  test("keeps rows in the order in which their ids were first set; a change keeps the place, a removal loses it", () => {
    const store = start();
    store.transact(0, ({ collection }) => {
      const t = collection("t");
      for (const id of ["b", "a", "10", "9"]) t.set(id, { id });
      t.set("a", { changed: true });
      t.delete("b");
      t.set("b", { again: true });
    });
    expect(rows(store)).toEqual([
      ["a", { changed: true }],
      ["10", { id: "10" }],
      ["9", { id: "9" }],
      ["b", { again: true }],
    ]);
    store.transact(0, ({ collection }) => {
      const t = collection("t");
      t.delete("a");
      t.set("a", 1);
    });
    expect(rows(store).map(([id]) => id)).toEqual(["10", "9", "b", "a"]);
    expect(store.world.collection("t").size).toBe(4);
  });

  test("a transaction sees its own changes; when it throws, nothing of it stays", () => {
    const store = start();
    store.transact(0, ({ collection }) => {
      collection("t").set("a", 1);
      collection("t").set("b", 2);
    });
    failing(store, ({ collection, next }) => {
      const t = collection("t");
      t.delete("a");
      t.set("c", 3);
      t.set("b", 20);
      next("s");
      expect(t.has("a")).toBe(false);
      expect(t.get("b")).toBe(20);
      expect([...t.entries()]).toEqual([
        ["b", 20],
        ["c", 3],
      ]);
      expect(t.size).toBe(2);
    });
    expect(rows(store)).toEqual([
      ["a", 1],
      ["b", 2],
    ]);
    expect(store.world.collection("t").size).toBe(2);
    store.transact(0, ({ next }) => expect(next("s")).toBe(1));
  });

  test("rows are frozen, so that no caller changes the past", () => {
    const store = start();
    const value = { list: [{ a: 1 }] };
    store.transact(0, ({ collection }) => collection("t").set("x", value));
    expect(() => {
      value.list[0] = { a: 2 };
    }).toThrow(TypeError);
  });

  test("numbers beyond 2^53 and names like __proto__ are kept", () => {
    const store = start();
    store.transact(0, ({ collection }) =>
      collection("__proto__").set("__proto__", { id: 9007199254740993n, constructor: "x" }),
    );
    expect(store.world.collection("__proto__").get("__proto__")).toEqual({
      id: 9007199254740993n,
      constructor: "x",
    });
  });

  test("sequences count on from where they start", () => {
    const store = start();
    store.transact(0, ({ next }) =>
      expect([next("a"), next("a"), next("b", 100), next("b", 100)]).toEqual([1, 2, 100, 101]),
    );
  });

  test("blobs: written in pieces, read by ranges, undone with the transaction", () => {
    const store = start();
    const id = store.transact(0, ({ blobs }) => {
      const made = blobs.create();
      blobs.append(made, new Uint8Array([1, 2, 3]));
      blobs.append(made, new Uint8Array([4, 5]));
      return made;
    });
    failing(store, ({ blobs }) => {
      blobs.append(id, new Uint8Array([9, 9]));
      blobs.delete(blobs.create());
    });
    failing(store, ({ blobs }) => blobs.delete(id));
    const { blobs } = store.world;
    expect(blobs.size(id)).toBe(5);
    expect([...blobs.read(id, 1, 3)]).toEqual([2, 3, 4]);
    expect([...blobs.read(id, 3, 99)]).toEqual([4, 5]);
    expect([...blobs.read(id, 5, 1)]).toEqual([]);
    store.transact(0, (world) => world.blobs.append(id, new Uint8Array([6])));
    expect([...blobs.read(id, 0, 9)]).toEqual([1, 2, 3, 4, 5, 6]);
    store.transact(0, (world) => world.blobs.delete(id));
    expect(() => blobs.size(id)).toThrow("does not exist");
  });

  test("blobs of many pieces read back the same", () => {
    const store = start();
    const piece = Uint8Array.from({ length: 1_500_000 }, (_, i) => i % 251);
    const id = store.transact(0, ({ blobs }) => blobs.create());
    for (let i = 0; i < 4; i++) store.transact(0, ({ blobs }) => blobs.append(id, piece));
    failing(store, ({ blobs }) => blobs.append(id, piece));
    const { blobs } = store.world;
    expect(blobs.size(id)).toBe(6_000_000);
    expect(blobs.read(id, 4_500_000, 1_500_000)).toEqual(piece);
    store.transact(0, (world) => world.blobs.delete(id));
  });

  test("an encrypted value is readable only through the store, and differs each time", () => {
    const store = start();
    const [a, b] = [store.world.seal("héllo"), store.world.seal("héllo")];
    expect(a).not.toBe(b);
    expect(store.world.unseal(a)).toBe("héllo");
    expect(() => kept(new Store()).world.unseal(a)).toThrow();
    expect(() => store.world.unseal(`${a.slice(0, -4)}AAAA`)).toThrow();
  });

  test("timers come in the order of their times; canceled and replaced ones do not come", () => {
    const store = start();
    store.transact(0, ({ timers }) => {
      timers.set("a", 30, "x", {});
      timers.set("b", 10, "x", {});
      timers.set("c", 20, "x", {});
      timers.set("a", 5, "x", { again: true });
      timers.cancel("c");
    });
    failing(store, ({ timers }) => {
      timers.cancel("b");
      timers.set("d", 1, "x", {});
    });
    const taken: string[] = [];
    for (let due = store.timers.takeDue(100); due !== undefined; due = store.timers.takeDue(100))
      taken.push(`${due.id}@${due.at}`);
    expect(taken).toEqual(["a@5", "b@10"]);
  });

  test("a change outside a transaction, and a transaction inside another, are bugs", () => {
    const store = start();
    expect(() => store.world.collection("t").set("a", 1)).toThrow("outside a transaction");
    expect(() => store.transact(0, () => store.transact(0, () => 1))).toThrow("do not nest");
  });

  test("any sequence of changes, kept or undone, is what a plain map makes of them", () => {
    const change = fc.record({
      id: fc.constantFrom("a", "b", "c", "1", "2"),
      value: fc.option(fc.integer(), { nil: undefined }),
    });
    const transaction = fc.record({ changes: fc.array(change, { maxLength: 6 }), fails: fc.boolean() });
    let tables = 0;
    fc.assert(
      fc.property(fc.array(transaction, { maxLength: 12 }), (transactions) => {
        const store = start();
        const name = `p${tables++}`;
        let model = new Map<string, number>();
        for (const { changes, fails } of transactions) {
          const next = new Map(model);
          const work = (world: World) => {
            const t = world.collection<number>(name);
            for (const { id, value } of changes) {
              if (value === undefined) expect(t.delete(id)).toBe(next.delete(id));
              else {
                t.set(id, value);
                next.set(id, value);
              }
              expect([...t.entries()]).toEqual([...next]);
              expect(t.size).toBe(next.size);
            }
          };
          if (fails) failing(store, work);
          else {
            store.transact(0, work);
            model = next;
          }
          expect(rows(store, name)).toEqual([...model]);
        }
        store.close();
        open.pop();
      }),
      { numRuns: sampleOf(60) },
    );
  });
});

describe("on disk", () => {
  const reopen = (store: Store): Store => {
    store.close();
    open.splice(open.indexOf(store), 1);
    return kept(openStore(folder));
  };

  test("rows, their order, sequences, timers, blobs, the key and mails come back", () => {
    let store = kept(openStore(folder));
    const [blob, sealed] = store.transact(7, (world) => {
      const t = world.collection("t");
      for (const id of ["z", "a", "5"]) t.set(id, { id, big: 2n ** 60n });
      t.delete("z");
      t.set("z", {});
      world.next("s");
      world.timers.set("later", 50, "x", { a: 1 });
      world.mail({ to: ["a"], subject: "s", event: "e", details: null });
      const id = world.blobs.create();
      world.blobs.append(id, new Uint8Array([1, 2]));
      return [id, world.seal("hidden")];
    });
    const before = store.dump();
    store = reopen(store);
    expect(store.dump()).toEqual(before);
    expect(rows(store).map(([id]) => id)).toEqual(["a", "5", "z"]);
    expect(store.world.unseal(sealed)).toBe("hidden");
    expect([...store.world.blobs.read(blob, 0, 2)]).toEqual([1, 2]);
    expect(store.timers.takeDue(50)).toEqual({ id: "later", at: 50, type: "x", payload: { a: 1 } });
    store.transact(0, ({ next }) => expect(next("s")).toBe(2));
  });

  test("bytes of contents that no row names are swept when the data is opened", () => {
    let store = kept(openStore(folder));
    const id = store.transact(0, ({ blobs }) => {
      const made = blobs.create();
      blobs.append(made, new Uint8Array(10));
      blobs.append(blobs.create(), new Uint8Array(10));
      return made;
    });
    // The state after a kill between the two steps of a deletion: the row is deleted, the file is not.
    store.transact(0, (world) => world.collection("$blobs").delete(id));
    expect(readdirSync(join(folder, "blobs"))).toHaveLength(2);
    store = reopen(store);
    expect(readdirSync(join(folder, "blobs"))).toHaveLength(1);
  });

  test("the folder of another process is refused with a clear error, and is free again when that ends", () => {
    const store = kept(openStore(folder));
    expect(() => openStore(folder)).toThrow(DataInUse);
    expect(() => openStore(folder)).toThrow(/world\.sqlite is in use by another process/);
    expect(reopen(store).dump()).toEqual({});
  });

  test("an encrypted value is not in any file of the folder", () => {
    const store = kept(openStore(folder));
    store.transact(0, (world) => world.collection("t").set("s", { sealed: world.seal("canary-4411") }));
    store.close();
    open.pop();
    for (const file of readdirSync(folder)) {
      if (file === "blobs") continue;
      expect(readFileSync(join(folder, file)).includes("canary-4411")).toBe(false);
    }
  });
});
