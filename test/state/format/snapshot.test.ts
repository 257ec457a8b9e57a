import { expect, test } from "vitest";
import type { Address } from "../../../src/core/address.ts";
import { remoteId } from "../../../src/core/address.ts";
import { Failure } from "../../../src/core/diagnostic.ts";
import { digest } from "../../../src/core/digest.ts";
import { readSnapshot, snapshotText } from "../../../src/state/format/snapshot.ts";
import type { State } from "../../../src/state/model/record.ts";
import { intent, pastRun, ready } from "../build.ts";

const STATE: State = {
  lineage: "abc",
  serial: 4,
  host: "https://w.test",
  records: new Map(
    [
      ready("pools.shared", {
        applied: { big: 12345678901234567890n, name: "ü\u2028" },
        deposed: [remoteId("x")],
      }),
      ready("users.ada@example.com", { seen: { displayName: "Ada" } }),
    ].map((record) => [record.address, record]),
  ),
  sweeps: [
    {
      token: "t",
      address: "jobs.a" as Address,
      until: 99,
      intent: { ...intent("jobs.a"), seq: 3, at: 5, sent: 1 },
    },
  ],
  open: [{ ...intent("jobs.b"), seq: 8, at: 6, sent: 2, succeeded: 1 }],
  nonces: ["n"],
  caller: { name: "ada", credential: "c" },
  reported: [{ address: "pools.shared" as Address, differences: ["d1"] }],
  acknowledged: [
    {
      address: "pools.shared" as Address,
      field: "max_capacity",
      differences: ["d1"],
      until: 99,
      reason: "load test",
      by: "ada",
      at: 7,
    },
  ],
  history: [pastRun("1"), pastRun("2", { ended_at: 9, outcome: "applied", caller: "bot", more: 3 })],
};
const REST = { seq: 9, folded: "e".repeat(64), key: "k" };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function code(read: () => unknown): string {
  try {
    read();
    return "fine";
  } catch (failure) {
    return failure instanceof Failure ? (failure.diagnostics[0]?.code ?? "") : String(failure);
  }
}

test("a state is restored exactly", () => {
  const { text, digest } = snapshotText({ state: STATE, ...REST });
  expect(readSnapshot(bytes(text), "state.json")).toEqual({ state: STATE, ...REST, digest });
});

test("a state of format 1 is read, and says nothing of drift", () => {
  const { reported: _, acknowledged: __, ...old } = STATE;
  const body = snapshotText({ state: old, ...REST })
    .text.split("\n")
    .slice(1)
    .join("\n");
  const text = `{"format_version":1,"digest":"${digest(`1\n${body}`)}",\n${body}`;
  expect(readSnapshot(bytes(text), "state.json").state).toEqual(old);
});

test("the file is JSON that people can read, one record a line, sorted by address", () => {
  const { text } = snapshotText({ state: STATE, ...REST });
  const parsed = JSON.parse(text);
  expect(parsed.records.map((one: { address: string }) => one.address)).toEqual([
    "pools.shared",
    "users.ada@example.com",
  ]);
  expect(text.split("\n").filter((line) => line.startsWith('{"status"'))).toHaveLength(2);
});

test("equal states give equal bytes, whatever the order of their records", () => {
  const reversed = { ...STATE, records: new Map([...STATE.records].reverse()) };
  expect(snapshotText({ state: reversed, ...REST })).toEqual(snapshotText({ state: STATE, ...REST }));
});

test("a flipped bit in any byte, or a cut at any byte, is reported", () => {
  const whole = bytes(snapshotText({ state: STATE, ...REST }).text);
  for (let at = 0; at < whole.length; at++) {
    const flipped = whole.slice();
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    expect([at, ["STATE_CORRUPT", "STATE_FORMAT"].includes(code(() => readSnapshot(flipped, "s")))]).toEqual([
      at,
      true,
    ]);
    expect([at, code(() => readSnapshot(whole.slice(0, at), "s"))]).toEqual([at, "STATE_CORRUPT"]);
  }
});

test("a state of a newer version has a different error than a damaged one", () => {
  const { text } = snapshotText({ state: STATE, ...REST });
  expect(code(() => readSnapshot(bytes(text.replace('"format_version":2', '"format_version":3')), "s"))).toBe(
    "STATE_FORMAT",
  );
});

test("keys that mean something to JavaScript are only keys", () => {
  const applied = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
  const state = { ...STATE, records: new Map([["a.b" as Address, ready("a.b", { applied })]]) };
  const read = readSnapshot(bytes(snapshotText({ state, ...REST }).text), "s");
  expect(JSON.stringify(read.state.records.get("a.b" as Address)?.applied)).toBe(JSON.stringify(applied));
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});
