// A process that stops at any operation on the place of a state, of every store: what the next process finds.

import { describe, expect, test } from "vitest";
import type { Lease, StateStore } from "../../src/state/model/store.ts";
import { CrashPoints } from "../engine/crash-points.ts";
import { rejectedCode } from "../failures.ts";
import { SAMPLE_STEP } from "../sample-size.ts";
import { BO } from "./build.ts";
import { names, publish, record, writeAndPublish } from "./contract.ts";
import type { Process, Shared, Step } from "./sharing.ts";

const NO_WAIT = { timeoutMs: 0 };
const HEX = "a".repeat(64);
const OTHER = `${"b".repeat(63)}c`;
/** Later processes know that the earlier one has ended. */
const HEIR: Process = { isCrashed: () => true };

interface Course {
  readonly title: string;
  readonly process?: Process;
  before(shared: Shared): Promise<void>;
  /** The work of the crashing process; it adds to `acknowledged` what was promised to it. */
  work(store: StateStore, acknowledged: string[]): Promise<void>;
  /** Undefined where everything is as it has to be. */
  after(shared: Shared, acknowledged: readonly string[]): Promise<string | undefined>;
}

const three = async (shared: Shared, process: Process = {}): Promise<void> => {
  for (const name of ["a", "b", "c"]) await publish(shared.store(process), name);
};

const goesOn = async (shared: Shared, process: Process): Promise<string | undefined> => {
  const before = await names(shared.store(process));
  await publish(shared.store({ ...HEIR, ...process }), "next");
  const after = await names(shared.store(process));
  return after.join() === [...before, "next"].sort().join() ? undefined : `after a further run: ${after}`;
};

const COURSES: readonly Course[] = [
  {
    title: "writing and publishing",
    before: (shared) => three(shared),
    work: writeAndPublish,
    async after(shared, acknowledged) {
      const found = await names(shared.store());
      const lost = ["a", "b", "c", ...acknowledged].filter((name) => !found.includes(name));
      return lost.length > 0 ? `lost ${lost}` : goesOn(shared, {});
    },
  },
  {
    title: "the very first run",
    before: async () => undefined,
    async work(store, acknowledged) {
      await store.key({ make: true });
      await publish(store, "x");
      acknowledged.push("x");
    },
    async after(shared, acknowledged) {
      const found = await names(shared.store());
      return acknowledged.every((name) => found.includes(name)) ? goesOn(shared, {}) : `found ${found}`;
    },
  },
  {
    title: "restoring a generation",
    before: (shared) => three(shared),
    work: async (store) => {
      await store.restore(1, NO_WAIT);
    },
    async after(shared) {
      const found = (await names(shared.store())).join();
      return found === "a" || found === "a,b,c" ? goesOn(shared, {}) : `found ${found}`;
    },
  },
  {
    title: "restoring a generation over a damaged state",
    async before(shared) {
      await three(shared);
      const [state] = await shared.parts();
      await shared.damage(state?.name ?? "", new TextEncoder().encode("damage"));
    },
    work: async (store) => {
      await store.restore(2, NO_WAIT);
    },
    async after(shared) {
      const code = await rejectedCode(shared.store().read());
      if (code === "STATE_CORRUPT") await shared.store(HEIR).restore(2, NO_WAIT);
      const found = (await names(shared.store())).join();
      return found === "a,b" ? goesOn(shared, {}) : `${code}, then ${found}`;
    },
  },
  {
    title: "putting a state from elsewhere in place",
    before: (shared) => three(shared),
    async work(store) {
      const { state } = await store.read();
      await store.replace(
        { state: { ...state, records: new Map() }, key: "", check: () => undefined },
        NO_WAIT,
      );
    },
    async after(shared) {
      const found = (await names(shared.store())).join();
      return found === "" || found === "a,b,c" ? goesOn(shared, {}) : `found ${found}`;
    },
  },
  {
    title: "changing the key",
    process: { keyText: OTHER, oldKeyText: HEX },
    before: (shared) => three(shared, { keyText: HEX }),
    work: async (store) => {
      await store.rekey(NO_WAIT);
    },
    async after(shared) {
      await shared.store({ ...HEIR, keyText: OTHER, oldKeyText: HEX }).rekey(NO_WAIT);
      const found = (await names(shared.store({ keyText: OTHER }))).join();
      return found === "a,b,c" ? goesOn(shared, { keyText: OTHER }) : `found ${found}`;
    },
  },
  {
    title: "ending encryption",
    process: { oldKeyText: HEX },
    async before(shared) {
      const store = shared.store({ keyText: HEX });
      await store.key({ make: true });
      await publish(store, "a");
      await publish(store, "b");
    },
    work: async (store) => {
      await store.rekey(NO_WAIT);
    },
    async after(shared) {
      await shared.store({ ...HEIR, oldKeyText: HEX }).rekey(NO_WAIT);
      const key = await shared.store().key({ make: false });
      const same = key.join() === (await keyOf(HEX)).join();
      const found = (await names(shared.store())).join();
      return found === "a,b" && same
        ? goesOn(shared, {})
        : `found ${found}, the key is ${same ? "" : "not "}the same`;
    },
  },
];

async function keyOf(text: string): Promise<Uint8Array> {
  const { keyFromText } = await import("../../src/state/format/encryption.ts");
  return keyFromText(text);
}

/** `open` returns a new location each time. */
export function crashContract(title: string, open: () => Promise<Shared>): void {
  describe(`${title}, a crash at any step of`, () => {
    for (const course of COURSES)
      test(`${course.title} loses no acknowledged write, and the next run continues`, {
        timeout: 120_000,
      }, async () => {
        const calm = await open();
        await course.before(calm);
        const counted = new CrashPoints<string>();
        await course.work(calm.store({ ...course.process, step: (what) => counted.pass(what) }), []);
        await calm.close();
        const failures: string[] = [];
        for (let at = 0; at < counted.passed.length; at += SAMPLE_STEP) {
          const shared = await open();
          await course.before(shared);
          const end = new CrashPoints<string>(at);
          const acknowledged: string[] = [];
          await Promise.race([
            course.work(shared.store({ ...course.process, step: (what) => end.pass(what) }), acknowledged),
            end.stopped,
          ]);
          const wrong = await course.after(shared, acknowledged).catch((failure: unknown) => String(failure));
          if (wrong !== undefined) failures.push(`${at} ${counted.passed[at]}: ${wrong}`);
          await shared.close();
        }
        expect(counted.passed.length).toBeGreaterThan(5);
        expect(failures).toEqual([]);
      });
  });
}

interface Takeover {
  readonly step: Step;
  readonly passed: readonly string[];
  /** Holds the lock from then on. */
  heir(): Lease | undefined;
}

/** At operation `at` of one process, another one acquires the lock and writes; then the first continues. */
function takeover(shared: Shared, at: number): Takeover {
  const passed: string[] = [];
  let heir: Lease | undefined;
  const step: Step = (what) => {
    passed.push(what);
    if (passed.length - 1 !== at) return undefined;
    return (async () => {
      heir = await shared.store({ ...HEIR, owner: BO }).lock(NO_WAIT);
      await heir.append(record("heirs"));
    })();
  };
  return { step, passed, heir: () => heir };
}

/**
 * A lock that is acquired at the worst moment: the new holder's state is what it wrote, whatever the other process
 * still does.
 */
export function takeoverContract(title: string, open: () => Promise<Shared>): void {
  test(`${title}: after a lock change at any step of a run, only the new holder's writes count`, {
    timeout: 120_000,
  }, async () => {
    const work = async (store: StateStore): Promise<void> => {
      const lease = await store.lock(NO_WAIT);
      await lease.append(record("x"));
      lease.note(record("y"));
      await lease.publish();
      await lease.append(record("z"));
      await lease.publish();
      await lease.release();
    };
    const wrong: string[] = [];
    for (let at = 0; ; at += SAMPLE_STEP) {
      const shared = await open();
      await three(shared);
      const over = takeover(shared, at);
      const code = await rejectedCode(work(shared.store({ step: over.step })));
      const heir = over.heir();
      if (heir === undefined) {
        await shared.close();
        break;
      }
      const where = `${at} ${over.passed[at]} (${code})`;
      const known = [...heir.state().records.keys()].map((address) => address.slice("pools.".length)).sort();
      try {
        const state = await heir.publish();
        await heir.release();
        const found = await names(shared.store());
        if (found.join() !== known.join()) wrong.push(`${where}: ${found} and not ${known}`);
        const next = await publish(shared.store(), "next");
        if (next.serial !== state.serial + 1)
          wrong.push(`${where}: serial ${next.serial} after ${state.serial}`);
      } catch (failure) {
        wrong.push(`${where}: ${String(failure)}`);
      }
      await shared.close();
    }
    expect(wrong).toEqual([]);
  });
}
