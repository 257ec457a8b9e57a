// The ports of the state on this machine: files, time, randomness, and process identity.

import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { link, open, readFile, rename, rm } from "node:fs/promises";
import { hostname, userInfo } from "node:os";
import { errorCode } from "../../../core/diagnostic.ts";
import { assertRegular, makeFolder } from "../../../core/regular-file.ts";
import { assertStateSize, type LockOwner } from "../../model/backend.ts";
import type { Clock, FileSystem, OpenFile, Random } from "../../model/store.ts";

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

function isCode(failure: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(errorCode(failure) ?? "");
}

/** Returns `otherwise` if the file or folder does not exist. */
async function orMissing<T, U>(access: Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await access;
  } catch (failure) {
    if (isCode(failure, "ENOENT")) return otherwise;
    throw failure;
  }
}

async function readRegular(path: string): Promise<Uint8Array> {
  assertRegular(path);
  assertStateSize(path, fs.statSync(path).size);
  return readFile(path);
}

/** Called before each journal write, on a folder with few files: an asynchronous call would take longer. */
async function entriesOf(folder: string): Promise<string[]> {
  return fs.readdirSync(folder);
}

export const nodeFiles: FileSystem = {
  read: (path) => orMissing(readRegular(path), undefined),
  list: (folder) => orMissing(entriesOf(folder), []),
  makeFolder: async (path) => makeFolder(path, PRIVATE_FOLDER),
  open: async (path, how): Promise<OpenFile> => {
    const file = await open(path, how === "append" ? "a" : "w", PRIVATE_FILE);
    return {
      // Writes synchronously, because the page cache is faster than a thread. `sync` makes it durable.
      write: async (bytes) => {
        for (let at = 0; at < bytes.length; ) at += fs.writeSync(file.fd, bytes, at);
      },
      sync: () => file.datasync(),
      close: () => file.close(),
    };
  },
  rename: (from, to) => rename(from, to),
  link: async (from, to) => {
    try {
      await link(from, to);
      return true;
    } catch (failure) {
      if (isCode(failure, "EEXIST")) return false;
      if (isCode(failure, "EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS")) return copyIfNew(from, to);
      throw failure;
    }
  },
  remove: (path) => rm(path, { force: true }),
  syncFolder: async (path) => {
    const folder = await open(path, "r");
    try {
      await folder.sync();
    } catch (failure) {
      // Some systems cannot sync a folder; whether a rename is durable then depends on the file system.
      if (!isCode(failure, "EINVAL", "EPERM", "EISDIR", "ENOTSUP")) throw failure;
    } finally {
      await folder.close();
    }
  },
};

/** For file systems without hard links: a reader may see an incomplete copy, which counts as an unknown holder. */
async function copyIfNew(from: string, to: string): Promise<boolean> {
  const bytes = await readFile(from);
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(to, "wx", PRIVATE_FILE);
  } catch (failure) {
    if (isCode(failure, "EEXIST")) return false;
    throw failure;
  }
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
  return true;
}

export const nodeClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
    }),
};

/** Tokens and lock IDs come from a larger random buffer, because a call for each costs as much as a journal entry. */
export const nodeRandom: Random = (count) => {
  if (count > DRAWN) return new Uint8Array(randomBytes(count));
  if (drawn.length < count) drawn = randomBytes(DRAWN);
  const bytes = new Uint8Array(drawn.subarray(0, count));
  drawn = drawn.subarray(count);
  return bytes;
};

const DRAWN = 1024;
let drawn: Uint8Array = new Uint8Array(0);

export function thisProcess(): LockOwner {
  return {
    user: userName(),
    host: hostname(),
    pid: process.pid,
    machine: machineName(),
    started: startOf(process.pid) ?? "",
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user id that has no name.
    return String(process.getuid?.() ?? "unknown");
  }
}

/** Identifies the boot and the process namespace, because a process ID is unique only within them. Empty if unknown. */
function machineName(): string {
  try {
    const boot = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${hostname()} ${boot} ${fs.readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return "";
  }
}

/** The start time of a process in kernel ticks; undefined if the process does not exist, or if /proc hides it. */
function startOf(pid: number): string | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie process has no open files and cannot write.
    return fields[0] === "Z" || fields[0] === "X" ? "ended" : fields[19];
  } catch {
    return undefined;
  }
}

/** False for a process of another machine, boot, or process namespace, because its end cannot be checked. */
export function isCrashedLocally(owner: LockOwner): boolean {
  if (owner.machine === "" || owner.machine !== machineName()) return false;
  const started = startOf(owner.pid);
  return started === undefined ? !exists(owner.pid) : started !== owner.started;
}

/** With `hidepid`, /proc hides the processes of other users, and a signal to one is refused instead. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (failure) {
    return !isCode(failure, "ESRCH");
  }
}
