// Writes an export into a folder: the contents of notebooks and files first, the spec that names them last.

import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Reader } from "../../api/contract/reader.ts";
import { making } from "../../config/files.ts";
import type { Address } from "../../core/address.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { Slots } from "../../engine/concurrency.ts";
import { expected } from "../../engine/failures.ts";
import type { Source } from "../../spec/export/sources.ts";
import { openWholeFile, type WholeFile, writeWholeFile } from "./write-file.ts";

const TAKEN = "choose another folder, or write over it with --force";

export interface Fetching {
  readonly folder: string;
  readonly reader: Reader;
  readonly parallelism: number;
  /** Write over files that are there. */
  readonly force: boolean;
}

export interface Fetched {
  /** Why a content is not there, by the address of its resource. */
  readonly failed: ReadonlyMap<Address, Diagnostic>;
}

/** Throws Failure with CLI_FILE where the folder cannot be written to. */
export async function fetchSources(sources: readonly Source[], to: Fetching): Promise<Fetched> {
  const slots = new Slots(Math.min(to.parallelism, 8));
  const failed = new Map<Address, Diagnostic>();
  await Promise.all(
    sources.map((source) =>
      slots.inside(async () => {
        try {
          await fetchOne(source, to);
        } catch (failure) {
          if (failure instanceof Failure && failure.diagnostics.some(({ code }) => code === "CLI_FILE"))
            throw failure;
          failed.set(source.of.address, leftOut(source.of.address, expected(failure)));
        }
      }),
    ),
  );
  return { failed };
}

function leftOut(address: Address, reason: Diagnostic): Diagnostic {
  const cause = reason.cause === undefined ? reason.message : `${reason.message}: ${reason.cause}`;
  return error(reason.code, `${address} is left out: its content could not be fetched`, { address, cause });
}

/** What was begun and not finished is taken away again. */
async function fetchOne({ of, path }: Source, to: Fetching): Promise<void> {
  const { provider, live } = of;
  const pieces = provider.content?.(to.reader, live);
  if (pieces === undefined)
    throw new Error(`${provider.kind} have contents, so the kind has a verb for them`);
  const file = join(to.folder, path);
  const into = opened(file, to.force);
  try {
    for await (const piece of pieces) making(file, TAKEN, () => into.write(piece));
    making(file, TAKEN, () => into.keep());
  } finally {
    into.drop();
  }
}

function opened(file: string, force: boolean): WholeFile {
  return making(file, TAKEN, () => {
    makeFolder(dirname(file));
    return openWholeFile(file, { over: force });
  });
}

/** Throws Failure with CLI_FILE. */
export function writeSpec(file: string, text: string, force: boolean): void {
  making(file, TAKEN, () => {
    makeFolder(dirname(file));
    writeWholeFile(file, text, { over: force });
  });
}

/** One after the other: where a file system has no room for folders (/proc), Node's own recursion never ends. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (problem) {
    if (!existsSync(path)) throw problem;
  }
}
