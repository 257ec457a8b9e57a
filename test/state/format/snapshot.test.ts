import { expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import { digest } from "../../../src/core/digest.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import {
  readSnapshot,
  type SnapshotContent,
  snapshotText as snapshotPieces,
} from "../../../src/state/format/snapshot.ts";
import type { State, StateRecord } from "../../../src/state/model/record.ts";
import { thrownCode, thrownMessage } from "../../failures.ts";
import { ACKNOWLEDGED, intent, pastRun, ready } from "../build.ts";

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
  acknowledged: [ACKNOWLEDGED],
  history: [pastRun("1"), pastRun("2", { ended_at: 9, outcome: "applied", caller: "bot", more: 3 })],
};
const REST = { seq: 9, folded: "e".repeat(64), key: "k" };

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function snapshotText(from: SnapshotContent) {
  const { text, digest } = snapshotPieces(from);
  return { text: [...text].join(""), digest };
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
    expect([
      at,
      ["STATE_CORRUPT", "STATE_FORMAT"].includes(thrownCode(() => readSnapshot(flipped, "s"))),
    ]).toEqual([at, true]);
    expect([at, thrownCode(() => readSnapshot(whole.slice(0, at), "s"))]).toEqual([at, "STATE_CORRUPT"]);
  }
});

test("a state of a newer version has a different error than a damaged one", () => {
  const { text } = snapshotText({ state: STATE, ...REST });
  expect(
    thrownCode(() => readSnapshot(bytes(text.replace('"format_version":4', '"format_version":5')), "s")),
  ).toBe("STATE_FORMAT");
});

test("keys that mean something to JavaScript are only keys", () => {
  const applied = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
  const state = { ...STATE, records: new Map([["a.b" as Address, ready("a.b", { applied })]]) };
  const read = readSnapshot(bytes(snapshotText({ state, ...REST }).text), "s");
  expect(JSON.stringify(read.state.records.get("a.b" as Address)?.applied)).toBe(JSON.stringify(applied));
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

/** A file that no program wrote, under its digest. */
function forged(body: string): Uint8Array {
  return bytes(`{"format_version":4,"digest":"${digest(`4\n${body}`)}",\n${body}`);
}

const HEAD =
  '"lineage":"l","serial":1,"host":"","seq":2,"folded":"","key":"","caller":null,"nonces":[],"open":[],"sweeps":[],';

test("the bytes of a state are the same in every version", () => {
  const state = { ...emptyState("l"), serial: 1, records: new Map([["a.b" as Address, ready("a.b")]]) };
  expect(snapshotText({ state, seq: 2, folded: "", key: "" })).toEqual({
    digest: "5bd1e36359ffc037dce12e50aafd36b2184b15cdafac1472e9c737fbc0bef5ee",
    text: `{"format_version":4,"digest":"5bd1e36359ffc037dce12e50aafd36b2184b15cdafac1472e9c737fbc0bef5ee",
${HEAD.replace(/,$/, "")},
"records":[
{"status":"ready","address":"a.b","id":"id-a.b","name":"b","applied":{"size":1},"depends_on":[],"seen":{}}
]}
`,
  });
});

test("a state that was migrated, with the key of its digests, is restored exactly", () => {
  const state = { ...STATE, moved: "postgres://elsewhere", movingAbove: 7 };
  const from = { state, ...REST, digestKey: "00" };
  const { text, digest: sum } = snapshotText(from);
  expect(readSnapshot(bytes(text), "s")).toStrictEqual({ ...from, digest: sum });
  expect(text).toContain('"digest_key":"00","moved":"postgres://elsewhere","moving_above":7,');
});

test("a state without optional members has none of them after it is read", () => {
  const from = { state: emptyState("l"), ...REST };
  const { text, digest: sum } = snapshotText(from);
  expect(readSnapshot(bytes(text), "s")).toStrictEqual({ ...from, digest: sum });
});

test("a state that is known by its digest is not decoded again", () => {
  const { text } = snapshotText({ state: STATE, ...REST });
  const known = readSnapshot(bytes(text), "s");
  expect(readSnapshot(bytes(text), "s", known)).toBe(known);
  const other = readSnapshot(bytes(snapshotText({ state: STATE, ...REST, seq: 10 }).text), "s");
  expect(readSnapshot(bytes(text), "s", other)).toEqual(known);
  const body = text.slice(text.indexOf("\n") + 1);
  const sum = digest(`1\n${body}`);
  const old = bytes(`{"format_version":1,"digest":"${sum}",\n${body}`);
  const same = { ...known, digest: sum };
  expect(readSnapshot(old, "s", same)).not.toBe(same);
});

test.each<[string, Uint8Array, string]>([
  ["no line", bytes(""), "byte 0: its first line is not the first line of a state"],
  ["another first line", bytes('{"a":1}\n'), "byte 0: its first line is not the first line of a state"],
  [
    "a first line after others",
    bytes(`x${new TextDecoder().decode(forged(`${HEAD}\n"records":[\n]}\n`))}`),
    "byte 0: its first line is not the first line of a state",
  ],
  ["a first line that is not UTF-8", new Uint8Array([255, 10]), "byte 0: it is not UTF-8 text"],
  [
    "another digest",
    bytes(`{"format_version":4,"digest":"${"0".repeat(64)}",\n`),
    "byte 97: checksum mismatch (97 bytes)",
  ],
  ["no records", forged(`${HEAD}\n`), `byte ${HEAD.length}: its records are not in the expected position`],
  ["nothing", forged(""), "byte 0: its records are not in the expected position"],
  ["a head that is not JSON", forged('"lineage":x,\n"records":[\n]}\n'), "byte 0: it is not JSON"],
  [
    "a record that is not JSON",
    forged(`${HEAD}\n"records":[\n{"address":x}\n]}\n`),
    "byte 0: it is not JSON",
  ],
  [
    "a record that is nested too deeply",
    forged(`${HEAD}\n"records":[\n{"a":${"[".repeat(9_999)}${"]".repeat(9_999)}}\n]}\n`),
    "byte 0: it is nested deeper than",
  ],
  [
    "a head without a member",
    forged('"lineage":"l",\n"records":[\n]}\n'),
    "byte 0: state.caller is not an object",
  ],
  [
    "a record of another shape",
    forged(`${HEAD}\n"records":[\n{"status":"ready","address":"a"}\n]}\n`),
    "byte 0: state.records[0].address is not an address",
  ],
  [
    "a second record of another shape",
    forged(`${HEAD}\n"records":[\n${JSON.stringify(ready("a.b"))},\n{"status":"ready","address":"a"}\n]}\n`),
    "byte 0: state.records[1].address is not an address",
  ],
])("a file with %s is damage of that kind", (_what, file, message) => {
  const expected = `s is damaged at ${message}`;
  expect(thrownMessage(() => readSnapshot(file, "s"))?.slice(0, expected.length)).toBe(expected);
});

test("a state that is larger than any state is refused before it is read", () => {
  expect(() => readSnapshot({ length: 2 ** 40 } as Uint8Array, "s")).toThrow(
    `has ${2 ** 40} bytes; the limit`,
  );
});

test("a file of many megabytes is read in pieces, and only on line ends", () => {
  const records = Array.from({ length: 1_500 }, (_, at) =>
    ready(`pools.${at}`, { applied: { text: `ü${"x".repeat(400)}` } }),
  ).map((record) => [record.address, record] as const);
  const state = { ...STATE, records: new Map(records) };
  const { text } = snapshotText({ state, ...REST });
  expect(text.length).toBeGreaterThan(2 * (1 << 18));
  expect(readSnapshot(bytes(text), "s").state.records.size).toBe(1_500);
  expect(readSnapshot(bytes(text), "s").state).toEqual(state);
});

test("a record that is larger than a piece is read whole", () => {
  const large = ready("pools.a", { applied: { text: "x".repeat(3 << 18) } });
  const state = { ...STATE, records: new Map([[large.address, large]]) };
  expect(readSnapshot(bytes(snapshotText({ state, ...REST }).text), "s").state.records.size).toBe(1);
});

test("neighbors with equal flat values share them, and others do not", () => {
  const one = { a: 1, b: "x" };
  const depends_on = ["pools.x" as Address];
  const written = [
    ready("a.a", { applied: one, depends_on, id: remoteId("a"), name: "a" }),
    ready("a.b", { applied: { ...one }, depends_on: [...depends_on] }),
    ready("a.c", { applied: { b: "x", a: 1 }, depends_on: [] }),
    ready("a.d", { applied: { b: "x", a: 1, c: 2 } }),
    ready("a.e", { applied: { b: "x", a: 2, c: 2 } }),
    ready("a.f", { applied: { b: "x", a: 2 } }),
    ready("a.g", { applied: { b: "x" } }),
  ];
  const state = { ...STATE, records: new Map(written.map((record) => [record.address, record])) };
  const { records } = readSnapshot(bytes(snapshotText({ state, ...REST }).text), "s").state;
  const read = [...records.values()];
  expect(read).toEqual(written);
  const keysOf = (records: readonly StateRecord[]) =>
    records.map(({ applied }) => Object.keys(applied).join());
  expect(keysOf(read)).toEqual(keysOf(written));
  expect(read.map(({ applied }, at) => applied === read[at - 1]?.applied)).toEqual([
    false,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
  expect(read[1]?.depends_on).toBe(read[0]?.depends_on);
});

test("the text is made in pieces of a quarter of a megabyte, and can be made twice", () => {
  const records = Array.from({ length: 7 }, (_, at) =>
    ready(`pools.${at}`, { applied: { text: "x".repeat(100_000) } }),
  ).map((record) => [record.address, record] as const);
  const { text } = snapshotPieces({ state: { ...STATE, records: new Map(records) }, ...REST });
  const pieces = [...text];
  expect(pieces.length).toBe(3);
  expect(
    pieces.slice(0, -1).every((piece) => piece.length >= 1 << 18 && piece.length < (1 << 18) + 101_000),
  ).toBe(true);
  expect([...text]).toEqual(pieces);
  expect([...snapshotPieces({ state: emptyState("l"), ...REST }).text]).toHaveLength(1);
});

test("a state without records has a line for them", () => {
  expect(snapshotText({ state: emptyState("l"), ...REST }).text).toMatch(/\n"records":\[\n\n\]\}\n$/);
});
