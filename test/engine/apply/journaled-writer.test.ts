import { expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { Refused, UnknownOutcome } from "../../../src/core/request-failure.ts";
import { JournaledWriter } from "../../../src/engine/apply/journaled-writer.ts";
import type { Lease } from "../../../src/state/model/store.ts";
import { intent, ready, storeOn } from "../../state/build.ts";
import { VirtualClock } from "../../state/virtual-clock.ts";

async function setting(answers: readonly (JsonObject | Error)[]) {
  const lease: Lease = await storeOn().lock({ timeoutMs: 0 });
  const log: string[] = [];
  const left = [...answers];
  const writer = {
    read: async () => ({}),
    write: async (operation: string) => {
      log.push(`${operation} with ${lease.state().open.length} open`);
      const answer = left.shift() ?? {};
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  const waiting = {
    clock: new VirtualClock(0),
    signal: undefined,
    onWait: () => undefined,
    pause: (sleep: () => Promise<void>) => sleep(),
    mayBegin: () => undefined,
    assertNew: (id: string) => {
      if (id === "") throw lost;
    },
  };
  const { operation: _, ...wanted } = intent("jobs.a");
  return { lease, log, journal: new JournaledWriter(writer, lease, wanted, waiting) };
}

const refused = new Refused(400, "NO", error("API_REFUSED", "no"));
const lost = new UnknownOutcome(error("API_UNKNOWN_OUTCOME", "gone"));

test("a change that sends nothing leaves nothing behind", async () => {
  const { lease, journal } = await setting([]);
  await journal.close();
  expect([lease.state().open, journal.account]).toEqual([[], { open: 0, succeeded: 0, begun: false }]);
});

test("the intent is there before the first request, and each request is counted with its answer", async () => {
  const { lease, log, journal } = await setting([{}, refused, lost]);
  await journal.write("jobs/create", {});
  await expect(journal.write("jobs/reset", {})).rejects.toBe(refused);
  await expect(journal.write("jobs/reset", {})).rejects.toBe(lost);
  expect(log[0]).toBe("jobs/create with 1 open");
  expect(journal.account).toEqual({ open: 1, succeeded: 1, begun: true });
  expect(lease.state().open).toMatchObject([{ operation: "jobs/reset", sent: 3, succeeded: 1, refused: 1 }]);
});

test("a request whose entry could not be written was not sent", async () => {
  const { lease, log, journal } = await setting([]);
  await journal.write("jobs/create", {});
  const full = new Error("no space left");
  lease.append = async () => {
    throw full;
  };
  await expect(journal.write("jobs/reset", {})).rejects.toBe(full);
  expect(log).toEqual(["jobs/create with 1 open"]);
  expect(journal.account).toEqual({ open: 0, succeeded: 1, begun: true });
});

test("requests that a kind sends at once share one intent", async () => {
  const { lease, journal } = await setting([]);
  await Promise.all([journal.write("jobs/create", {}), journal.write("jobs/reset", {})]);
  expect(lease.state().open).toMatchObject([{ sent: 2, succeeded: 2 }]);
});

test("an ID that is reported early is durable at once", async () => {
  const { lease, journal } = await setting([]);
  await journal.write("jobs/create", {});
  await journal.created(remoteId(7));
  expect(lease.record("jobs.a" as Address)).toMatchObject({ status: "creating", id: "7" });
  expect(journal.createdId).toBe("7");
});

test("a created object without an ID leaves the intent open, and its kind sends no further request", async () => {
  const { lease, journal } = await setting([]);
  await journal.write("jobs/create", {});
  await expect(journal.created(remoteId(""))).rejects.toThrow(UnknownOutcome);
  expect(lease.record("jobs.a" as Address)).toBeUndefined();
  expect(lease.state().open).toMatchObject([{ sent: 1, succeeded: 1 }]);
});

test("an id cannot be told before anything was sent", async () => {
  const { journal } = await setting([]);
  await expect(journal.created(remoteId(7))).rejects.toThrow("before any request");
});

test("done closes the intent and records the result, also where nothing had to be sent", async () => {
  const first = await setting([]);
  await first.journal.write("jobs/create", {});
  await first.journal.done({ record: ready("jobs.a") });
  expect([first.lease.state().open, first.lease.record("jobs.a" as Address)]).toEqual([[], ready("jobs.a")]);
  const second = await setting([]);
  await second.journal.done({ record: ready("jobs.a") });
  expect(second.lease.record("jobs.a" as Address)).toEqual(ready("jobs.a"));
});
