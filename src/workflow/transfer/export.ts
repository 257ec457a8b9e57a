// Writes an export to a folder: contents first, the spec last.

import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Reader } from "../../api/contract/reader.ts";
import { withFileCreation } from "../../config/files.ts";
import type { Address } from "../../core/address.ts";
import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import { nearestHint } from "../../core/suggest.ts";
import { Semaphore } from "../../engine/concurrency.ts";
import { failureDiagnostic } from "../../engine/failures.ts";
import type { Registry } from "../../resource/registry.ts";
import type { ExportSource } from "../../spec/export/addresses.ts";
import { loadSpec } from "../../spec/load-spec.ts";
import { assertNoLinkBelow, openWholeFile, type WholeFile, writeWholeFile } from "./write-file.ts";

const TAKEN = "choose another folder, or overwrite the file with --force";

interface FetchInput {
  readonly folder: string;
  readonly reader: Reader;
  readonly parallelism: number;
  readonly force: boolean;
}

interface FetchResult {
  /** Why a content is not there, by the address of its resource. */
  readonly failed: ReadonlyMap<Address, Diagnostic>;
}

/** Throws Failure with CLI_FILE where the folder cannot be written to. */
export async function fetchSources(sources: readonly ExportSource[], to: FetchInput): Promise<FetchResult> {
  const slots = new Semaphore(Math.min(to.parallelism, 8));
  const failed = new Map<Address, Diagnostic>();
  await Promise.all(
    sources.map((source) =>
      slots.inside(async () => {
        try {
          await fetchOne(source, to);
        } catch (failure) {
          if (failure instanceof Failure && failure.diagnostics.some(({ code }) => code === "CLI_FILE"))
            throw failure;
          failed.set(source.of.address, leftOut(source.of.address, failureDiagnostic(failure)));
        }
      }),
    ),
  );
  return { failed };
}

function leftOut(address: Address, reason: Diagnostic): Diagnostic {
  const cause = reason.cause === undefined ? reason.message : `${reason.message}: ${reason.cause}`;
  return error(reason.code, `${address} is not exported because its content could not be read`, {
    address,
    cause,
  });
}

/** Deletes files that were started but not completed. */
async function fetchOne({ of, path }: ExportSource, to: FetchInput): Promise<void> {
  const { provider, live } = of;
  const pieces = provider.operations.readContent?.(to.reader, live);
  if (pieces === undefined)
    throw new Error(`${provider.kind} have contents, so the kind has a verb for them`);
  const file = join(to.folder, path);
  const into = opened(to.folder, file, to.force);
  try {
    for await (const piece of pieces) withFileCreation(file, TAKEN, () => into.write(piece));
    withFileCreation(file, TAKEN, () => into.keep());
  } finally {
    into.drop();
  }
}

function opened(folder: string, file: string, force: boolean): WholeFile {
  return withFileCreation(file, TAKEN, () => {
    assertNoLinkBelow(folder, file);
    makeFolder(dirname(file));
    return openWholeFile(file, { over: force });
  });
}

/** Throws Failure with CLI_FILE. */
export function writeSpec(file: string, text: string, force: boolean): void {
  withFileCreation(file, TAKEN, () => {
    assertNoLinkBelow(dirname(file), file);
    makeFolder(dirname(file));
    writeWholeFile(file, text, { over: force });
  });
}

/** Reads the spec that was written, to find values that are not valid in a spec. */
export async function problemsOfExport(
  { cwd }: { readonly cwd: string },
  file: string,
  registry: Registry,
): Promise<readonly Diagnostic[]> {
  const { diagnostics } = await loadSpec({ file, cwd, env: {}, registry, secrets: "skip", keyed: () => "" });
  return diagnostics;
}

/** Throws Failure with CLI_FILE. */
export function writeContent(folder: string, path: string, bytes: Uint8Array, force: boolean): void {
  const file = join(folder, path);
  const into = opened(folder, file, force);
  try {
    withFileCreation(file, TAKEN, () => into.write(bytes));
    withFileCreation(file, TAKEN, () => into.keep());
  } finally {
    into.drop();
  }
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

/** `pools,clusters`, repeatable; empty means every kind. Throws Failure with CLI_USAGE. */
export function kindsNamed(registry: Registry, given: readonly string[]): ReadonlySet<string> {
  const known = registry.kinds.map(({ kind }) => kind);
  const names = given.flatMap((text) => text.split(",")).map((name) => name.trim());
  if (names.length === 0) return new Set(known);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Failure(...unknown.map((name) => noKind(name, known)));
  const members = registry.kinds.filter(({ nested }) => nested !== undefined && names.includes(nested.kind));
  const parents = names.flatMap((name) => registry.get(name).nested?.kind ?? []);
  return new Set([...names, ...members.map(({ kind }) => kind), ...parents]);
}

function noKind(name: string, known: readonly string[]) {
  return error("CLI_USAGE", `"${name}" is not a valid kind`, {
    hint: nearestHint(name, known, `the kinds are ${known.join(", ")}`),
  });
}
