// A disk in memory that loses data without fsync, fails on demand, and stops with its process.

import type { FileSystem, OpenFile } from "../../src/state/model/store.ts";

interface Inode {
  bytes: Uint8Array;
  durable: Uint8Array;
}

const EMPTY = new Uint8Array(0);

/** Survives the processes that use it. */
export class Disk {
  /** Current names, and names after a power cut. */
  readonly names = new Map<string, Inode>();
  durableNames = new Map<string, Inode>();

  /** The data after a crash of the machine. A killed process loses nothing of it. */
  powerCut(): void {
    this.names.clear();
    for (const [name, inode] of this.durableNames) {
      this.names.set(name, inode);
      inode.bytes = inode.durable;
    }
  }

  text(path: string): string {
    return new TextDecoder().decode(this.names.get(path)?.bytes ?? EMPTY);
  }

  bytes(path: string): Uint8Array | undefined {
    return this.names.get(path)?.bytes;
  }

  put(path: string, bytes: Uint8Array | string): void {
    const data = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
    const inode = { bytes: data, durable: data };
    this.names.set(path, inode);
    this.durableNames.set(path, inode);
  }

  copy(): Disk {
    const other = new Disk();
    for (const [name, { bytes }] of this.names) other.put(name, bytes);
    return other;
  }
}

export interface Hooks {
  /** Called before each operation; may throw (a full disk) or never settle (a crashed process). */
  readonly before?: (operation: string, path: string) => Promise<void> | void;
  /** Called after what was written became durable, before the process knows it. */
  readonly after?: (operation: string, path: string) => Promise<void> | void;
}

export function memoryFiles(disk: Disk, hooks: Hooks = {}): FileSystem {
  const step = async (operation: string, path: string): Promise<void> => {
    await hooks.before?.(operation, path);
  };
  return {
    async read(path) {
      await step("read", path);
      return disk.names.get(path)?.bytes.slice();
    },
    async list(folder) {
      await step("list", folder);
      return [...disk.names.keys()]
        .filter((name) => name.startsWith(`${folder}/`) && !name.slice(folder.length + 1).includes("/"))
        .map((name) => name.slice(folder.length + 1));
    },
    async makeFolder(path) {
      await step("makeFolder", path);
    },
    async open(path, how): Promise<OpenFile> {
      await step("open", path);
      const known = disk.names.get(path);
      const inode = known ?? { bytes: EMPTY, durable: EMPTY };
      if (how === "fresh") inode.bytes = EMPTY;
      disk.names.set(path, inode);
      return {
        async write(bytes) {
          await step("write", path);
          const whole = new Uint8Array(inode.bytes.length + bytes.length);
          whole.set(inode.bytes);
          whole.set(bytes, inode.bytes.length);
          inode.bytes = whole;
        },
        async sync() {
          await step("sync", path);
          inode.durable = inode.bytes;
          await hooks.after?.("sync", path);
        },
        async close() {
          await step("close", path);
        },
      };
    },
    async rename(from, to) {
      await step("rename", to);
      const inode = disk.names.get(from);
      if (inode === undefined) throw new Error(`ENOENT: ${from}`);
      disk.names.delete(from);
      disk.names.set(to, inode);
    },
    async link(from, to) {
      await step("link", to);
      const inode = disk.names.get(from);
      if (inode === undefined) throw new Error(`ENOENT: ${from}`);
      if (disk.names.has(to)) return false;
      disk.names.set(to, inode);
      return true;
    },
    async remove(path) {
      await step("remove", path);
      disk.names.delete(path);
    },
    async syncFolder(folder) {
      await step("syncFolder", folder);
      const inside = (name: string): boolean => name.startsWith(`${folder}/`);
      for (const name of [...disk.durableNames.keys()])
        if (inside(name) && !disk.names.has(name)) disk.durableNames.delete(name);
      for (const [name, inode] of disk.names) if (inside(name)) disk.durableNames.set(name, inode);
      await hooks.after?.("syncFolder", folder);
    },
  };
}
