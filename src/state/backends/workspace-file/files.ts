// Files in the workspace's file system: read by ranges, written in one request or in blocks, then verified.

import type { Writer } from "../../../api/contract/reader.ts";
import { type Diagnostic, error, Failure, failureOf } from "../../../core/diagnostic.ts";
import { defined, type JsonObject } from "../../../core/json.ts";
import { Refused, UnknownOutcome } from "../../../core/request-failure.ts";
import { assertStateSize } from "../../model/failures.ts";

/** Classifies the client's errors. */
export interface FailureTests {
  isMissing(failure: unknown): boolean;
  isConflict(failure: unknown): boolean;
}

export interface RemoteFile {
  readonly name: string;
  readonly folder: boolean;
  readonly size: number;
}

/** The most that one request reads or writes (contract A 8). */
const MEGABYTE = 1024 * 1024;
const TRIES = 3;

export class Files {
  readonly #api: Writer;
  readonly #tell: FailureTests;

  constructor(api: Writer, tell: FailureTests) {
    this.#api = api;
    this.#tell = tell;
  }

  async list(folder: string): Promise<readonly RemoteFile[]> {
    const answer = await this.#unlessMissing(() => this.#api.read("fs/list", { path: folder }), folder);
    const files = answer?.files;
    if (!Array.isArray(files)) return [];
    return files.flatMap((file: JsonObject) => {
      const name = String(file.path).split("/").at(-1) ?? "";
      return [{ name, folder: file.is_dir === true, size: Number(file.file_size ?? 0) }];
    });
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
          if (!this.#tell.isConflict(failure)) throw failure;
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
        if (this.#tell.isMissing(failure)) return undefined;
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
        ...defined({ hint, cause }),
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

function equal(found: Uint8Array | undefined, wanted: Uint8Array): boolean {
  return found?.length === wanted.length && found.every((byte, at) => byte === wanted[at]);
}
