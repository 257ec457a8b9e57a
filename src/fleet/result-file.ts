// The results of fleet runs on one machine: one JSON line each, in a file that is compacted as it grows.

import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode, type Failure, failureOf, thrownText } from "../core/diagnostic.ts";
import { makeFolder, readRegularFile } from "../core/regular-file.ts";
import { KEPT_LOGS, KEPT_RESULTS, type ResultStore, resultIn, type WorkspaceResult } from "./model/result.ts";

/** Lines per kept result after which the file is compacted. */
const SLACK = 2;

interface ResultFileOptions {
  readonly path: string;
  /** Replaces a file as one step. */
  readonly replace: (path: string, text: string) => void;
}

export function openResultFile({ path, replace }: ResultFileOptions): ResultStore {
  const fileProblem = (verb: "read" | "written", problem: unknown): Failure =>
    failureOf("CLI_FILE", `the results of the fleet cannot be ${verb} (${path})`, {
      cause: thrownText(problem),
    });
  const read = (): WorkspaceResult[] => {
    try {
      return readRegularFile(path).toString("utf8").split("\n").flatMap(parseLine);
    } catch (problem) {
      if (errorCode(problem) === "ENOENT") return [];
      throw fileProblem("read", problem);
    }
  };
  const compact = (): void => {
    const file = openSync(path, constants.O_RDONLY);
    try {
      const all = readFileSync(file, "utf8").split("\n").flatMap(parseLine);
      const workspaceResultsByKey = groupNewestFirst(all, KEPT_RESULTS);
      const size = [...workspaceResultsByKey.values()].reduce((sum, results) => sum + results.length, 0);
      if (all.length <= size * SLACK) return;
      withClaim(path, file, () => {
        // If it is another file by now, another run compacted it.
        if (!isAt(path, file)) return;
        replace(path, textOf(all, workspaceResultsByKey));
        // Another run may have added results to the file that was replaced.
        const added = isAt(path, file) ? "" : readFileSync(file, "utf8");
        if (added !== "") append(path, added);
      });
    } finally {
      closeSync(file);
    }
  };
  let added = false;
  return {
    async add(result) {
      try {
        makeFolder(dirname(path), 0o700);
        // A line that a crash cut off must not swallow this one.
        append(path, `\n${JSON.stringify(result)}\n`);
        added = true;
      } catch (problem) {
        throw fileProblem("written", problem);
      }
    },
    recent: async (limit) => groupNewestFirst(read().map(withoutLog), limit),
    async logs(workspace, limit) {
      const own = read().filter((result) => result.workspace === workspace);
      return own.reverse().slice(0, limit);
    },
    now: async () => Date.now(),
    async close() {
      // A reader changes no file.
      try {
        if (added) compact();
      } catch (problem) {
        throw fileProblem("written", problem);
      }
    },
  };
}

/** Never through a link: in a checkout of another person's change, it may lead to any file of this user. */
const APPENDING =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Appends again if another run replaced the file meanwhile and did not keep the text. */
function append(path: string, text: string): void {
  for (let attempt = 0; attempt < 5; attempt++) {
    const file = openSync(path, APPENDING, 0o600);
    try {
      appendFileSync(file, text, { flush: true });
      if (isAt(path, file) || readFileSync(path, "utf8").includes(text.trim())) return;
    } finally {
      closeSync(file);
    }
  }
}

/** Whether the path still leads to this open file. */
function isAt(path: string, file: number): boolean {
  const [opened, now] = [fstatSync(file), statSync(path, { throwIfNoEntry: false })];
  return now === undefined || (opened.ino === now.ino && opened.dev === now.dev);
}

/** A claim that is older was left by a crash. */
const STALE_CLAIM_MS = 60_000;

/** Only one run replaces this file: a second one would drop what others added to the file of the first. */
function withClaim(path: string, file: number, work: () => void): void {
  const { ino, mtimeMs } = fstatSync(file);
  const claim = `${path}.${ino}`;
  try {
    closeSync(openSync(claim, "wx", 0o600));
  } catch (problem) {
    const other = lstatSync(claim, { throwIfNoEntry: false });
    // In a folder that cannot be written, the file is replaced in place.
    if (errorCode(problem) !== "EEXIST") work();
    // The file was written just now. A later run compacts it.
    else if (other !== undefined && mtimeMs - other.mtimeMs > STALE_CLAIM_MS) rmSync(claim, { force: true });
    return;
  }
  try {
    work();
    removeStaleClaims(path, lstatSync(claim).mtimeMs);
  } finally {
    rmSync(claim, { force: true });
  }
}

/** A crash after the replacement of a file leaves the claim of the replaced file. */
function removeStaleClaims(path: string, now: number): void {
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(`${basename(path)}.`) || !/\.\d+$/.test(name)) continue;
    const claim = join(dirname(path), name);
    const stats = lstatSync(claim, { throwIfNoEntry: false });
    if (stats !== undefined && now - stats.mtimeMs > STALE_CLAIM_MS) rmSync(claim, { force: true });
  }
}

function withoutLog({ log: _log, ...result }: WorkspaceResult): WorkspaceResult {
  return result;
}

/** Findings are large, and no report shows those of older results; of logs, only so many are read. */
function textOf(
  all: readonly WorkspaceResult[],
  workspaceResultsByKey: ReadonlyMap<string, readonly WorkspaceResult[]>,
): string {
  const wanted = new Set([...workspaceResultsByKey.values()].flat());
  const newest = new Set([...groupNewestFirst(all, 1).values()].flat());
  const logged = new Set(
    [...Map.groupBy(all, ({ workspace }) => workspace).values()].flatMap((own) => own.slice(-KEPT_LOGS)),
  );
  return all
    .filter((result) => wanted.has(result))
    .map((result) => (newest.has(result) ? result : { ...result, diagnostics: [] }))
    .map((result) => (logged.has(result) ? result : withoutLog(result)))
    .map((result) => `${JSON.stringify(result)}\n`)
    .join("");
}

/** A line that a crash cut off is left out. */
function parseLine(line: string): readonly WorkspaceResult[] {
  try {
    const result = line === "" ? undefined : resultIn(JSON.parse(line));
    return result === undefined ? [] : [result];
  } catch {
    return [];
  }
}

function groupNewestFirst(
  results: readonly WorkspaceResult[],
  limit: number,
): ReadonlyMap<string, readonly WorkspaceResult[]> {
  const counts = new Map<string, number>();
  const isKept = ({ workspace, command }: WorkspaceResult): boolean => {
    const key = `${command} ${workspace}`;
    const number = (counts.get(key) ?? 0) + 1;
    counts.set(key, number);
    return number <= limit;
  };
  return Map.groupBy(results.toReversed().filter(isKept), ({ workspace }) => workspace);
}
