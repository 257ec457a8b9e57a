import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openFileStore } from "../../../../src/state/backends/file/file-backend.ts";
import {
  isCrashedLocally,
  nodeClock,
  nodeFiles,
  nodeRandom,
  thisProcess,
} from "../../../../src/state/backends/file/node-ports.ts";
import { ready } from "../../build.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "workspace-state-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function put(path: string, text: string): Promise<void> {
  const file = await nodeFiles.open(path, "fresh");
  await file.write(bytes(text));
  await file.sync();
  await file.close();
}

test("a missing file is undefined or empty, and removing it succeeds", async () => {
  expect(await nodeFiles.read(join(folder, "none"))).toBeUndefined();
  expect(await nodeFiles.list(join(folder, "none"))).toEqual([]);
  await nodeFiles.remove(join(folder, "none"));
});

test("other failures are thrown: a folder is not a file, a file is not a folder", async () => {
  await put(join(folder, "file"), "x");
  await expect(nodeFiles.read(folder)).rejects.toThrow("is not a regular file");
  await expect(nodeFiles.list(join(folder, "file"))).rejects.toThrow("ENOTDIR");
});

test("appending continues at the end, a new file begins empty", async () => {
  const path = join(folder, "file");
  await put(path, "one");
  const more = await nodeFiles.open(path, "append");
  await more.write(bytes(" two"));
  await more.write(bytes(" three"));
  await more.sync();
  await more.close();
  expect(readFileSync(path, "utf8")).toBe("one two three");
  await put(path, "new");
  expect(readFileSync(path, "utf8")).toBe("new");
});

test("a name is given once", async () => {
  await put(join(folder, "a"), "first");
  await put(join(folder, "b"), "second");
  expect(await nodeFiles.link(join(folder, "a"), join(folder, "c"))).toBe(true);
  expect(await nodeFiles.link(join(folder, "b"), join(folder, "c"))).toBe(false);
  expect(readFileSync(join(folder, "c"), "utf8")).toBe("first");
});

test("files and folders of a state are private to their user", async () => {
  const inner = join(folder, "x", "default");
  const store = openFileStore({
    folder: inner,
    fs: nodeFiles,
    clock: nodeClock,
    random: nodeRandom,
    owner: thisProcess(),
  });
  await store.key({ make: true });
  const lease = await store.lock({ timeoutMs: 0 });
  await lease.append({ type: "record", record: ready("pools.a") });
  await lease.publish();
  await lease.release();
  expect((statSync(inner).mode & 0o777).toString(8)).toBe("700");
  for (const name of ["state.json", "journal.jsonl", "key", "lock.1"])
    expect([name, (statSync(join(inner, name)).mode & 0o777).toString(8)]).toEqual([name, "600"]);
});

test("a sleep ends early when its signal is given, and leaves no timer behind", async () => {
  const stop = new AbortController();
  const before = nodeClock.now();
  const sleeping = nodeClock.sleep(60_000, stop.signal);
  stop.abort();
  await sleeping;
  await nodeClock.sleep(60_000, stop.signal);
  expect(nodeClock.now() - before).toBeLessThan(30_000);
});

test("random bytes are as many as asked for and not the same twice", () => {
  expect(nodeRandom(16)).toHaveLength(16);
  expect(nodeRandom(16)).not.toEqual(nodeRandom(16));
});

test("this process is running; one that ended is not; one of another machine may be", () => {
  const me = thisProcess();
  expect(isCrashedLocally(me)).toBe(false);
  const ended = spawnSync(process.execPath, ["-e", ""]).pid;
  if (me.machine !== "") {
    expect(isCrashedLocally({ ...me, pid: ended })).toBe(true);
    expect(isCrashedLocally({ ...me, started: "1" })).toBe(true);
  }
  expect(isCrashedLocally({ ...me, pid: ended, machine: "elsewhere" })).toBe(false);
  expect(isCrashedLocally({ ...me, pid: ended, machine: "" })).toBe(false);
});

const HIDING = `mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"`;
const ASK = `
import { isCrashedLocally, thisProcess } from ${JSON.stringify(new URL("../../../../src/state/backends/file/node-ports.ts", import.meta.url).href)};
const me = thisProcess();
const [pid, started, ended] = process.argv.slice(1);
console.log(isCrashedLocally({ ...me, pid: Number(pid), started }), isCrashedLocally({ ...me, pid: Number(ended) }));
`;
const hides = spawnSync("unshare", ["-m", "sh", "-c", HIDING, "sh", "true"]).status === 0;

test.skipIf(!hides)("a process of another user that /proc hides counts as running", () => {
  const { pid, started } = thisProcess();
  const ended = spawnSync(process.execPath, ["-e", ""]).pid;
  const words = [
    process.execPath,
    "--input-type=module-typescript",
    "-e",
    ASK,
    `${pid}`,
    started,
    `${ended}`,
  ];
  const asked = spawnSync("unshare", ["-m", "sh", "-c", HIDING, "sh", ...words], { encoding: "utf8" });
  expect([asked.stdout, asked.stderr]).toEqual(["false true\n", ""]);
});

const HOLD = `
import { openFileStore } from ${JSON.stringify(new URL("../../../../src/state/backends/file/file-backend.ts", import.meta.url).href)};
import * as ports from ${JSON.stringify(new URL("../../../../src/state/backends/file/node-ports.ts", import.meta.url).href)};
const store = openFileStore({ folder: process.argv[1], fs: ports.nodeFiles, clock: ports.nodeClock, random: ports.nodeRandom, owner: ports.thisProcess(), isCrashed: ports.isCrashedLocally });
const lease = await store.lock({ timeoutMs: 0 });
const record = (name) => ({ type: "record", record: { status: "ready", address: "pools." + name, id: name, name, applied: {}, depends_on: [], seen: {} } });
await Promise.all(["a", "b", "c"].map((name) => lease.append(record(name))));
process.kill(process.pid, "SIGKILL");
`;

test("a process that is killed while it holds the lock loses nothing, and the next one need not wait", async () => {
  const killed = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", HOLD, folder], {
    encoding: "utf8",
  });
  expect([killed.signal, killed.stderr]).toEqual(["SIGKILL", ""]);
  expect(existsSync(join(folder, "state.json"))).toBe(false);
  const store = openFileStore({
    folder,
    fs: nodeFiles,
    clock: nodeClock,
    random: nodeRandom,
    owner: thisProcess(),
    isCrashed: isCrashedLocally,
  });
  expect([...(await store.read()).state.records.keys()]).toEqual(["pools.a", "pools.b", "pools.c"]);
  if (thisProcess().machine === "") return;
  const lease = await store.lock({ timeoutMs: 0 });
  expect(lease.fence).toBe(2);
  await lease.release();
});
