// Files in memory, for the state of a test.

import type { FileSystem } from "../../state/model/ports.ts";

interface MemoryFile {
  bytes: Uint8Array;
}

export function memoryFiles(): FileSystem {
  const files = new Map<string, MemoryFile>();
  const moved = (from: string): MemoryFile => {
    const file = files.get(from);
    if (file === undefined) throw new Error(`${from} does not exist`);
    return file;
  };
  return {
    read: async (path) => files.get(path)?.bytes.slice(),
    list: async (folder) =>
      [...files.keys()]
        .filter((name) => name.startsWith(`${folder}/`) && !name.slice(folder.length + 1).includes("/"))
        .map((name) => name.slice(folder.length + 1)),
    makeFolder: async () => undefined,
    open: async (path, how) => {
      const file = files.get(path) ?? { bytes: new Uint8Array(0) };
      if (how === "fresh") file.bytes = new Uint8Array(0);
      files.set(path, file);
      return {
        write: async (bytes) => {
          file.bytes = Buffer.concat([file.bytes, bytes]);
        },
        sync: async () => undefined,
        close: async () => undefined,
      };
    },
    rename: async (from, to) => {
      const file = moved(from);
      files.delete(from);
      files.set(to, file);
    },
    link: async (from, to) => {
      const file = moved(from);
      if (files.has(to)) return false;
      files.set(to, file);
      return true;
    },
    remove: async (path) => {
      files.delete(path);
    },
    syncFolder: async () => undefined,
  };
}
