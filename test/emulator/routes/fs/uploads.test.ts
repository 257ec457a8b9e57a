import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { base64, bytes, refusal, refused, text } from "../../contents.ts";
import { startWorld, type TestWorld } from "../../harness.ts";

const MB = 1024 * 1024;
const MINUTE = 60_000;

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld();
});

const create = async (path: string, overwrite = false): Promise<number> =>
  (await w.post("fs/create", { path, overwrite })).body.handle;
const add = (handle: number | bigint, data: string | Uint8Array) =>
  w.post("fs/add-block", { handle, data: base64(data) });
const close = (handle: number | bigint) => w.post("fs/close", { handle });
const read = async (path: string) => text((await w.get("fs/read", { path })).body.data);
const missing = refused(404, "RESOURCE_DOES_NOT_EXIST");
const exists = refused(400, "RESOURCE_ALREADY_EXISTS");

test("A4.5 rule 1, create, add-block, close: the handle of create, add-block that appends and close that finishes write a file block by block", async () => {
  const created = await w.post("fs/create", { path: "/a/f" });
  expect(created).toMatchObject({ status: 200, body: { handle: expect.any(Number) } });
  const { handle } = created.body;
  for (const block of ["one ", "two ", "three"])
    expect(await add(handle, block)).toMatchObject({ status: 200, body: {} });
  expect(await close(handle)).toMatchObject({ status: 200, body: {} });
  expect(await read("/a/f")).toBe("one two three");
  expect((await w.get("fs/get-status", { path: "/a/f" })).body.file_size).toBe(13);
});

test("A4.5 rule 1: an upload without a block is an empty file", async () => {
  await close(await create("/f"));
  expect((await w.get("fs/get-status", { path: "/f" })).body.file_size).toBe(0);
});

test("A4.5 visibility: a file appears with close, not before", async () => {
  const handle = await create("/a/f");
  await add(handle, "x");
  expect(refusal(await w.get("fs/get-status", { path: "/a/f" }))).toEqual(missing);
  expect((await w.get("fs/list", { path: "/a" })).body).toEqual({});
  await w.advance(1000);
  await close(handle);
  expect((await w.get("fs/get-status", { path: "/a/f" })).body.modification_time).toBe(w.clock.now());
});

test("A4.5 visibility: with overwrite the old file can be read whole until close", async () => {
  await w.post("fs/put", { path: "/f", contents: base64("old") });
  const handle = await create("/f", true);
  await add(handle, "new and longer");
  expect(await read("/f")).toBe("old");
  await close(handle);
  expect(await read("/f")).toBe("new and longer");
  expect(Object.keys(w.store.dump().$blobs ?? {})).toHaveLength(1);
});

test("A4.5 rule 1: two uploads at once have handles and contents of their own", async () => {
  const [a, b] = [await create("/a"), await create("/b")];
  expect(a).not.toBe(b);
  await add(a, "a");
  await add(b, "b");
  await add(a, "a");
  await close(b);
  await close(a);
  expect([await read("/a"), await read("/b")]).toEqual(["aa", "b"]);
});

test.each([undefined, false])(
  "A4.5 rule 4: create with overwrite %s over a file or directory is refused",
  async (overwrite) => {
    await w.post("fs/put", { path: "/d/f", contents: "" });
    for (const path of ["/d/f", "/d", "/"])
      expect(
        refusal(await w.post("fs/create", { path, ...(overwrite === undefined ? {} : { overwrite }) })),
      ).toEqual(exists);
  },
);

test("A4.5 rule 4: a directory is never overwritten by an upload", async () => {
  await w.post("fs/mkdirs", { path: "/d" });
  expect(refusal(await w.post("fs/create", { path: "/d", overwrite: true }))).toEqual(exists);
});

test("A4.5 create: a path through a file is refused", async () => {
  await w.post("fs/put", { path: "/f", contents: "" });
  expect(refusal(await w.post("fs/create", { path: "/f/g" }))).toEqual(exists);
});

test("A4.5 rule 4: a file that came between create and close is not overwritten without leave", async () => {
  const [first, second] = [await create("/f"), await create("/f")];
  await add(first, "first");
  await add(second, "second");
  expect((await close(first)).status).toBe(200);
  expect(refusal(await close(second))).toEqual(exists);
  expect(await read("/f")).toBe("first");
});

test("A4.5 close: a directory that came between create and close is not overwritten", async () => {
  const handle = await create("/f", true);
  await w.post("fs/mkdirs", { path: "/f" });
  expect(refusal(await close(handle))).toEqual(exists);
});

test("A4.5 parents: a parent that was deleted meanwhile is made again", async () => {
  const handle = await create("/a/f");
  await w.post("fs/delete", { path: "/a", recursive: true });
  expect((await close(handle)).status).toBe(200);
  expect(await read("/a/f")).toBe("");
});

test.each([0, -1, 99, 9223372036854775807n])(
  "A4.5 rule 3: the unknown handle %s is refused",
  async (handle) => {
    const added = await add(handle, "x");
    expect(refusal(added)).toEqual(missing);
    expect(added.body.message).toBe(`No such stream with handle: ${handle}.`);
    expect(refusal(await close(handle))).toEqual(missing);
  },
);

test("A4.5 rule 3: a closed handle is unknown", async () => {
  const handle = await create("/f");
  await close(handle);
  expect(refusal(await add(handle, "x"))).toEqual(missing);
  expect(refusal(await close(handle))).toEqual(missing);
});

test("A4.5 rule 3, A8 limit: a block of exactly 1 MB is taken, one byte more is refused and appends nothing", async () => {
  const handle = await create("/f");
  expect((await add(handle, new Uint8Array(MB))).status).toBe(200);
  const answer = await add(handle, new Uint8Array(MB + 1));
  expect(refusal(answer)).toEqual(refused(400, "MAX_BLOCK_SIZE_EXCEEDED"));
  expect(answer.body.message).toBe("The 'data' data cannot exceed 1048576 bytes. Found: 1048577 bytes.");
  await close(handle);
  expect((await w.get("fs/get-status", { path: "/f" })).body.file_size).toBe(MB);
});

test("A4.5 rule 1, A8 limit, A3 expired handle: a handle that is idle for 10 minutes expires, and what it held goes", async () => {
  const handle = await create("/f");
  await add(handle, "x");
  await w.advance(10 * MINUTE);
  expect(refusal(await add(handle, "x"))).toEqual(missing);
  expect(refusal(await close(handle))).toEqual(missing);
  expect(refusal(await w.get("fs/get-status", { path: "/f" }))).toEqual(missing);
  expect(w.store.dump().$blobs).toBeUndefined();
  expect(w.store.dump()["files.uploads"]).toBeUndefined();
});

test("A4.5 rule 1: each block restarts the 10 minutes", async () => {
  const handle = await create("/f");
  for (let i = 0; i < 5; i++) {
    await w.advance(10 * MINUTE - 1);
    expect((await add(handle, "x")).status).toBe(200);
  }
  await w.advance(10 * MINUTE - 1);
  expect((await close(handle)).status).toBe(200);
  expect(await read("/f")).toBe("xxxxx");
});

test("an open upload and its timeout survive a restart", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "workspace-uploads-"));
  const restart = async () => {
    const now = w.clock.now();
    w.close();
    w = await startWorld({ dataDir, now });
  };
  try {
    w = await startWorld({ dataDir });
    const [kept, idle] = [await create("/kept"), await create("/idle")];
    await add(kept, "before ");
    await w.advance(6 * MINUTE);
    await restart();
    await add(kept, "after");
    await w.advance(4 * MINUTE);
    await restart();
    expect(refusal(await close(idle))).toEqual(missing);
    expect((await close(kept)).status).toBe(200);
    expect(await read("/kept")).toBe("before after");
    w.close();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});

test("a file of many blocks is one file of the data folder and is read back by ranges", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "workspace-large-"));
  try {
    w = await startWorld({ dataDir });
    const handle = await create("/large");
    const sent = createHash("sha256");
    for (let i = 0; i < 24; i++) {
      const block = new Uint8Array(MB - i).fill(i);
      sent.update(block);
      await add(handle, block);
    }
    await close(handle);
    const size = (await w.get("fs/get-status", { path: "/large" })).body.file_size;
    const files = readdirSync(join(dataDir, "blobs"));
    expect(files.map((name) => statSync(join(dataDir, "blobs", name)).size)).toEqual([size]);
    const received = createHash("sha256");
    for (let offset = 0; offset < size; offset += MB) {
      const { body } = await w.get("fs/read", { path: "/large", offset, length: MB });
      received.update(bytes(body.data));
    }
    expect(received.digest("hex")).toBe(sent.digest("hex"));
    await w.post("fs/delete", { path: "/large" });
    expect(readdirSync(join(dataDir, "blobs"))).toEqual([]);
    w.close();
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
