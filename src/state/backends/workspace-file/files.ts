// Files in the workspace's file system: read by ranges, written in one request or in blocks, then verified.

import type { Writer } from "../../../api/contract/reader.ts";
import { type Diagnostic, error, Failure, failureOf } from "../../../core/diagnostic.ts";
import { listIn, objectIn } from "../../../core/json.ts";
import { isConflict, isMissing, Refused, UnknownOutcome } from "../../../core/request-failure.ts";
import { assertStateSize, corrupt, type StoredText } from "../../model/backend.ts";

/** The most that one request reads or writes (contract A 8). */
const MEGABYTE = 1024 * 1024;
const TRIES = 3;

export class Files {
  readonly #api: Writer;

  constructor(api: Writer) {
    this.#api = api;
  }

  /** Names in a folder; none if it does not exist. */
  async names(folder: string): Promise<readonly string[]> {
    const answer = await this.#unlessMissing(() => this.#api.read("fs/list", { path: folder }), folder);
    return listIn(answer?.files).map((file) => String(objectIn(file).path).split("/").at(-1) ?? "");
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    const pieces: Buffer[] = [];
    for (let offset = 0; ; ) {
      const input = { path, offset, length: MEGABYTE };
      const answer = await this.#unlessMissing(() => this.#api.read("fs/read", input), path);
      if (answer === undefined) return undefined;
      const piece = Buffer.from(typeof answer.data === "string" ? answer.data : "", "base64");
      pieces.push(piece);
      offset += piece.length;
      assertStateSize(path, offset);
      if (piece.length < MEGABYTE) return new Uint8Array(Buffer.concat(pieces));
    }
  }

  /** Writes a file with a single writer: when this resolves, the file has the given content. */
  async put(path: string, bytes: Uint8Array): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const broken = await this.#unlessUnknown(() => this.#send(path, bytes), path);
      // One request is confirmed whole; of blocks any may be lost.
      if (broken === undefined && bytes.length <= MEGABYTE) return;
      if (equal(await this.read(path), bytes)) return;
      if (attempt === TRIES) throw new Failure(broken ?? notWritten(path));
    }
  }

  /** Writes a file only where none is; false where one is, unless it is this very one. */
  async create(path: string, bytes: Uint8Array): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      let taken = false;
      const broken = await this.#unlessUnknown(async () => {
        try {
          await this.#inBlocks(path, bytes, false);
        } catch (failure) {
          if (!isConflict(failure)) throw failure;
          taken = true;
        }
      }, path);
      const there = await this.read(path);
      if (there !== undefined) return equal(there, bytes);
      // Created and deleted again by another run, which gave it up.
      if (taken) return false;
      if (attempt === TRIES) throw new Failure(broken ?? notWritten(path));
    }
  }

  async #send(path: string, contents: Uint8Array): Promise<void> {
    if (contents.length > MEGABYTE) await this.#inBlocks(path, contents, true);
    else await this.#api.write("fs/put", { path, contents, overwrite: true });
  }

  async #inBlocks(path: string, bytes: Uint8Array, overwrite: boolean): Promise<void> {
    const { handle } = await this.#api.write("fs/create", { path, overwrite });
    if (handle === undefined) throw failureOf("API_PROTOCOL", `${path} was opened without a handle`);
    for (let offset = 0; offset < bytes.length; offset += MEGABYTE)
      await this.#api.write("fs/add-block", { handle, data: bytes.subarray(offset, offset + MEGABYTE) });
    await this.#api.write("fs/close", { handle });
  }

  async makeFolder(path: string): Promise<void> {
    await this.#told(() => this.#api.write("fs/mkdirs", { path }), path);
  }

  async remove(path: string): Promise<void> {
    await this.#unlessMissing(() => this.#api.write("fs/delete", { path, recursive: true }), path);
  }

  async #unlessMissing<T>(act: () => Promise<T>, path: string): Promise<T | undefined> {
    return this.#told(async () => {
      try {
        return await act();
      } catch (failure) {
        if (isMissing(failure)) return undefined;
        throw failure;
      }
    }, path);
  }

  /** Returns an unknown outcome, or a refusal that the first attempt may have caused; the caller reads the file to decide. */
  async #unlessUnknown(act: () => Promise<void>, path: string): Promise<Diagnostic | undefined> {
    try {
      await this.#told(act, path);
      return undefined;
    } catch (failure) {
      if (failure instanceof Failure) {
        const [first] = failure.diagnostics;
        if (first !== undefined && failure.cause instanceof UnknownOutcome) return first;
      }
      throw failure;
    }
  }

  async #told<T>(act: () => Promise<T>, path: string): Promise<T> {
    try {
      return await act();
    } catch (failure) {
      if (!(failure instanceof Refused || failure instanceof UnknownOutcome)) throw failure;
      const { message, hint = "try again", cause } = failure.diagnostic;
      const told = failureOf("STATE_IO", `the state file ${path} in the workspace: ${message}`, {
        hint,
        cause,
      });
      told.cause = failure;
      throw told;
    }
  }
}

function notWritten(path: string): Diagnostic {
  return error("STATE_IO", `the state file ${path} in the workspace does not match what was written`, {
    hint: "run the command again",
  });
}

function equal(bytes: Uint8Array | undefined, wanted: Uint8Array): boolean {
  return bytes?.length === wanted.length && bytes.every((byte, at) => byte === wanted[at]);
}

export async function readStoredText(files: Files, path: string): Promise<StoredText | undefined> {
  const bytes = await files.read(path);
  return bytes === undefined ? undefined : { name: path, bytes };
}

interface FoundJournal {
  readonly name: JournalName;
  readonly piece: StoredText;
}

/** The current journal: the last one of the greatest fencing token. One whose creation was interrupted is empty. */
export async function findJournal(
  files: Files,
  folder: string,
  names: readonly string[],
): Promise<FoundJournal | undefined> {
  for (const name of journalsIn(names)) {
    const path = `${folder}/${journalFolder(name)}`;
    const segments = segmentsIn(await files.names(path));
    if (segments.length === 0) continue;
    return { name, piece: { name: path, bytes: await together(files, path, segments) } };
  }
  return undefined;
}

async function together(files: Files, folder: string, segments: readonly number[]): Promise<Uint8Array> {
  const pieces = await Promise.all(segments.map((n) => files.read(`${folder}/${n}`)));
  let offset = 0;
  segments.forEach((n, at) => {
    if (n !== at || pieces[at] === undefined) throw corrupt(folder, offset, `its segment ${at} is missing`);
    offset += pieces[at].length;
  });
  return new Uint8Array(Buffer.concat(pieces.flatMap((piece) => piece ?? [])));
}

/** Copies state and journal unchanged, damaged or not, into a folder next to them. */
export async function copyAside(
  files: Files,
  folder: string,
  names: readonly string[],
  copyPath: string,
): Promise<void> {
  const copy = async (from: string, to: string): Promise<void> => {
    const bytes = await files.read(`${folder}/${from}`);
    if (bytes !== undefined) await files.put(`${copyPath}/${to}`, bytes);
  };
  await files.makeFolder(copyPath);
  const [journal] = journalsIn(names);
  const base = journal?.base ?? statesIn(names)[0] ?? NO_STATE;
  await copy(stateFile(base), stateFile(base));
  if (journal === undefined) return;
  const from = journalFolder(journal);
  for (const n of segmentsIn(await files.names(`${folder}/${from}`)))
    await copy(`${from}/${n}`, `journal.${n}`);
}

/** A state file: its serial, and the fencing token of its writer. `0.0` means no state. */
export interface StateName {
  readonly serial: number;
  readonly fence: number;
}

/** A journal is a folder of segments: begun under a fence, as its holder's `epoch`-th, going on from a state. */
export interface JournalName {
  readonly fence: number;
  readonly epoch: number;
  readonly base: StateName;
}

export const NO_STATE: StateName = { serial: 0, fence: 0 };

const NUMBER = "(\\d{1,15})";
const STATE = new RegExp(`^state\\.${NUMBER}\\.${NUMBER}$`);
const JOURNAL = new RegExp(`^journal\\.${NUMBER}\\.${NUMBER}\\.${NUMBER}\\.${NUMBER}$`);
const SEGMENT = /^\d{1,15}$/;

export const stateFile = ({ serial, fence }: StateName): string => `state.${serial}.${fence}`;
export const journalFolder = ({ fence, epoch, base }: JournalName): string =>
  `journal.${fence}.${epoch}.${base.serial}.${base.fence}`;

export function statesIn(names: readonly string[]): readonly StateName[] {
  return names
    .flatMap((name) => {
      const [, serial, fence] = STATE.exec(name) ?? [];
      return serial === undefined ? [] : [{ serial: Number(serial), fence: Number(fence) }];
    })
    .sort((a, b) => b.serial - a.serial || b.fence - a.fence);
}

/** The one that counts first. */
export function journalsIn(names: readonly string[]): readonly JournalName[] {
  return names
    .flatMap((name) => {
      const [, fence, epoch, serial, of] = JOURNAL.exec(name) ?? [];
      if (fence === undefined) return [];
      return [
        { fence: Number(fence), epoch: Number(epoch), base: { serial: Number(serial), fence: Number(of) } },
      ];
    })
    .sort((a, b) => b.fence - a.fence || b.epoch - a.epoch);
}

function segmentsIn(names: readonly string[]): readonly number[] {
  return names
    .filter((name) => SEGMENT.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

export function sameState(a: StateName, b: StateName): boolean {
  return a.serial === b.serial && a.fence === b.fence;
}
