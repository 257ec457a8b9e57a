// When the entries of a journal are written, and which of them share a write.

import { expect, test } from "vitest";
import { Cipher } from "../../../src/state/format/encryption.ts";
import { entryLine } from "../../../src/state/format/journal.ts";
import type { JournalSink, LockClaim } from "../../../src/state/model/backend.ts";
import type { NumberedEntry } from "../../../src/state/model/record.ts";
import { encryptedLine, JournalWriter } from "../../../src/state/store/lease.ts";

import { rejectedCode, thrownCode, thrownDiagnostics, thrownMessage } from "../../failures.ts";
import { ADA, counting } from "../build.ts";

/** Runs the callbacks in one turn of the event loop; everything that one of them starts continues before the next. */
async function inOneTurn(callbacks: readonly (() => Promise<unknown>)[]): Promise<void> {
  const inTurn = (callback: () => Promise<unknown>) =>
    new Promise((resolve, reject) => setImmediate(() => callback().then(resolve, reject)));
  await Promise.all(callbacks.map(inTurn));
}

const CLAIM: LockClaim = {
  fence: 1,
  nonce: "n",
  owner: ADA,
  taken_at: 0,
  renewed_at: 0,
  beat: 0,
  lease_ms: 1,
  request_ms: 1,
};

const entry = (seq: number): NumberedEntry => ({ seq, at: seq, entry: { type: "host", host: "h" } });

/** A journal on a sink that finishes or fails a write when the test says so, or at once. */
function journalOn({ held = false }: { readonly held?: boolean } = {}) {
  const writes: number[][] = [];
  const pending: { finish: () => void; fail: (cause: Error) => void }[] = [];
  let begun: () => void = () => undefined;
  let closed = 0;
  const sink: JournalSink = {
    write: (_, lines) =>
      new Promise((finish, fail) => {
        writes.push(lines.map((line) => JSON.parse(line).seq));
        pending.push({ finish, fail });
        if (!held) finish();
        begun();
      }),
    close: async () => {
      closed += 1;
    },
  };
  const writer = new JournalWriter(sink, "head", new Cipher({ random: counting() }), async () => CLAIM);
  return {
    writer,
    writes,
    pending,
    closed: () => closed,
    add: (seq: number) => writer.add(entry(seq)),
    /** Resolves when the sink gets its next write. */
    nextWrite: () => new Promise<void>((resolve) => (begun = resolve)),
  };
}

test("entries of several callbacks in one turn of the event loop share a write", async () => {
  const { writer, writes, add } = journalOn();
  const answer = (seq: number) => () => {
    add(seq);
    return writer.flush();
  };
  await inOneTurn([answer(1), answer(2), answer(3)]);
  expect(writes).toEqual([[1, 2, 3]]);
  await inOneTurn([answer(4)]);
  expect(writes).toEqual([[1, 2, 3], [4]]);
});

test("entries added during a write share the next one", async () => {
  const { writer, writes, pending, add, nextWrite } = journalOn({ held: true });
  const done: number[] = [];
  const append = (seq: number) => {
    add(seq);
    return writer.flush().then(() => done.push(seq));
  };
  const first = nextWrite();
  const all = [append(1)];
  await first;
  all.push(append(2));
  const second = nextWrite();
  await inOneTurn([async () => undefined]);
  all.push(append(3));
  expect([writes, done]).toEqual([[[1]], []]);
  pending[0]?.finish();
  await second;
  expect([writes, done]).toEqual([[[1], [2, 3]], [1]]);
  pending[1]?.finish();
  await Promise.all(all);
  expect(done).toEqual([1, 2, 3]);
});

test("a flush without entries makes no write", async () => {
  const { writer, writes } = journalOn();
  await writer.flush();
  expect(writes).toEqual([]);
});

test("the head is the digest of the last added line, also before it is written", async () => {
  const { writer, add } = journalOn();
  add(1);
  const { hash } = entryLine("head", entry(1));
  expect(writer.head).toBe(hash);
  await writer.flush();
  expect(writer.head).toBe(hash);
});

test("nothing is written or added after a write has failed", async () => {
  const { writer, writes, pending, add, nextWrite } = journalOn({ held: true });
  const begun = nextWrite();
  add(1);
  const failing = rejectedCode(writer.flush());
  await begun;
  add(2);
  const next = rejectedCode(writer.flush());
  pending[0]?.fail(new Error("the disk is full"));
  expect([await failing, await next, await rejectedCode(writer.flush())]).toEqual(Array(3).fill("STATE_IO"));
  expect(thrownMessage(() => add(3))).toBe("writing the journal failed");
  await writer.close();
  expect(thrownCode(() => add(4))).toBe("STATE_IO");
  expect(writes).toEqual([[1]]);
});

test("a journal is closed after its last write, and takes no entry then", async () => {
  const { writer, pending, add, nextWrite, closed } = journalOn({ held: true });
  const begun = nextWrite();
  add(1);
  const written = writer.flush();
  const closing = writer.close();
  await begun;
  expect(closed()).toBe(0);
  pending[0]?.finish();
  await Promise.all([written, closing]);
  expect(closed()).toBe(1);
  expect(thrownDiagnostics(() => add(2))).toMatchObject([
    { code: "STATE_LOCK_LOST", message: "the state lock was released" },
  ]);
});

test("an encrypted line ends like a plain one", () => {
  const plain = new Cipher({ random: counting() });
  const cipher = new Cipher({ keyText: "5".repeat(64), random: counting() });
  expect(encryptedLine(plain, "head", '{"seq":1}\n')).toBe('{"seq":1}\n');
  const line = encryptedLine(cipher, "head", '{"seq":1}\n');
  expect(line).toMatch(/^[^\n]*\n$/);
  const opened = cipher.decrypt("journal", "head", Buffer.from(line.slice(0, -1)), "journal");
  expect(Buffer.from(opened).toString()).toBe('{"seq":1}');
});
