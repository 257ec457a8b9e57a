import { expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import { Failure } from "../../../src/core/diagnostic.ts";
import { beginLine, entryLine, readJournal } from "../../../src/state/format/journal.ts";
import type { JournalEntry } from "../../../src/state/model/journal-entry.ts";
import { intent, ready } from "../build.ts";

const UNFINISHED = {
  address: "jobs.a" as Address,
  id: remoteId(1),
  name: "a",
  applied: {},
  depends_on: ["pools.shared" as Address],
};
const SWEPT = {
  ...intent("jobs.a", { id: remoteId(3), replaces: remoteId(2) }),
  seq: 9,
  at: 8,
  made: remoteId(4),
};

const ENTRIES: readonly JournalEntry[] = [
  { type: "host", host: "https://wörkspace.test" },
  {
    type: "intent",
    intent: intent("pools.shared", { wanted: { big: 12345678901234567890n, text: "a\n\u2028" } }),
  },
  { type: "answer", intent: 2, result: "succeeded" },
  { type: "done", intent: 2, record: ready("pools.shared") },
  { type: "request", intent: 2, operation: "things/edit" },
  { type: "answer", intent: 2, result: "refused" },
  { type: "created", intent: 2, id: remoteId(7) },
  { type: "done", intent: 2, gone: { address: "pools.shared" as Address, id: remoteId("x") } },
  { type: "closed", intent: 2 },
  { type: "record", record: { ...ready("jobs.a"), deposed: [remoteId("old")] } },
  { type: "record", record: { ...UNFINISHED, status: "creating", token: "t" } },
  { type: "record", record: { ...UNFINISHED, status: "deleting" } },
  { type: "gone", gone: { address: "pools.shared" as Address } },
  { type: "moved", from: "pools.a" as Address, to: "pools.b" as Address },
  { type: "sweep", sweep: { token: "t", address: "jobs.a" as Address, until: 5, intent: SWEPT } },
  { type: "sweep", sweep: { token: "u", address: "jobs.a" as Address, until: 5 } },
  { type: "swept", token: "t" },
  { type: "caller", name: "ada", credential: "c" },
  { type: "nonce", nonce: "n" },
];

function journal(entries: readonly JournalEntry[] = ENTRIES, seq = 0): Uint8Array {
  const begin = { format_version: 1, lineage: "abc", serial: 3, state: "f".repeat(64), fence: 2, seq };
  let { text, hash } = beginLine(begin);
  entries.forEach((entry, at) => {
    const line = entryLine(hash, { seq: seq + at + 1, at: 1000 + at, entry });
    text += line.text;
    hash = line.hash;
  });
  return new TextEncoder().encode(text);
}

function code(read: () => unknown): string {
  try {
    read();
    return "fine";
  } catch (failure) {
    return failure instanceof Failure ? (failure.diagnostics[0]?.code ?? "") : String(failure);
  }
}

test("a journal returns every entry, digit for digit", () => {
  const read = readJournal(journal(), "journal.jsonl");
  expect(read.entries.map((one) => one.entry)).toEqual(ENTRIES);
  expect(read.dropped).toBe(0);
});

test("each line is separate JSON", () => {
  const lines = new TextDecoder().decode(journal()).trimEnd().split("\n");
  expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([
    ["hash", "begin"],
    ...ENTRIES.map(() => ["hash", "seq", "at", "entry"]),
  ]);
});

test("a flipped bit in any byte is reported as damage, or has no effect", () => {
  const bytes = journal();
  for (let at = 0; at < bytes.length; at++)
    for (const bit of [1, 32]) {
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] ?? 0) ^ bit;
      expect([at, code(() => readJournal(flipped, "j"))]).toEqual([at, "STATE_CORRUPT"]);
    }
});

test("damage names the file and the byte", () => {
  const bytes = journal();
  const second = bytes.indexOf(10) + 1;
  bytes[second + 100] = 0;
  expect(() => readJournal(bytes, "journal.jsonl")).toThrow(`journal.jsonl is damaged at byte ${second}`);
});

test("cut off at any byte, only the unfinished last line is missing, and its bytes are counted", () => {
  const bytes = journal();
  const ends = [...bytes.keys()].filter((at) => bytes[at] === 10).map((at) => at + 1);
  const [first = 0] = ends;
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.slice(0, length);
    if (length < first) {
      expect([length, code(() => readJournal(cut, "j"))]).toEqual([length, "STATE_CORRUPT"]);
      continue;
    }
    const read = readJournal(cut, "j");
    const whole = ends.filter((end) => end <= length + 1);
    expect([length, read.entries.length]).toEqual([length, whole.length - 1]);
    const end = Math.min(whole.at(-1) ?? 0, length);
    expect([length, read.dropped]).toEqual([length, length - end]);
  }
});

test("lines that are swapped, repeated or left out are damage", () => {
  const lines = new TextDecoder()
    .decode(journal(ENTRIES.slice(0, 4)))
    .trimEnd()
    .split("\n");
  const text = (order: readonly number[]): Uint8Array =>
    new TextEncoder().encode(order.map((at) => `${lines[at]}\n`).join(""));
  expect(code(() => readJournal(text([0, 1, 2, 3, 4]), "j"))).toBe("fine");
  for (const order of [
    [0, 2, 1, 3, 4],
    [0, 1, 1, 2, 3, 4],
    [0, 1, 3, 4],
    [1, 2, 3, 4],
    [0, 2, 3, 4],
    [0, 0, 1, 2, 3, 4],
  ])
    expect([order, code(() => readJournal(text(order), "j"))]).toEqual([order, "STATE_CORRUPT"]);
});

test("a journal of a newer version has a different error than a damaged one", () => {
  const begin = { format_version: 3, lineage: "abc", serial: 0, state: "", fence: 1, seq: 0 };
  const bytes = new TextEncoder().encode(beginLine(begin).text);
  expect(code(() => readJournal(bytes, "j"))).toBe("STATE_FORMAT");
});

test("an entry of an unknown type is damage, not something to pass over", () => {
  const entry = { type: "surprise" } as unknown as JournalEntry;
  expect(code(() => readJournal(journal([entry]), "j"))).toBe("STATE_CORRUPT");
});
