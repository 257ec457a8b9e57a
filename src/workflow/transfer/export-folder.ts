// Exports the workspace to a folder, and reports what the spec needs or cannot express.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { DEFAULT_FILE, withFileCreation } from "../../config/files.ts";
import { dialectFrom, type HostOptions } from "../../config/settings.ts";
import type { Address } from "../../core/address.ts";
import { type Diagnostic, type Failure, failureOf, warning } from "../../core/diagnostic.ts";
import { count } from "../../core/sentences.ts";
import { type ListKindsInput, listKinds } from "../../engine/observe/list-kinds.ts";
import { registry } from "../../providers/index.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import { type ExportedSpec, type ExportInput, exportable, exportSpec } from "../../spec/export/document.ts";
import { addressFilter } from "../session/address-filter.ts";
import type { Connection } from "../session/connect.ts";
import type { WorkflowContext } from "../session/workflow-context.ts";
import { fetchSources, problemsOfExport, writeSpec } from "./export.ts";
import { assertCanIgnoreState, ignoreState } from "./write-file.ts";

export interface FolderExport extends HostOptions {
  readonly out: string;
  readonly force: boolean;
  readonly builtIn: boolean;
  readonly parallelism: number;
}

export interface FolderExported {
  readonly found: ExportedSpec;
  readonly diagnostics: readonly Diagnostic[];
}

export interface ExportChoice extends HostOptions {
  readonly kinds: ReadonlySet<string>;
  readonly only: readonly string[];
  readonly builtIn: boolean;
  readonly full: boolean;
  readonly secrets: boolean;
  readonly parallelism: number;
}

/** Lists the live objects that a user chose. Throws Failure with CLI_UNKNOWN_ADDRESS. */
export async function readForExport(
  context: WorkflowContext,
  { reader }: Connection,
  { kinds, only, builtIn, full, secrets, parallelism, ...host }: ExportChoice,
  onRead: NonNullable<ListKindsInput["onRead"]>,
): Promise<ExportInput> {
  const live = await listKinds({ registry, reader, kinds, parallelism, onRead });
  const described = registryIn(registry, dialectFrom(context, host));
  const input = { registry: described, live, kinds, builtIn, full, secrets };
  const filter = addressFilter(only, exportable(input), "to list the objects, run `workspace export`");
  return filter === undefined ? input : { ...input, only: filter };
}

/** Throws Failure with CLI_FILE where a file exists already or cannot be written. */
export async function exportToFolder(
  context: WorkflowContext,
  { reader }: Connection,
  input: ExportInput,
  options: FolderExport,
  textOf: (found: ExportedSpec) => string,
): Promise<FolderExported> {
  const { out, force, parallelism } = options;
  const folder = resolve(context.cwd, out);
  const file = join(folder, DEFAULT_FILE);
  if (!force && existsSync(file)) throw existsAlready(join(out, DEFAULT_FILE));
  withFileCreation(join(folder, ".gitignore"), "", () => assertCanIgnoreState(folder));
  const { sources } = exportSpec(input);
  const { failed } = await fetchSources(sources, { folder, reader, parallelism, force });
  const found = exportSpec(withoutThese(input, new Set(failed.keys())));
  writeSpec(file, textOf(found), force);
  withFileCreation(join(folder, ".gitignore"), "", () => ignoreState(folder));
  const doubts = await problemsOfExport(context, file, registryIn(registry, dialectFrom(context, options)));
  return { found, diagnostics: [...exportNotes(found, options.builtIn), ...failed.values(), ...doubts] };
}

function withoutThese(input: ExportInput, failed: ReadonlySet<Address>): ExportInput {
  const { only } = input;
  return { ...input, only: (address) => !failed.has(address) && only?.(address) !== false };
}

/** What the exported spec needs before it can be planned. */
export function* exportNotes(found: ExportedSpec, builtIn: boolean): Generator<Diagnostic> {
  yield* found.diagnostics;
  if (found.addresses.length === 0 && found.diagnostics.length === 0)
    yield warning("CLI_UNKNOWN_ADDRESS", "the workspace has nothing to export", {
      ...(builtIn ? {} : { hint: "to export built-in objects, pass --built-in" }),
    });
  if (found.variables.length > 0)
    yield warning(
      "SPEC_SECRET_SOURCE",
      `plan and apply need these variables: ${found.variables.join(", ")}`,
      { hint: "an apply writes their values over the live secrets" },
    );
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
  return failureOf("CLI_FILE", `${file} already exists`, {
    hint: "choose another folder, or overwrite the file with --force",
  });
}
