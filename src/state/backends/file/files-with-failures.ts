// Wraps file operations so that failures become diagnostics, such as missing write permission.

import { ioFailure } from "../../model/failures.ts";
import type { FileSystem } from "../../model/ports.ts";

export function filesWithFailures(fs: FileSystem): FileSystem {
  const told = async <T>(doing: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (failure) {
      throw ioFailure(failure, doing);
    }
  };
  return {
    read: (path) => told(`reading ${path}`, fs.read(path)),
    list: (folder) => told(`reading the folder ${folder}`, fs.list(folder)),
    makeFolder: (path) => told(`creating the state's folder ${path}`, fs.makeFolder(path)),
    open: (path, how) => told(`writing ${path}`, fs.open(path, how)),
    rename: (from, to) => told(`writing ${to}`, fs.rename(from, to)),
    link: (from, to) => told(`writing ${to}`, fs.link(from, to)),
    remove: (path) => told(`removing ${path}`, fs.remove(path)),
    syncFolder: (path) => told(`writing the folder ${path}`, fs.syncFolder(path)),
  };
}
