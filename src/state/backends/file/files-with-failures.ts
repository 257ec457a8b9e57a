// Wraps file operations so that failures become diagnostics, such as missing write permission, and waits for a free file descriptor.

import { isOutOfFiles } from "../../../core/request-failure.ts";
import { ioFailure } from "../../model/failures.ts";
import type { Clock, FileSystem } from "../../model/ports.ts";

/** Connections without a request close sooner than the last attempt. */
const ATTEMPTS = 200;
const WAIT_MS = 50;

export function filesWithFailures(fs: FileSystem, clock: Clock): FileSystem {
  const told = async <T>(doing: string, work: () => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (failure) {
        if (attempt === ATTEMPTS || !isOutOfFiles(failure)) throw ioFailure(failure, doing);
      }
      await clock.sleep(WAIT_MS);
    }
  };
  return {
    read: (path) => told(`reading ${path}`, () => fs.read(path)),
    list: (folder) => told(`reading the folder ${folder}`, () => fs.list(folder)),
    makeFolder: (path) => told(`creating the state's folder ${path}`, () => fs.makeFolder(path)),
    open: (path, how) => told(`writing ${path}`, () => fs.open(path, how)),
    rename: (from, to) => told(`writing ${to}`, () => fs.rename(from, to)),
    link: (from, to) => told(`writing ${to}`, () => fs.link(from, to)),
    remove: (path) => told(`removing ${path}`, () => fs.remove(path)),
    syncFolder: (path) => told(`writing the folder ${path}`, () => fs.syncFolder(path)),
  };
}
