// A migration that crashes at any step: never two locations that continue, and the same command finishes it.

import { afterAll, describe, expect, test } from "vitest";
import { migrate } from "../../../src/state/store/migrate.ts";
import { rejectedCode } from "../../failures.ts";
import { SAMPLE_STEP } from "../../sample-size.ts";
import { startPostgres } from "../backends/postgres/server.ts";
import { BO, ready } from "../build.ts";
import { names, publish } from "../contract.ts";
import { inWorkspace, onDisk, onPostgres, type Process, type Shared, type Step } from "../sharing.ts";

const server = startPostgres();
afterAll(() => server?.stop());

const NO_WAIT = { timeoutMs: 0 };
const HEIR: Process = { isCrashed: () => true, owner: BO };
/** Another random source, so that a first state at the new location gets a different lineage. */
const OTHER = 77;
const anything = (): void => undefined;
const inPostgres = () => onPostgres(server);

/** Whether a run continues from the state at that location. */
async function goesOn(shared: Shared, lineage: string): Promise<boolean> {
  try {
    const lease = await shared.store({ ...HEIR, seed: OTHER + 1 }).lock(NO_WAIT);
    await lease.release();
    return lease.state().lineage === lineage && lease.state().records.size > 0;
  } catch {
    return false;
  }
}

interface Places {
  readonly from: Shared;
  readonly to: Shared;
  readonly lineage: string;
}

async function opened(open: () => Promise<Shared>, other: () => Promise<Shared>): Promise<Places> {
  const [from, to] = [await open(), await other()];
  for (const name of ["a", "b", "c"]) await publish(from.store(), name);
  const { state } = await from.store().read();
  return { from, to, lineage: state.lineage };
}

/** Crashes at the `at`-th operation on either location; returns whether it got there. */
async function dying({ from, to }: Places, at: number): Promise<boolean> {
  let passed = 0;
  let dead = false;
  let die = (): void => {};
  const died = new Promise<void>((resolve) => {
    die = resolve;
  });
  const step: Step = () => {
    passed += 1;
    if (!dead && passed <= at) return undefined;
    dead = true;
    die();
    return new Promise(() => {});
  };
  const move = migrate(from.store({ step }), to.store({ step, seed: OTHER }), anything, NO_WAIT);
  await Promise.race([move.then(anything), died]);
  return dead;
}

const again = ({ from, to }: Places) =>
  migrate(from.store(HEIR), to.store({ ...HEIR, seed: OTHER }), anything, NO_WAIT);

const PAIRS = [
  ["from a folder into the workspace", onDisk, inWorkspace, true],
  ["from the workspace into a folder", inWorkspace, onDisk, true],
  ["from PostgreSQL into a folder", inPostgres, onDisk, server !== undefined],
  ["from the workspace into PostgreSQL", inWorkspace, inPostgres, server !== undefined],
] as const;

for (const [title, open, other, possible] of PAIRS)
  describe.skipIf(!possible)(title, () => {
    test("the state is at its new place alone", async () => {
      const places = await opened(open, other);
      const { from, to, lineage } = places;
      expect((await again(places))?.records.size).toBe(3);
      expect(await names(to.store())).toEqual(["a", "b", "c"]);
      expect(await rejectedCode(from.store().lock(NO_WAIT))).toBe("STATE_MOVED");
      expect(await goesOn(to, lineage)).toBe(true);
      expect(await again(places)).toBeUndefined();
    });

    test("killed at any step: only one location continues, and the same command finishes the move", {
      timeout: 120_000,
    }, async () => {
      const wrong: string[] = [];
      for (let at = 0; ; at += SAMPLE_STEP) {
        const places = await opened(open, other);
        const { from, to, lineage } = places;
        if (!(await dying(places, at))) break;
        const went = [await goesOn(from, lineage), await goesOn(to, lineage)];
        if (went.every((one) => one)) wrong.push(`${at}: both go on`);
        const ended = await rejectedCode(again(places));
        const now = [await goesOn(from, lineage), await goesOn(to, lineage)];
        if (ended !== "fine" || now.join() !== "false,true") wrong.push(`${at}: ${ended}, then ${now}`);
        else if ((await names(to.store())).join() !== "a,b,c") wrong.push(`${at}: not the same state`);
        await Promise.all([from.close(), to.close()]);
      }
      expect(wrong.join("\n")).toBe("");
    });

    test("killed at any step and gone on from at the new place, nothing of that is lost", {
      timeout: 120_000,
    }, async () => {
      const wrong: string[] = [];
      let arrived = 0;
      for (let at = 0; ; at += SAMPLE_STEP) {
        const places = await opened(open, other);
        const { from, to, lineage } = places;
        if (!(await dying(places, at))) break;
        if (await goesOn(to, lineage)) {
          arrived += 1;
          await publish(to.store(HEIR), "later");
          const ended = await rejectedCode(again(places));
          const found = (await names(to.store())).join();
          if (ended !== "fine" || found !== "a,b,c,later") wrong.push(`${at}: ${ended}, ${found}`);
          if (await goesOn(from, lineage)) wrong.push(`${at}: the old place goes on`);
        }
        await Promise.all([from.close(), to.close()]);
      }
      expect([arrived > 0, wrong]).toEqual([true, []]);
    });

    test("records that an interrupted run added out of order arrive", async () => {
      const places = await opened(open, other);
      const lease = await places.from.store().lock(NO_WAIT);
      await lease.append({ type: "record", record: ready("pools.Z") });
      await lease.append({ type: "record", record: ready("pools.A") });
      await lease.release();
      expect((await again(places))?.records.size).toBe(5);
    });

    test("a new place that refuses leaves the state where it is", async () => {
      const places = await opened(open, other);
      const held = await places.to.store().lock(NO_WAIT);
      const move = migrate(places.from.store(), places.to.store({ owner: BO }), anything, NO_WAIT);
      expect(await rejectedCode(move)).toBe("STATE_LOCKED");
      await held.release();
      await publish(places.from.store(), "d");
      expect(await names(places.from.store())).toEqual(["a", "b", "c", "d"]);
    });

    test("killed at any step on the way back to the place that it left, the same command finishes it", {
      timeout: 120_000,
    }, async () => {
      const wrong: string[] = [];
      for (let at = 0; ; at += SAMPLE_STEP) {
        const { from, to, lineage } = await opened(open, other);
        await again({ from, to, lineage });
        const back = { from: to, to: from, lineage };
        if (!(await dying(back, at))) break;
        const code = await rejectedCode(again(back));
        const there = code === "fine" ? await names(from.store(HEIR)) : [];
        if (there.join() !== "a,b,c") wrong.push(`${at} ${code}: ${there}`);
      }
      expect(wrong).toEqual([]);
    });

    test("an unfinished move is completed where the new place still has an earlier version of the state", async () => {
      const places = await opened(open, other);
      const { from, to } = places;
      const { state } = await from.store().read();
      const earlier = { state: { ...state, records: new Map() }, key: "", check: anything };
      await to.store({ seed: OTHER }).replace(earlier, NO_WAIT);
      const { serial } = (await to.store().read()).state;
      const lease = await from.store().lock(NO_WAIT);
      await lease.retire(to.store().location, serial);
      await lease.release();
      expect((await again(places))?.records.size).toBe(3);
      expect(await names(to.store())).toEqual(["a", "b", "c"]);
    });

    test("an unfinished move to a place that was left for a third one is completed", async () => {
      const { from, to, lineage } = await opened(open, other);
      const third = await onDisk();
      const back = (source: Shared, target: Shared) => again({ from: source, to: target, lineage });
      await back(from, to);
      await back(to, third);
      await back(third, from);
      const { serial } = (await to.store().read({ evenIfMoved: true })).state;
      const lease = await from.store().lock(NO_WAIT);
      await lease.retire(to.store().location, serial + 9);
      await lease.release();
      expect((await again({ from, to, lineage }))?.records.size).toBe(3);
      expect(await goesOn(to, lineage)).toBe(true);
      await third.close();
    });

    test("an unfinished move says how to finish it, and can be canceled", async () => {
      const places = await opened(open, other);
      const lease = await places.from.store().lock(NO_WAIT);
      await lease.retire("elsewhere", 3);
      await lease.release();
      await expect(places.from.store().lock(NO_WAIT)).rejects.toMatchObject({
        diagnostics: [{ code: "STATE_MOVED", hint: expect.stringContaining("state migrate` again") }],
      });
      const [newest] = await places.from.store().generations();
      await places.from.store().restore(newest?.serial ?? 0, NO_WAIT);
      await publish(places.from.store(), "d");
      expect(await names(places.from.store())).toEqual(["a", "b", "c", "d"]);
    });
  });
