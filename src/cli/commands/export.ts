// `workspace export`: writes the workspace as a spec whose plan has no changes. Read-only.

import { join } from "node:path";
import { DEFAULT_FILE } from "../../config/files.ts";
import { EMBEDDED, settingsOf } from "../../config/settings.ts";
import { VERSION } from "../../config/version.ts";
import { SCHEMA_LINES } from "../../config/write-file.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { count, shellWord } from "../../core/sentences.ts";
import { registry } from "../../providers/index.ts";
import { printable } from "../../report/text/printable.ts";
import { yamlText } from "../../report/text/yaml.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import { type ExportedSpec, type ExportInput, exportSpec } from "../../spec/export/document.ts";
import { type Connection, connect, readLimitOf } from "../../workflow/session/connect.ts";
import {
  assertCanExport,
  exportNotes,
  exportToFolder,
  type FolderExport,
  kindsNamed,
  lossesText,
  readForExport,
  unwrittenContents,
} from "../../workflow/transfer/export.ts";
import { type ConsoleContext, defineCommand } from "../command/command.ts";
import { EXIT, exitOf } from "../command/exit-codes.ts";
import { flagOption, outOption, textsOption, type ValuesOf } from "../command/option.ts";
import { HOST_OPTIONS, READ_TIMEOUT_OPTION, SPEC_OPTIONS } from "../command/shared-options.ts";
import { printDiagnostics, progressFor } from "../output/diagnostics.ts";

const OPTIONS = {
  kinds: textsOption("--kinds <names>", "limit to these kinds, such as pools,clusters; repeatable"),
  only: textsOption("--only <address-glob>", "limit to these addresses; repeatable"),
  out: outOption(
    "--out <folder>",
    "write workspace.yaml and its content files to this folder (default: stdout)",
  ),
  secrets: flagOption("--secrets", "declare an environment variable as the source of each secret"),
  full: flagOption("--full", "include default values, states, and values set by the service"),
  builtIn: flagOption("--built-in", "include built-in objects, such as the groups admins and users"),
  force: flagOption("--force", "overwrite existing files"),
  file: SPEC_OPTIONS.file,
  ...HOST_OPTIONS,
  ...READ_TIMEOUT_OPTION,
} as const;

type ExportOptions = ValuesOf<typeof OPTIONS>;

export const exportCommand = defineCommand({
  options: OPTIONS,
  notes: `To manage the exported objects, run \`workspace plan --adopt\` and \`workspace apply --adopt\` in the folder.\nExit codes: 0 everything is in the spec, 1 error, 2 the spec lacks fields or objects that it cannot express.`,
  async run(context, options) {
    const settings = settingsOf(context, options);
    printDiagnostics(context, settings.warnings);
    const kinds = kindsNamed(registryIn(registry, settings.dialect), options.kinds);
    const { embeddedFolder } = context;
    const { out, force } = options;
    if (out !== undefined) assertCanExport(context, { out, force });
    const readLimit = readLimitOf(context.readTimeoutMs());
    const connection = await connect({ settings, embeddedFolder, readLimit });
    try {
      const { parallelism, dialect } = settings;
      const input = await readLimit.during(async () => {
        const progress = await progressFor(context);
        return readForExport(connection, { ...options, parallelism, kinds, dialect }, (event) =>
          progress.read(event),
        ).finally(() => progress.stop());
      });
      return options.out === undefined
        ? print(context, connection, input, options)
        : await write(context, connection, input, {
            ...options,
            out: options.out,
            parallelism,
            readLimit,
            dialect,
          });
    } finally {
      await connection.close();
    }
  },
});

function print(context: ConsoleContext, connection: Connection, input: ExportInput, options: ExportOptions) {
  const exportedSpec = exportSpec(input);
  context.stdout.write(yamlText(exportedSpec.document, [headOf(connection)]));
  const notes = [...exportNotes(exportedSpec, options.builtIn), ...unwrittenContents(exportedSpec)];
  printDiagnostics(context, notes);
  context.stderr.write(lossesText(exportedSpec));
  return exitOfExport(exportedSpec, notes);
}

async function write(
  context: ConsoleContext,
  connection: Connection,
  input: ExportInput,
  folder: FolderExport,
): Promise<number> {
  const { exported: exportedSpec, diagnostics } = await exportToFolder(
    context,
    connection,
    input,
    folder,
    ({ document }) => yamlText(document, [headOf(connection), ...SCHEMA_LINES]),
  );
  printDiagnostics(context, diagnostics);
  const files =
    exportedSpec.sources.length === 0 ? "" : ` and ${count(exportedSpec.sources.length, "file")} next to it`;
  context.stdout.write(
    `Wrote ${count(exportedSpec.addresses.length, "resource")} to ${join(folder.out, DEFAULT_FILE)}${files}.\n${lossesText(exportedSpec)}`,
  );
  // Each folder has its own embedded workspace.
  const there = folder.out === "." ? "" : `cd ${shellWord(printable(folder.out))}; `;
  if (connection.host !== EMBEDDED) context.stdout.write(`Next: ${there}workspace plan --adopt\n`);
  return exitOfExport(exportedSpec, diagnostics);
}

/** An export that lost something succeeded, but a script must be able to tell. */
function exitOfExport({ losses }: ExportedSpec, diagnostics: readonly Diagnostic[]): number {
  const isWhole = losses.fields === 0 && losses.objects === 0;
  return exitOf(diagnostics) || (isWhole ? EXIT.ok : EXIT.changes);
}

const headOf = ({ host }: Connection): string => `Exported from ${host} by workspace ${VERSION}.`;
