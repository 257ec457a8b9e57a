// Wraps file operations so that failures become diagnostics, such as missing write permission.

import { ioFailure } from "../../model/failures.ts";
import type { FileSystem } from "../../model/ports.ts";

export function filesWithFailures(fs: FileSystem): FileSystem {
  const withFailure = async <T>(doing: string, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (failure) {
      throw ioFailure(failure, doing);
    }
  };
  return {
    read: (path) => withFailure(`reading ${path}`, fs.read(path)),
    list: (folder) => withFailure(`reading the folder ${folder}`, fs.list(folder)),
    makeFolder: (path) => withFailure(`creating the state's folder ${path}`, fs.makeFolder(path)),
    open: (path, how) => withFailure(`writing ${path}`, fs.open(path, how)),
    rename: (from, to) => withFailure(`writing ${to}`, fs.rename(from, to)),
    link: (from, to) => withFailure(`writing ${to}`, fs.link(from, to)),
    remove: (path) => withFailure(`removing ${path}`, fs.remove(path)),
    syncFolder: (path) => withFailure(`writing the folder ${path}`, fs.syncFolder(path)),
  };
}
