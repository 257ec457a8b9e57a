// Exports the workspace to a folder: contents first, the spec last; and reports what the spec needs or cannot express.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Reader } from "../../api/contract/reader.ts";
import type { ReadTimeLimit } from "../../api/retry/read-time-limit.ts";
import type { SpokenDialect } from "../../config/dialect.ts";
import type { ProcessContext } from "../../config/environment.ts";
import { DEFAULT_FILE, withFileCreation } from "../../config/files.ts";
import {
  assertCanIgnoreState,
  assertNoLinkBelow,
  ignoreState,
  openWholeFile,
  writeWholeFile,
} from "../../config/write-file.ts";
import type { Address } from "../../core/address.ts";
import { type Diagnostic, error, Failure, failureOf, warning } from "../../core/diagnostic.ts";
import { makeFolder } from "../../core/regular-file.ts";
import { failureDiagnostic } from "../../core/request-failure.ts";
import { count } from "../../core/sentences.ts";
import { nearestHint } from "../../core/suggest.ts";
import { Semaphore } from "../../engine/concurrency.ts";
import { type ListKindsInput, listKinds } from "../../engine/observe/list-kinds.ts";
import { registry } from "../../providers/index.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import type { Registry } from "../../resource/kind.ts";
import type { ExportSource } from "../../spec/export/addresses.ts";
import { type ExportedSpec, type ExportInput, exportable, exportSpec } from "../../spec/export/document.ts";
import { loadSpec } from "../../spec/load-spec.ts";
import { addressFilter } from "../plan/address-filter.ts";
import type { Connection } from "../session/connect.ts";

const TAKEN = "choose another folder, or overwrite the file with --force";

interface FetchInput {
  readonly folder: string;
  readonly reader: Reader;
  readonly parallelism: number;
  readonly force: boolean;
}

/** Why contents are not there, by the addresses of their resources. Throws Failure with CLI_FILE where the folder cannot be written to. */
export async function fetchSources(
  sources: readonly ExportSource[],
  to: FetchInput,
): Promise<ReadonlyMap<Address, Diagnostic>> {
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
  return failed;
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
  const into = withFileCreation(file, TAKEN, () => {
    assertNoLinkBelow(to.folder, file);
    makeFolder(dirname(file));
    return openWholeFile(file, { over: to.force });
  });
  try {
    for await (const piece of pieces) withFileCreation(file, TAKEN, () => into.write(piece));
    withFileCreation(file, TAKEN, () => into.keep());
  } finally {
    into.drop();
  }
}

/** The spec, or a content next to it. Throws Failure with CLI_FILE. */
export function writeExported(
  folder: string,
  path: string,
  content: string | Uint8Array,
  force: boolean,
): void {
  const file = join(folder, path);
  withFileCreation(file, TAKEN, () => {
    assertNoLinkBelow(folder, file);
    makeFolder(dirname(file));
    writeWholeFile(file, content, { over: force });
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

/** `pools,clusters`, repeatable; empty means every kind. Throws Failure with CLI_USAGE. */
export function kindsNamed(registry: Registry, kindTexts: readonly string[]): ReadonlySet<string> {
  const kinds = registry.kinds.map(({ kind }) => kind);
  const names = kindTexts.flatMap((text) => text.split(",")).map((name) => name.trim());
  if (names.length === 0) return new Set(kinds);
  const unknown = names.filter((name) => !kinds.includes(name));
  if (unknown.length > 0)
    throw new Failure(
      ...unknown.map((name) =>
        error("CLI_USAGE", `"${name}" is not a valid kind`, {
          hint: nearestHint(name, kinds, `the kinds are ${kinds.join(", ")}`, "words"),
        }),
      ),
    );
  const members = registry.kinds.filter(({ nested }) => nested !== undefined && names.includes(nested.kind));
  const parents = names.flatMap((name) => registry.get(name).nested?.kind ?? []);
  return new Set([...names, ...members.map(({ kind }) => kind), ...parents]);
}

export interface FolderExport {
  readonly out: string;
  readonly force: boolean;
  readonly builtIn: boolean;
  readonly parallelism: number;
  readonly readLimit: ReadTimeLimit;
  readonly dialect: SpokenDialect;
}

interface ExportChoice {
  readonly kinds: ReadonlySet<string>;
  readonly only: readonly string[];
  readonly builtIn: boolean;
  readonly full: boolean;
  readonly secrets: boolean;
  readonly parallelism: number;
  readonly dialect: SpokenDialect;
}

/** Lists the live objects that a user chose. Throws Failure with CLI_UNKNOWN_ADDRESS. */
export async function readForExport(
  { reader }: Connection,
  { kinds, only, builtIn, full, secrets, parallelism, dialect }: ExportChoice,
  onRead: NonNullable<ListKindsInput["onRead"]>,
): Promise<ExportInput> {
  const described = registryIn(registry, dialect);
  const live = await listKinds({ registry: described, reader, kinds, parallelism, onRead });
  const input = { registry: described, live, kinds, builtIn, full, secrets };
  const filter = addressFilter(
    only,
    exportable(input),
    "--only",
    "to list the objects, run `workspace export`",
  );
  return filter === undefined ? input : { ...input, only: filter };
}

/** Before the workspace is read. Throws Failure with CLI_FILE where a file exists already or cannot be written. */
export function assertCanExport(
  { cwd }: ProcessContext,
  { out, force }: Pick<FolderExport, "out" | "force">,
) {
  const folder = resolve(cwd, out);
  if (!force && existsSync(join(folder, DEFAULT_FILE))) throw existsAlready(join(out, DEFAULT_FILE));
  withFileCreation(join(folder, ".gitignore"), "", () => assertCanIgnoreState(folder));
}

/** Throws Failure with CLI_FILE where a file exists already or cannot be written. */
export async function exportToFolder(
  { cwd }: ProcessContext,
  { reader }: Connection,
  input: ExportInput,
  options: FolderExport,
  textOf: (exportedSpec: ExportedSpec) => string,
): Promise<{ readonly exported: ExportedSpec; readonly diagnostics: readonly Diagnostic[] }> {
  const { out, force, parallelism, readLimit, dialect } = options;
  const folder = resolve(cwd, out);
  const file = join(folder, DEFAULT_FILE);
  const { sources } = exportSpec(input);
  const failed = await readLimit.during(() => fetchSources(sources, { folder, reader, parallelism, force }));
  const only: ExportInput["only"] = (address) => !failed.has(address) && input.only?.(address) !== false;
  const exported = exportSpec({ ...input, only });
  writeExported(folder, DEFAULT_FILE, textOf(exported), force);
  withFileCreation(join(folder, ".gitignore"), "", () => ignoreState(folder));
  const diagnostics = await problemsOfExport({ cwd }, file, registryIn(registry, dialect));
  return {
    exported,
    diagnostics: [...exportNotes(exported, options.builtIn), ...failed.values(), ...diagnostics],
  };
}

/** What the exported spec needs before it can be planned. */
export function* exportNotes(exportedSpec: ExportedSpec, builtIn: boolean): Generator<Diagnostic> {
  yield* exportedSpec.diagnostics;
  if (exportedSpec.addresses.length === 0 && exportedSpec.diagnostics.length === 0)
    yield warning("CLI_UNKNOWN_ADDRESS", "the workspace has nothing to export", {
      ...(builtIn ? {} : { hint: "to export built-in objects, pass --built-in" }),
    });
  if (exportedSpec.variables.length > 0)
    yield warning(
      "SPEC_SECRET_SOURCE",
      `plan and apply need these variables: ${exportedSpec.variables.join(", ")}`,
      { hint: "an apply writes their values over the live secrets" },
    );
}

/** `Not in the spec: 2 fields and 1 object.` */
export function lossesText({ losses: { fields, objects } }: ExportedSpec): string {
  const parts = [
    ...(fields === 0 ? [] : [count(fields, "field")]),
    ...(objects === 0 ? [] : [count(objects, "object")]),
  ];
  return parts.length === 0 ? "" : `Not in the spec: ${parts.join(" and ")}.\n`;
}

/** An export to stdout contains the spec only. */
export function unwrittenContents({ sources }: ExportedSpec): readonly Diagnostic[] {
  if (sources.length === 0) return [];
  const contents = count(sources.length, "notebook or file", "notebooks and files");
  return [
    warning("CLI_FILE", `the contents of ${contents} were not written`, {
      hint: "to write the spec and the contents to a folder, pass --out FOLDER",
    }),
  ];
}

export function existsAlready(file: string): Failure {
  return failureOf("CLI_FILE", `${file} already exists`, { hint: TAKEN });
}
