// Converts a Terraform state from a file or a stream, and writes the spec with its contents into a folder.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { CommandContext } from "../../config/environment.ts";
import { DEFAULT_FILE, withFileCreation } from "../../config/files.ts";
import { inputName, readCommandInput } from "../../config/input-file.ts";
import { type Diagnostic, Failure } from "../../core/diagnostic.ts";
import { registry } from "../../providers/index.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import type { FieldDialect } from "../../resource/field-schema.ts";
import { writeContent, writeSpec, writtenProblems } from "../transfer/export.ts";
import { existsAlready } from "../transfer/export-folder.ts";
import { ignoreState } from "../transfer/new-folder.ts";
import { type Conversion, cloudOf, convertTerraform } from "./convert.ts";
import { TERRAFORM_LIMITS, terraformInstances } from "./terraform-state.ts";

export interface ConvertOptions {
  /** The folder to write to; undefined only returns the spec. */
  readonly out: string | undefined;
  /** The folder of the Terraform configuration, if it is not that of the state. */
  readonly sources: string | undefined;
  readonly force: boolean;
  readonly cloud: FieldDialect["cloud"] | undefined;
}

export interface ConvertedFile {
  readonly found: Conversion;
  readonly yaml: string;
  /** The spec and the contents next to it, relative to the folder. */
  readonly written: readonly string[];
  /** Problems of the spec that was written. */
  readonly diagnostics: readonly Diagnostic[];
}

/** `file`: a path, or `-` for stdin. Throws Failure with CLI_FILE or CONVERT_STATE. */
export async function convertFile(
  context: Pick<CommandContext, "cwd" | "stdin">,
  file: string,
  options: ConvertOptions,
  textOf: (found: Conversion) => string,
): Promise<ConvertedFile> {
  const { out, force, sources } = options;
  const folder = resolve(context.cwd, out ?? ".");
  const spec = join(folder, DEFAULT_FILE);
  if (out !== undefined && !force && existsSync(spec))
    throw new Failure(existsAlready(join(out, DEFAULT_FILE)));
  const state = await readCommandInput(context, file, { maxBytes: TERRAFORM_LIMITS.bytes });
  const instances = terraformInstances(state.toString("utf8"), inputName(file));
  const configuration = resolve(context.cwd, sources ?? (file === "-" ? "." : dirname(file)));
  const cloud = options.cloud ?? cloudOf(instances);
  const found = convertTerraform(instances, cloud, { configuration, spec: folder });
  const yaml = textOf(found);
  if (out === undefined) return { found, yaml, written: [], diagnostics: [] };
  const described = registryIn(registry, { dialect: "databricks", cloud });
  return {
    found,
    yaml,
    written: write(folder, found, yaml, force),
    diagnostics: await writtenProblems(context, spec, described),
  };
}

/** The contents first, and the spec that names them last. */
function write(folder: string, { files }: Conversion, yaml: string, force: boolean): readonly string[] {
  for (const { path, bytes } of files) writeContent(join(folder, path), bytes(), force);
  writeSpec(join(folder, DEFAULT_FILE), yaml, force);
  withFileCreation(join(folder, ".gitignore"), "", () => ignoreState(folder));
  return [DEFAULT_FILE, ...files.map(({ path }) => path)];
}
