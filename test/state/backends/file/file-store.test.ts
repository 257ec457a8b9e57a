import { expect, test, vi } from "vitest";
import { Failure } from "../../../../src/core/diagnostic.ts";
import type { StateStore } from "../../../../src/state/model/store.ts";
import { rejectedCode } from "../../../failures.ts";
import { BO, FOLDER, intent, storeOn, TIMES } from "../../build.ts";
import { record } from "../../contract.ts";
import { Disk } from "../../memory-files.ts";
import { VirtualClock } from "../../virtual-clock.ts";

async function names(store: StateStore): Promise<readonly string[]> {
  return [...(await store.read()).state.records.keys()].sort();
}

/** A state with a published part and a later journal. */
async function written(disk: Disk): Promise<void> {
  const lease = await storeOn({ disk }).lock({ timeoutMs: 0 });
  await lease.append(record("a"));
  await lease.publish();
  await lease.append(record("b"));
  await lease.append({ type: "intent", intent: intent("pools.c") });
  await lease.release();
}

test("a folder without a state has an empty one, and reading creates no file", async () => {
  const disk = new Disk();
  const { state } = await storeOn({ disk }).read();
  expect([state.serial, state.records.size, disk.names.size]).toEqual([0, 0, 0]);
});

test("appended entries survive a power cut, published or not", async () => {
  const disk = new Disk();
  await written(disk);
  disk.powerCut();
  const store = storeOn({ disk, seed: 5 });
  expect(await names(store)).toEqual(["pools.a", "pools.b"]);
  expect((await store.read()).state.open).toMatchObject([{ address: "pools.c", sent: 1 }]);
});

test("five earlier versions of the state are kept", async () => {
  const disk = new Disk();
  const lease = await storeOn({ disk }).lock({ timeoutMs: 0 });
  for (let n = 0; n < 9; n++) {
    await lease.append(record(`p${n}`));
    await lease.publish();
  }
  await lease.release();
  const kept = [...disk.names.keys()].filter((name) => /state\.\d+\.json$/.test(name)).sort();
  expect(kept).toEqual([4, 5, 6, 7, 8].map((serial) => `${FOLDER}/state.${serial}.json`));
  expect(disk.text(`${FOLDER}/state.8.json`)).toContain("pools.p7");
});

test("no temporary file is left", async () => {
  const disk = new Disk();
  await written(disk);
  expect([...disk.names.keys()].filter((name) => name.endsWith(".new"))).toEqual([]);
});

test("a state of another lineage than the journal is refused", async () => {
  const [disk, other] = [new Disk(), new Disk()];
  await written(disk);
  const lease = await storeOn({ disk: other, seed: 77 }).lock({ timeoutMs: 0 });
  await lease.append(record("x"));
  await lease.publish();
  await lease.release();
  disk.put(`${FOLDER}/state.json`, other.bytes(`${FOLDER}/state.json`) ?? "");
  expect(await rejectedCode(storeOn({ disk }).read())).toBe("STATE_LINEAGE");
});

test("an older version of the state does not match a newer journal", async () => {
  const disk = new Disk();
  const lease = await storeOn({ disk }).lock({ timeoutMs: 0 });
  for (const name of ["a", "b", "c"]) {
    await lease.append(record(name));
    await lease.publish();
  }
  await lease.release();
  disk.put(`${FOLDER}/state.json`, disk.bytes(`${FOLDER}/state.1.json`) ?? "");
  expect(await rejectedCode(storeOn({ disk }).read())).toBe("STATE_CORRUPT");
  expect(await rejectedCode(storeOn({ disk }).lock({ timeoutMs: 0 }))).toBe("STATE_CORRUPT");
});

test("a state without its journal, and a journal without its state, are damage", async () => {
  for (const name of ["state.json", "journal.jsonl"]) {
    const disk = new Disk();
    await written(disk);
    disk.names.delete(`${FOLDER}/${name}`);
    expect([name, await rejectedCode(storeOn({ disk }).read())]).toEqual([name, "STATE_CORRUPT"]);
  }
});

test("every byte of both files cut or flipped: the same state, fewer entries with a warning, or reported damage", async () => {
  const disk = new Disk();
  await written(disk);
  const found: string[] = [];
  for (const name of ["state.json", "journal.jsonl"]) {
    const bytes = disk.bytes(`${FOLDER}/${name}`) ?? new Uint8Array();
    for (let at = 0; at < bytes.length; at++) {
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] ?? 0) ^ 4;
      for (const [how, damaged] of [
        ["cut", bytes.slice(0, at)],
        ["flip", flipped],
      ] as const) {
        const copy = disk.copy();
        copy.put(`${FOLDER}/${name}`, damaged);
        try {
          const { state, diagnostics } = await storeOn({ disk: copy }).read();
          const whole = state.records.size === 2 && state.open.length === 1;
          // A journal that ends with a whole line is one whose next line was never written.
          const atLineEnd = how === "cut" && (bytes[at - 1] === 10 || bytes[at] === 10);
          if (!whole && diagnostics.length === 0 && !atLineEnd) found.push(`${how} ${name} ${at}`);
        } catch (failure) {
          if (!(failure instanceof Failure)) found.push(`${how} ${name} ${at}: ${String(failure)}`);
        }
      }
    }
  }
  expect(found).toEqual([]);
});

test("an unfinished last line is a warning and is removed when the next run begins; an entry lost with it stays reported", async () => {
  const disk = new Disk();
  await written(disk);
  const path = `${FOLDER}/journal.jsonl`;
  disk.put(path, (disk.bytes(path) ?? new Uint8Array()).slice(0, -30));
  const loaded = await storeOn({ disk }).read();
  expect(loaded.diagnostics).toMatchObject([{ severity: "warning", code: "STATE_CORRUPT" }]);
  const lease = await storeOn({ disk, seed: 3 }).lock({ timeoutMs: 0 });
  expect(lease.diagnostics).toHaveLength(1);
  await lease.release();
  const { diagnostics } = await storeOn({ disk }).read();
  expect(diagnostics.map(({ message }) => message)).toEqual([
    "journal.jsonl ends with entry 2, but a run had written entries up to 3",
  ]);
});

test("entries that were lost are no longer missed once a later run has written", async () => {
  const disk = new Disk();
  await written(disk);
  const path = `${FOLDER}/journal.jsonl`;
  const [begin] = new TextDecoder().decode(disk.bytes(path)).split("\n");
  disk.put(path, new TextEncoder().encode(`${begin}\n`));
  expect((await storeOn({ disk }).read()).diagnostics.map(({ message }) => message)).toEqual([
    "journal.jsonl ends with entry 1, but a run had written entries up to 3",
  ]);
  const lease = await storeOn({ disk, seed: 3 }).lock({ timeoutMs: 0 });
  await lease.append(record("next"));
  await lease.release();
  expect((await storeOn({ disk }).read()).diagnostics).toEqual([]);
});

test("a crash before any file operation of a run loses no durable entry", async () => {
  const operations: string[] = [];
  const run = async (disk: Disk, dieAt: number, acknowledged: string[]): Promise<void> => {
    let step = 0;
    let dead = (): void => {};
    const died = new Promise<void>((resolve) => {
      dead = resolve;
    });
    const before = (operation: string, path: string): Promise<void> | undefined => {
      if (dieAt < 0) operations.push(`${operation} ${path}`);
      if (step++ < dieAt || dieAt < 0) return undefined;
      dead();
      return new Promise(() => {});
    };
    const work = async (): Promise<void> => {
      const lease = await storeOn({ disk, hooks: { before }, seed: 9 }).lock({ timeoutMs: 0 });
      for (const name of ["x", "y"]) {
        await lease.append(record(name));
        acknowledged.push(`pools.${name}`);
      }
      await lease.publish();
      await lease.append(record("z"));
      acknowledged.push("pools.z");
      await lease.release();
    };
    await Promise.race([work(), died]);
  };
  await run(new Disk(), -1, []);
  for (let at = 0; at < operations.length; at++)
    for (const cut of [false, true]) {
      const disk = new Disk();
      await written(disk);
      const acknowledged = ["pools.a", "pools.b"];
      await run(disk, at, acknowledged);
      if (cut) disk.powerCut();
      const store = storeOn({ disk, seed: 11, isCrashed: () => true });
      const found = await names(store);
      expect([at, operations[at], acknowledged.filter((name) => !found.includes(name))]).toEqual([
        at,
        operations[at],
        [],
      ]);
      const lease = await store.lock({ timeoutMs: 0 });
      expect([...lease.state().records.keys()].sort()).toEqual(found);
      await lease.release();
    }
});

test("entries that a killed run wrote without fsync are made durable before they are used", async () => {
  const disk = new Disk();
  await written(disk);
  const never = new Promise<never>(() => {});
  /** Crashes at an operation once it is armed. */
  const dying = (operation: string, path: string) => {
    let die = (): void => {};
    let armed = false;
    const died = new Promise<void>((resolve) => {
      die = resolve;
    });
    const before = (done: string, where: string): Promise<never> | undefined => {
      if (!armed || done !== operation || !where.includes(path)) return undefined;
      die();
      return never;
    };
    const arm = (): void => {
      armed = true;
    };
    return { hooks: { before }, died, arm };
  };
  // The first run crashes between the write of a line and its fsync, the next one between state.json and its new
  // journal.
  const first = dying("sync", "/journal.jsonl");
  const lease = await storeOn({ disk, hooks: first.hooks, seed: 3 }).lock({ timeoutMs: 0 });
  first.arm();
  void lease.append(record("undurable"));
  await first.died;
  const second = dying("open", "/journal.jsonl.");
  second.arm();
  const heir = { hooks: second.hooks, owner: BO, seed: 4, isCrashed: () => true };
  void storeOn({ disk, ...heir }).lock({ timeoutMs: 0 });
  await second.died;
  disk.powerCut();
  expect(await names(storeOn({ disk, seed: 5 }))).toEqual(["pools.a", "pools.b", "pools.undurable"]);
});

test("if the disk is full, appending fails from then on, and the lock can still be released", async () => {
  const disk = new Disk();
  let full = false;
  const before = (operation: string): void => {
    if (full && operation === "write") throw new Error("ENOSPC: no space left on device");
  };
  const lease = await storeOn({ disk, hooks: { before } }).lock({ timeoutMs: 0 });
  await lease.append(record("a"));
  full = true;
  expect(await rejectedCode(lease.append(record("b")))).toBe("STATE_IO");
  full = false;
  expect(await rejectedCode(lease.append(record("c")))).toBe("STATE_IO");
  expect(await rejectedCode(lease.publish())).toBe("STATE_IO");
  await lease.release();
  expect(await names(storeOn({ disk, seed: 4 }))).toEqual(["pools.a"]);
});

test("a holder whose clock is ahead is still seen to be silent", async () => {
  const disk = new Disk();
  await storeOn({ disk, clock: new VirtualClock(9_000_000) }).lock({ timeoutMs: 0 });
  const clock = new VirtualClock(1_000_000);
  const lease = await clock.drive(storeOn({ disk, clock, owner: BO, seed: 2 }).lock({ timeoutMs: 600_000 }));
  expect(clock.now() - 1_000_000).toBeGreaterThan(TIMES.leaseMs + TIMES.requestMs);
  await lease.release();
});

test("a stale run that passed its last check writes into a journal that is not read", async () => {
  const disk = new Disk();
  let hold: (() => void) | undefined;
  let armed = false;
  const before = (operation: string, path: string): Promise<void> | undefined => {
    if (!armed || operation !== "write" || !path.endsWith("journal.jsonl")) return undefined;
    return new Promise((resolve) => {
      hold = resolve;
    });
  };
  const zombie = await storeOn({ disk, hooks: { before } }).lock({ timeoutMs: 0 });
  armed = true;
  const late = zombie.append(record("zombie"));
  await vi.waitUntil(() => hold !== undefined);
  const heir = await storeOn({ disk, owner: BO, seed: 2, isCrashed: () => true }).lock({ timeoutMs: 0 });
  await heir.append(record("heirs"));
  hold?.();
  await late;
  expect(await names(storeOn({ disk }))).toEqual(["pools.heirs"]);
  await heir.publish();
  await heir.release();
  expect(await names(storeOn({ disk }))).toEqual(["pools.heirs"]);
});

test("a torn lock file has an unknown owner: it expires, then is acquired", async () => {
  const disk = new Disk();
  disk.put(`${FOLDER}/lock.4`, '{"fence":4,"non');
  const clock = new VirtualClock(1_000_000);
  const store = storeOn({ disk, clock, seed: 2 });
  await expect(store.lock({ timeoutMs: 0 })).rejects.toThrow("lock.4 cannot be read");
  const lease = await clock.drive(store.lock({ timeoutMs: 600_000 }));
  expect(lease.fence).toBe(5);
  await lease.release();
});

test("when lock files were removed by hand, the fence still goes up from what the state has seen", async () => {
  const disk = new Disk();
  for (let n = 0; n < 3; n++) await (await storeOn({ disk, seed: n + 1 }).lock({ timeoutMs: 0 })).release();
  for (const name of [...disk.names.keys()]) if (name.includes("/lock.")) disk.names.delete(name);
  const lease = await storeOn({ disk, seed: 8 }).lock({ timeoutMs: 0 });
  expect(lease.fence).toBe(4);
  await lease.release();
});

test("entries that are ready together share one fsync", async () => {
  const disk = new Disk();
  let syncs = 0;
  const before = (operation: string, path: string): void => {
    if (operation === "sync" && path.endsWith("journal.jsonl")) syncs += 1;
  };
  const lease = await storeOn({ disk, hooks: { before } }).lock({ timeoutMs: 0 });
  syncs = 0;
  await Promise.all(Array.from({ length: 50 }, (_, at) => lease.append(record(`p${at}`))));
  expect(syncs).toBe(1);
  await lease.release();
});

test("recording a step writes as much with 2,000 records as with none", async () => {
  const disk = new Disk();
  const path = `${FOLDER}/journal.jsonl`;
  const lease = await storeOn({ disk }).lock({ timeoutMs: 0 });
  const size = (): number => disk.bytes(path)?.length ?? 0;
  const start = size();
  await lease.append(record("aaaa"));
  const small = size() - start;
  for (let n = 0; n < 2000; n++) lease.note(record(`p${n}`));
  await lease.publish();
  const before = size();
  await lease.append(record("bbbb"));
  expect(size() - before - small).toBeLessThan(10);
  await lease.release();
});

test("the key is made once, private to the folder, and a state remembers which one it was", async () => {
  const disk = new Disk();
  const store = storeOn({ disk });
  const key = await store.key({ make: true });
  expect(key).toHaveLength(32);
  expect(await storeOn({ disk, seed: 3 }).key({ make: true })).toEqual(key);
  const lease = await store.lock({ timeoutMs: 0 });
  await lease.append(record("a"));
  await lease.publish();
  await lease.release();
  expect(disk.text(`${FOLDER}/state.json`)).not.toContain(disk.text(`${FOLDER}/key`).trim());
  disk.names.delete(`${FOLDER}/key`);
  expect(await rejectedCode(storeOn({ disk }).key({ make: true }))).toBe("STATE_KEY");
  expect(
    await rejectedCode(storeOn({ disk, keyText: "some other key that is long" }).key({ make: true })),
  ).toBe("STATE_KEY");
});

test("a key from the environment needs no file, and a short one is refused", async () => {
  const disk = new Disk();
  const text = "correct horse battery staple";
  const key = await storeOn({ disk, keyText: text }).key({ make: true });
  expect(await storeOn({ disk, keyText: text, seed: 2 }).key({ make: false })).toEqual(key);
  expect(disk.names.size).toBe(0);
  expect(await rejectedCode(storeOn({ disk, keyText: "short" }).key({ make: false }))).toBe("STATE_KEY");
});

test("looking without a key makes none", async () => {
  const disk = new Disk();
  expect(await storeOn({ disk }).key({ make: false })).toHaveLength(32);
  expect(disk.names.size).toBe(0);
});

test("ten thousand records are written and loaded", async () => {
  const disk = new Disk();
  const lease = await storeOn({ disk }).lock({ timeoutMs: 0 });
  for (let n = 0; n < 10_000; n++) lease.note(record(`p${n}`));
  await lease.publish();
  await lease.release();
  expect((await storeOn({ disk }).read()).state.records.size).toBe(10_000);
});

test("a lock that the disk has no room for leaves no file", async () => {
  const disk = new Disk();
  await written(disk);
  const there = [...disk.names.keys()].sort();
  const before = (operation: string, path: string): void => {
    if (operation === "sync" && path.includes("/lock.")) throw new Error("ENOSPC");
  };
  expect(await rejectedCode(storeOn({ disk, hooks: { before } }).lock({ timeoutMs: 0 }))).toBe("STATE_IO");
  expect([...disk.names.keys()].sort()).toEqual(there);
});

test("a run whose folder is deleted stops, and does not blame another run", async () => {
  const disk = new Disk();
  const lease = await storeOn({ disk }).lock({ timeoutMs: 0 });
  disk.names.clear();
  await expect(lease.append(record("a"))).rejects.toThrow(
    "the lock on the state was lost: its file was deleted",
  );
});

test("a journal that lost whole lines is reported to each run with the lock, until one writes", async () => {
  const disk = new Disk();
  await written(disk);
  const path = `${FOLDER}/journal.jsonl`;
  const lines = (disk.text(path) ?? "").split(/(?<=\n)/);
  disk.put(path, lines.slice(0, -1).join(""));
  const warned = [{ code: "STATE_CORRUPT", severity: "warning" }];
  for (const seed of [5, 6]) {
    const refused = await storeOn({ disk, seed }).lock({ timeoutMs: 0 });
    expect(refused.diagnostics).toMatchObject(warned);
    await refused.release();
    expect((await storeOn({ disk }).read()).diagnostics).toMatchObject(warned);
  }
  const lease = await storeOn({ disk, seed: 7 }).lock({ timeoutMs: 0 });
  await lease.append(record("d"));
  await lease.release();
  expect((await storeOn({ disk }).read()).diagnostics).toEqual([]);
});

test("rekey returns the warning about lines that the journal lost, which the new state no longer has", async () => {
  const disk = new Disk();
  await written(disk);
  const path = `${FOLDER}/journal.jsonl`;
  const lines = (disk.text(path) ?? "").split(/(?<=\n)/);
  disk.put(path, lines.slice(0, -1).join(""));
  const encrypted = storeOn({ disk, seed: 5, keyText: "a".repeat(64) });
  const { diagnostics } = await encrypted.rekey({ timeoutMs: 0 });
  expect(diagnostics).toMatchObject([{ code: "STATE_CORRUPT", severity: "warning" }]);
  expect((await encrypted.read()).diagnostics).toEqual([]);
});

test("if the disk stays full, the release does not report the failure that an entry reported", async () => {
  let full = false;
  const before = (operation: string): void => {
    if (full && operation === "write") throw new Error("ENOSPC: no space left on device");
  };
  const lease = await storeOn({ hooks: { before } }).lock({ timeoutMs: 0 });
  full = true;
  expect(await rejectedCode(lease.append(record("a")))).toBe("STATE_IO");
  await lease.release();
  full = false;
  const published = await storeOn({ hooks: { before }, seed: 3 }).lock({ timeoutMs: 0 });
  await published.append(record("c"));
  full = true;
  expect(await rejectedCode(published.publish())).toBe("STATE_IO");
  await published.release();
  full = false;
  const silent = await storeOn({ hooks: { before }, seed: 2 }).lock({ timeoutMs: 0 });
  silent.note(record("b"));
  full = true;
  expect(await rejectedCode(silent.release())).toBe("STATE_IO");
});
