import { expect, test } from "vitest";
import { type Address, remoteId } from "../../../src/core/address.ts";
import { digest } from "../../../src/core/digest.ts";
import { beginLine, entryLine, Journal } from "../../../src/state/format/journal.ts";
import type { JournalEntry } from "../../../src/state/model/record.ts";
import { thrownCode, thrownMessage } from "../../failures.ts";
import { intent, pastRun, ready } from "../build.ts";

function readJournal(...from: ConstructorParameters<typeof Journal>) {
  const journal = new Journal(...from);
  const entries = [...journal.entries()];
  const { begin, head, seq, dropped } = journal;
  return { begin, entries, head, seq, dropped };
}

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

const ACKNOWLEDGED = {
  address: "jobs.a" as Address,
  differences: ["d"],
  until: 9,
  reason: "load test",
  by: "ada",
  at: 7,
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

const MORE: readonly JournalEntry[] = [
  { type: "record", record: ready("jobs.a", { prevent_destroy: true, owns: ["tasks"] }) },
  { type: "intent", intent: intent("jobs.a", { action: "update" }) },
  { type: "intent", intent: intent("jobs.a", { action: "delete" }) },
  {
    type: "sweep",
    sweep: {
      token: "v",
      address: "jobs.a" as Address,
      until: 5,
      intent: { ...SWEPT, sent: 3, succeeded: 1, refused: 2 },
    },
  },
  { type: "reported", reported: [{ address: "jobs.a" as Address, differences: ["d"] }] },
  { type: "acknowledged", acknowledgement: { ...ACKNOWLEDGED, field: "size" } },
  { type: "acknowledged", acknowledgement: ACKNOWLEDGED },
  { type: "unacknowledged", address: "jobs.a" as Address, field: "size" },
  { type: "unacknowledged", address: "jobs.a" as Address },
  { type: "run", run: pastRun("1") },
  {
    type: "run",
    run: pastRun("2", {
      command: "destroy",
      target: "dev",
      commit: "c",
      run_url: "https://ci.test/1",
      ended_at: 9,
      caller: "bot",
      outcome: "failed",
      more: 3,
    }),
  },
  { type: "run", run: pastRun("3", { outcome: "interrupted" }) },
  { type: "run", run: pastRun("4", { outcome: "applied" }) },
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

test("a journal returns every entry, digit for digit", () => {
  const read = readJournal(journal([...ENTRIES, ...MORE]), "journal.jsonl");
  expect(read.entries.map((one) => one.entry)).toEqual([...ENTRIES, ...MORE]);
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
  const bytes = journal(ENTRIES.slice(0, 5));
  for (let at = 0; at < bytes.length; at++)
    for (const bit of [1, 32]) {
      const flipped = bytes.slice();
      flipped[at] = (flipped[at] ?? 0) ^ bit;
      expect([at, thrownCode(() => readJournal(flipped, "j"))]).toEqual([at, "STATE_CORRUPT"]);
    }
});

test("damage names the file and the byte", () => {
  const bytes = journal();
  const second = bytes.indexOf(10) + 1;
  bytes[second + 100] = 0;
  expect(() => readJournal(bytes, "journal.jsonl")).toThrow(`journal.jsonl is damaged at byte ${second}`);
});

test("cut off at any byte, only the unfinished last line is missing, and its bytes are counted", () => {
  const bytes = journal(ENTRIES.slice(0, 5));
  const ends = [...bytes.keys()].filter((at) => bytes[at] === 10).map((at) => at + 1);
  const [first = 0] = ends;
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.slice(0, length);
    if (length < first) {
      expect([length, thrownCode(() => readJournal(cut, "j"))]).toEqual([length, "STATE_CORRUPT"]);
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
  expect(thrownCode(() => readJournal(text([0, 1, 2, 3, 4]), "j"))).toBe("fine");
  for (const order of [
    [0, 2, 1, 3, 4],
    [0, 1, 1, 2, 3, 4],
    [0, 1, 3, 4],
    [1, 2, 3, 4],
    [0, 2, 3, 4],
    [0, 0, 1, 2, 3, 4],
  ])
    expect([order, thrownCode(() => readJournal(text(order), "j"))]).toEqual([order, "STATE_CORRUPT"]);
});

const BEGUN = { format_version: 2, lineage: "abc", serial: 0, state: "", fence: 1, seq: 0 };

test("a journal of a newer version has a different error than a damaged one", () => {
  const bytes = new TextEncoder().encode(beginLine({ ...BEGUN, format_version: 5 }).text);
  expect(thrownCode(() => readJournal(bytes, "j"))).toBe("STATE_FORMAT");
});

test("before its entries are read, a journal is at the entry before them", () => {
  const unread = new Journal(new TextEncoder().encode(`${beginLine({ ...BEGUN, seq: 4 }).text}`), "j");
  expect([unread.seq, unread.dropped]).toEqual([4, 0]);
});

test("an entry of an unknown type is damage, not something to pass over", () => {
  const entry = { type: "surprise" } as unknown as JournalEntry;
  expect(thrownCode(() => readJournal(journal([entry]), "j"))).toBe("STATE_CORRUPT");
});

/** Text and digests of a journal that no program wrote, line by line. */
function forged(bodies: readonly string[], state = ""): Uint8Array {
  let previous = state;
  const lines = bodies.map((body) => {
    previous = digest(`${previous}\n${body}`);
    return `{"hash":"${previous}",${body}`;
  });
  return new TextEncoder().encode(`${lines.join("\n")}\n`);
}

const BEGIN = '"begin":{"format_version":2,"lineage":"l","serial":1,"state":"","fence":3,"seq":4}}';
const BEGIN_BYTES = 75 + BEGIN.length + 1;

test("the text of a journal is the same in every version", () => {
  const begin = beginLine({ format_version: 2, lineage: "l", serial: 1, state: "ab", fence: 3, seq: 4 });
  const line = entryLine(begin.hash, { seq: 5, at: 6, entry: { type: "host", host: "h" } });
  expect([begin.text, line.text]).toEqual([
    '{"hash":"82c9f1c08c369213830675c6bb60f279afe695d5dfde5385a1b6c045de3bbefa","begin":{"format_version":2,"lineage":"l","serial":1,"state":"ab","fence":3,"seq":4}}\n',
    '{"hash":"4a4a8d2b58a601cdb7f135705f2d504b4649af6bf407cbae39a5ceda9b2da2ae","seq":5,"at":6,"entry":{"type":"host","host":"h"}}\n',
  ]);
  expect(readJournal(new TextEncoder().encode(begin.text + line.text), "j")).toEqual({
    begin: { format_version: 2, lineage: "l", serial: 1, state: "ab", fence: 3, seq: 4 },
    entries: [{ seq: 5, at: 6, entry: { type: "host", host: "h" } }],
    head: line.hash,
    seq: 5,
    dropped: 0,
  });
});

test.each<[string, Uint8Array, string]>([
  ["no line", new TextEncoder().encode('{"hash":"00'), "byte 0: its first line is not complete"],
  [
    "an empty first line",
    new TextEncoder().encode("\n{}\n"),
    "byte 0: a line does not start with its digest",
  ],
  ["a line that is not UTF-8", new Uint8Array([255, 10]), "byte 0: a line is not UTF-8 text"],
  [
    "a line with another beginning",
    new TextEncoder().encode(`{"sash":"${"0".repeat(64)}",}\n`),
    "byte 0: a line does not start with its digest",
  ],
  [
    "a line whose digest is not hexadecimal",
    new TextEncoder().encode(`{"hash":"${"g".repeat(64)}",}\n`),
    "byte 0: a line does not start with its digest",
  ],
  [
    "a line without members",
    new TextEncoder().encode(`{"hash":"${"0".repeat(64)}"}\n`),
    "byte 0: a line does not start with its digest",
  ],
  [
    "a line of another digest",
    new TextEncoder().encode(`{"hash":"${"0".repeat(64)}",}\n`),
    "byte 0: the digest of a line does not match",
  ],
  ["a first line without a beginning", forged(['"x":1}']), "byte 0: line.begin is not an object"],
  [
    "a first line without its format",
    forged(['"begin":{"lineage":"l"}}']),
    "byte 0: line.begin.format_version is not an integer",
  ],
  [
    "a first line without a serial",
    forged(['"begin":{"format_version":2,"lineage":"l"}}']),
    "byte 0: line.begin.serial is not an integer",
  ],
  ["a line that is not JSON", forged([BEGIN, "x}"]), `byte ${BEGIN_BYTES}: a line is not JSON`],
  [
    "a line that is nested too deeply",
    forged([BEGIN, `"x":${"[".repeat(9_999)}${"]".repeat(9_999)}}`]),
    `byte ${BEGIN_BYTES}: it is nested deeper than`,
  ],
  [
    "an entry of another number",
    forged([BEGIN, '"seq":6,"at":1,"entry":{"type":"host","host":"h"}}']),
    `byte ${BEGIN_BYTES}: expected entry 5, found entry 6`,
  ],
  [
    "a line without an entry",
    forged([BEGIN, '"seq":5,"at":1}']),
    `byte ${BEGIN_BYTES}: line.entry is not an object`,
  ],
  [
    "an entry of an unknown type",
    forged([BEGIN, '"seq":5,"at":1,"entry":{"type":"surprise"}}']),
    `byte ${BEGIN_BYTES}: an entry has the unknown type "surprise"`,
  ],
])("%s is damage of that kind", (_what, bytes, message) => {
  const expected = `j is damaged at ${message}`;
  expect(thrownMessage(() => readJournal(bytes, "j"))?.slice(0, expected.length)).toBe(expected);
});

test("a last line that lacks only its end counts, and one with another end is damage", () => {
  const whole = forged([BEGIN, '"seq":5,"at":1,"entry":{"type":"host","host":"h"}}']);
  expect(readJournal(whole.slice(0, -1), "j")).toMatchObject({ entries: [{ seq: 5 }], dropped: 0 });
  const other = whole.slice();
  other[other.length - 1] = 32;
  expect(() => readJournal(other, "j")).toThrow(
    `STATE_CORRUPT: j is damaged at byte ${whole.length - 1}: its last line ends unexpectedly`,
  );
});

test("each line is opened with the digest before it and its offset", () => {
  const calls: [length: number, previous: string, offset: number][] = [];
  const bytes = forged([BEGIN, '"seq":5,"at":1,"entry":{"type":"host","host":"h"}}'], "");
  const { head } = readJournal(bytes, "j", (line, previous, offset) => {
    calls.push([line.length, previous, offset]);
    return line;
  });
  const first = digest(`\n${BEGIN}`);
  expect(calls).toEqual([
    [BEGIN_BYTES - 1, "", 0],
    [bytes.length - BEGIN_BYTES - 1, first, BEGIN_BYTES],
  ]);
  expect(head).not.toBe(first);
});

test("a journal that is larger than any state is refused before it is read", () => {
  const huge = { length: 2 ** 40 } as Uint8Array;
  expect(() => readJournal(huge, "j")).toThrow(`STATE_CORRUPT: j has ${2 ** 40} bytes; the limit is`);
});
