// `workspace export`: the live workspace as a spec that plans to nothing. Reads only.

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { DEFAULT_FILE, withFileCreation } from "../../config/files.ts";
import { dialectFrom, EMBEDDED, type HostOptions, settingsOf } from "../../config/settings.ts";
import { VERSION } from "../../config/version.ts";
import type { Address } from "../../core/address.ts";
import { type Diagnostic, error, Failure, warning } from "../../core/diagnostic.ts";
import { count } from "../../core/sentences.ts";
import { listKinds } from "../../engine/observe/list-kinds.ts";
import { registry } from "../../providers/index.ts";
import { yamlText } from "../../report/text/yaml.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import { type ExportedSpec, type ExportInput, exportable, exportSpec } from "../../spec/export/document.ts";
import { loadSpec } from "../../spec/load-spec.ts";
import { addressFilter } from "../../workflow/session/address-filter.ts";
import { type Connection, connect } from "../../workflow/session/connect.ts";
import { embeddedFolder } from "../../workflow/session/open-state.ts";
import { fetchSources, writeSpec } from "../../workflow/transfer/export.ts";
import { kindsNamed } from "../../workflow/transfer/export-kinds.ts";
import { ignoreState, SCHEMA_LINES } from "../../workflow/transfer/new-folder.ts";
import type { ConsoleContext } from "../command/command.ts";
import { defineCommand } from "../command/command.ts";
import { exitOf } from "../command/exit-codes.ts";
import { flagOption, textOption, textsOption } from "../command/option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS } from "../command/shared-options.ts";
import { printDiagnostics } from "../output/diagnostics.ts";
import { progressFor } from "../output/progress.ts";

const OPTIONS = {
  kinds: textsOption("--kinds <names>", "limit to these kinds, such as pools,clusters; repeatable"),
  only: textsOption("--only <address-glob>", "limit to these addresses; repeatable"),
  out: textOption(
    "--out <folder>",
    "write workspace.yaml and its content files to this folder (default: stdout)",
  ),
  secrets: flagOption("--secrets", "declare an environment variable as the source of each secret"),
  full: flagOption("--full", "include default values, states, and values set by the service"),
  builtIn: flagOption("--built-in", "include built-in objects, such as the groups admins and users"),
  force: flagOption("--force", "overwrite existing files"),
  file: SPEC_OPTIONS.file,
  ...HOST_OPTIONS,
} as const;

interface Wish extends HostOptions {
  readonly kinds: readonly string[];
  readonly only: readonly string[];
  readonly out: string | undefined;
  readonly secrets: boolean;
  readonly full: boolean;
  readonly builtIn: boolean;
  readonly force: boolean;
  readonly file: string | undefined;
}

export const exportCommand = defineCommand({
  name: "export",
  summary: "write the workspace as a spec",
  options: OPTIONS,
  notes: `To manage the exported objects, run \`workspace plan --adopt\` and \`workspace apply --adopt\` in the folder.`,
  async run(context, options) {
    const settings = settingsOf(context, options);
    printDiagnostics(context, settings.warnings);
    const kinds = kindsNamed(registry, options.kinds);
    const connection = await connect({ settings, embeddedFolder: embeddedFolder(context, options) });
    try {
      const input = await look(context, connection, settings.parallelism, kinds, options);
      return options.out === undefined
        ? print(context, connection, input, options)
        : await write(context, connection, input, options, options.out, settings.parallelism);
    } finally {
      await connection.close();
    }
  },
});

async function look(
  context: ConsoleContext,
  { reader }: Connection,
  parallelism: number,
  kinds: ReadonlySet<string>,
  options: Wish,
): Promise<ExportInput> {
  const progress = await progressFor(context);
  const onRead = (event: Parameters<typeof progress.read>[0]) => progress.read(event);
  const live = await listKinds({ registry, reader, kinds, parallelism, onRead }).finally(() =>
    progress.stop(),
  );
  const { builtIn, full, secrets } = options;
  const input = {
    registry: registryIn(registry, dialectFrom(context, options)),
    live,
    kinds,
    builtIn,
    full,
    secrets,
  };
  const only = addressFilter(options.only, exportable(input), "to list the objects, run `workspace export`");
  return only === undefined ? input : { ...input, only };
}

function print(context: ConsoleContext, { host }: Connection, input: ExportInput, options: Wish): number {
  const found = exportSpec(input);
  context.stdout.write(yamlText(found.document, headOf(host)));
  const notes = [...notesOf(found, options)];
  if (found.sources.length > 0)
    notes.push(
      warning(
        "CLI_FILE",
        `the contents of ${count(found.sources.length, "notebook or file", "notebooks and files")} were not written`,
        {
          hint: "write them, and the spec that names them, into a folder: --out FOLDER",
        },
      ),
    );
  printDiagnostics(context, notes);
  return exitOf(notes);
}

async function write(
  context: ConsoleContext,
  { host, reader }: Connection,
  input: ExportInput,
  options: Wish,
  out: string,
  parallelism: number,
): Promise<number> {
  const folder = resolve(context.cwd, out);
  const file = join(folder, DEFAULT_FILE);
  const { force } = options;
  if (!force && existsSync(file)) throw new Failure(existsAlready(join(out, DEFAULT_FILE)));
  const { sources } = exportSpec(input);
  const { failed } = await fetchSources(sources, { folder, reader, parallelism, force });
  const found = exportSpec(withoutThese(input, new Set(failed.keys())));
  writeSpec(file, yamlText(found.document, [...headOf(host), ...SCHEMA_LINES]), force);
  withFileCreation(join(folder, ".gitignore"), "", () => ignoreState(folder));
  const notes = [...notesOf(found, options), ...failed.values(), ...(await doubts(context, options, file))];
  printDiagnostics(context, notes);
  context.stdout.write(
    `Wrote ${count(found.addresses.length, "resource")} to ${join(out, DEFAULT_FILE)}${
      found.sources.length === 0 ? "" : ` and ${count(found.sources.length, "file")} next to it`
    }.\n`,
  );
  // The embedded workspace lies beside a spec, so another folder has another one.
  const there = out === "." ? "" : `cd ${out}; `;
  if (host !== EMBEDDED) context.stdout.write(`Next: ${there}workspace plan --adopt\n`);
  return exitOf(notes);
}

function withoutThese(input: ExportInput, failed: ReadonlySet<Address>): ExportInput {
  const { only } = input;
  return { ...input, only: (address) => !failed.has(address) && only?.(address) !== false };
}

/** What the service holds and a spec cannot say is found by reading what was written. */
async function doubts(
  context: ConsoleContext,
  options: HostOptions,
  file: string,
): Promise<readonly Diagnostic[]> {
  const { diagnostics } = await loadSpec({
    file,
    cwd: context.cwd,
    env: {},
    registry: registryIn(registry, dialectFrom(context, options)),
    secrets: "skip",
    keyed: () => "",
  });
  return diagnostics;
}

function headOf(host: string): readonly string[] {
  return [`Exported from ${host} by workspace ${VERSION}.`];
}

function* notesOf(found: ExportedSpec, options: Wish): Generator<Diagnostic> {
  yield* found.diagnostics;
  if (found.addresses.length === 0 && found.diagnostics.length === 0)
    yield warning("CLI_UNKNOWN_ADDRESS", "the workspace has nothing to export", {
      ...(options.builtIn ? {} : { hint: "to export built-in objects, pass --built-in" }),
    });
  if (found.variables.length > 0)
    yield warning(
      "SPEC_SECRET_SOURCE",
      `plan and apply need these variables: ${found.variables.join(", ")}`,
      {
        hint: "an apply writes their values over the live secrets",
      },
    );
}

function existsAlready(file: string): Diagnostic {
  return error("CLI_FILE", `${file} already exists`, {
    hint: "choose another folder, or write over it with --force",
  });
}
