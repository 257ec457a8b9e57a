// `workspace init`: writes a valid starter spec and a .gitignore line for the state. Overwrites nothing.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DEFAULT_FILE, withFileCreation } from "../../config/files.ts";
import { assertCanIgnoreState, ignoreState, SCHEMA_LINES, writeWholeFile } from "../../config/write-file.ts";
import { listed, shellWord } from "../../core/sentences.ts";
import { printableJson } from "../../report/text/printable.ts";
import { defineCommand } from "../command/command.ts";
import { flagOption, outOption } from "../command/option.ts";

const FIRST_SPEC = `# The desired state of the workspace. To check this file, run \`workspace validate\`.
${SCHEMA_LINES.map((line) => `# ${line}`).join("\n")}

variables:
  env: { default: dev, description: deployment environment }

groups:
  data-eng: {}

scopes:
  etl:
    acls:
      data-eng: READ
    # secrets:
    #   db-password: { env: DB_PASSWORD }    # the variable with the value; only \`apply\` needs it

pools:
  shared:
    node_type_id: Standard_DS3_v2
    max_capacity: 10

clusters:
  adhoc-\${var.env}:
    spark_version: 6.4.x-scala2.11
    instance_pool_id: \${pools.shared.instance_pool_id}
    autoscale: { min_workers: 1, max_workers: 4 }
    autotermination_minutes: 60
`;

export const initCommand = defineCommand({
  options: {
    file: outOption("-f, --file <path>", "spec file to write (default: workspace.yaml)", "is refused"),
    editor: flagOption(
      "--editor",
      "also write the JSON Schema and editor settings, for an existing spec too",
    ),
  },
  async run(context, options) {
    const file = options.file ?? DEFAULT_FILE;
    const path = resolve(context.cwd, file);
    if (options.editor && existsSync(path)) {
      context.stdout.write(`Wrote ${listed(await editorFiles(path))}.\n`);
      return;
    }
    const folder = dirname(path);
    const gitignore = join(folder, ".gitignore");
    withFileCreation(gitignore, "", () => assertCanIgnoreState(folder));
    withFileCreation(path, "name another file with --file", () =>
      writeWholeFile(path, FIRST_SPEC, { over: false }),
    );
    const ignored = withFileCreation(gitignore, "", () => ignoreState(folder));
    context.stdout.write(`Wrote ${file}${ignored ? " and a line into .gitignore" : ""}.\n`);
    if (options.editor) context.stdout.write(`Wrote ${listed(await editorFiles(path))}.\n`);
    const named = options.file === undefined ? "" : ` --file ${shellWord(options.file)}`;
    context.stdout.write(`Next: workspace validate${named}; workspace plan${named} --host embedded\n`);
  },
});

async function editorFiles(spec: string): Promise<readonly string[]> {
  const { writeEditorFiles } = await import("../../workflow/transfer/editor-files.ts");
  const { editorSchema } = await import("../../spec/schema/json-schema.ts");
  const { testFileSchema } = await import("../../spec/testing/test-schema.ts");
  const { registry } = await import("../../providers/index.ts");
  const schemas = {
    spec: `${printableJson(editorSchema(registry), 2)}\n`,
    test: `${printableJson(testFileSchema({ $ref: "workspace.schema.json" }), 2)}\n`,
  };
  return withFileCreation(dirname(spec), "", () => writeEditorFiles(spec, schemas));
}
