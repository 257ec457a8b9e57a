// Converts a Terraform state to a spec with contents and an import entry for each object. Reads no workspace.

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { CommandContext } from "../../config/environment.ts";
import { DEFAULT_FILE, inputName, readCommandInput, withFileCreation } from "../../config/files.ts";
import { assertCanIgnoreState, ignoreState } from "../../config/write-file.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { listIn, type YamlMember } from "../../core/json.ts";
import { registry as everyKind } from "../../providers/index.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import type { FieldDialect } from "../../resource/field-schema.ts";
import type { Registry } from "../../resource/kind.ts";
import type { Live } from "../../resource/live.ts";
import { omittedObjects } from "../../spec/export/addresses.ts";
import { type ExportedSpec, exportSpec } from "../../spec/export/document.ts";
import { existsAlready, problemsOfExport, writeExported } from "../transfer/export.ts";
import { type ContentFolders, contentKey, findContents } from "./contents.ts";
import { convertedObjects } from "./convert-resources.ts";
import {
  ConversionLog,
  type ConvertedObjects,
  type ConvertedResource,
  convertedKey,
  expressionOf,
  TERRAFORM_LIMITS,
  type TerraformInstance,
  type TerraformState,
  terraformState,
  variableIn,
} from "./terraform-state.ts";

export interface Conversion {
  readonly document: readonly YamlMember[];
  readonly files: readonly { readonly path: string; bytes(): Uint8Array }[];
  readonly converted: readonly ConvertedResource[];
  /** Environment variables of secrets. */
  readonly variables: readonly string[];
  /** Environment variables of values that Terraform marks as sensitive. */
  readonly sensitiveVariables: readonly string[];
  readonly resources: number;
  readonly log: ConversionLog;
}

export function convertTerraform(
  state: TerraformState,
  cloud: FieldDialect["cloud"],
  folders: ContentFolders,
): Conversion {
  const { instances } = state;
  const registry = registryIn(everyKind, { dialect: "databricks", cloud });
  const log = new ConversionLog(state);
  const all = convertedObjects(instances, registry, log);
  const { objects, contents } = findContents(all, registry, folders, log);
  const used = new Set<string>();
  const exportedSpec = exportSpec({
    registry,
    live: liveOf(objects),
    kinds: new Set(registry.kinds.map(({ kind }) => kind)),
    builtIn: true,
    full: false,
    secrets: true,
    managed: true,
    expressionOf(text) {
      const expression = expressionOf(text);
      if (expression !== undefined) used.add(variableIn(expression));
      return expression;
    },
    sourceAt: (exportedObject) => contents.get(contentKey(exportedObject))?.path,
  });
  leaveOmitted(exportedSpec, objects, registry, log);
  const declared = [...log.variables].filter(([name]) => used.has(name));
  return {
    document: [...declarations(declared), ...exportedSpec.document],
    files: exportedSpec.sources.flatMap(({ of, path }) => {
      const content = contents.get(contentKey(of));
      return content === undefined || content.path !== undefined ? [] : [{ path, bytes: content.bytes }];
    }),
    converted: convertedIn(exportedSpec, objects),
    variables: exportedSpec.variables,
    sensitiveVariables: declared.map(([name]) => `WORKSPACE_VAR_${name}`),
    resources: instances.filter(({ managed }) => managed).length,
    log,
  };
}

/** The variables of a spec, each with the attribute that it replaces. */
function declarations(variables: readonly (readonly [name: string, attribute: string])[]): YamlMember[] {
  const members = variables.map(([key, description]) => ({
    key,
    value: { type: "string", sensitive: true, description },
  }));
  return members.length === 0 ? [] : [{ key: "variables", members }];
}

function liveOf(objects: ConvertedObjects): Live {
  const kinds = Map.groupBy(objects.values(), ({ kind }) => kind);
  return new Map(
    [...kinds].map(([kind, ofKind]) => [
      kind,
      { readable: true, objects: ofKind.map(({ live }) => live), unreadableParents: new Map() },
    ]),
  );
}

function convertedIn(
  { objects: exported }: ExportedSpec,
  objects: ConvertedObjects,
): readonly ConvertedResource[] {
  return exported.flatMap(({ provider, live, address }) => {
    const terraform = objects.get(convertedKey(provider.kind, live.id))?.instance.address;
    return terraform === undefined ? [] : [{ terraform, address, id: live.id }];
  });
}

/** Reports the objects that the export omits, except instances with another object in the spec. */
function leaveOmitted(
  { objects: exported }: ExportedSpec,
  objects: ConvertedObjects,
  registry: Registry,
  log: ConversionLog,
): void {
  const instanceOf = (kind: string, id: string) => objects.get(convertedKey(kind, id))?.instance;
  const written = new Set(exported.map(({ provider, live }) => instanceOf(provider.kind, live.id)));
  for (const [kind, ofKind] of Map.groupBy(objects.values(), ({ kind }) => kind)) {
    const omitted = omittedObjects(
      registry.get(kind),
      ofKind.map(({ live }) => live),
    );
    for (const { live, instance } of ofKind) {
      const reason = omitted.get(live);
      if (reason !== undefined && !written.has(instance)) log.leave(instance, reason);
    }
  }
}

/** The cloud whose attributes the state has; Azure if it has none. */
export function cloudOf(instances: readonly TerraformInstance[]): FieldDialect["cloud"] {
  const isNamed = (cloud: string): boolean =>
    instances.some(({ values }) => listIn(values[`${cloud}_attributes`]).length > 0);
  return (["azure", "aws", "gcp"] as const).find(isNamed) ?? "azure";
}

interface ConvertOptions {
  /** The folder to write to; undefined only returns the spec. */
  readonly out: string | undefined;
  /** The folder of the Terraform configuration, if it is not that of the state. */
  readonly sources: string | undefined;
  readonly force: boolean;
  readonly cloud: FieldDialect["cloud"] | undefined;
}

export interface ConvertedFile {
  readonly conversion: Conversion;
  readonly yaml: string;
  /** The spec and the contents next to it, relative to the folder. */
  readonly written: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

/** `file`: a path, or `-` for stdin. Throws Failure with CLI_FILE or CONVERT_STATE. */
export async function convertFile(
  context: Pick<CommandContext, "cwd" | "stdin">,
  file: string,
  options: ConvertOptions,
  textOf: (conversion: Conversion) => string,
): Promise<ConvertedFile> {
  const { out, force, sources } = options;
  const folder = resolve(context.cwd, out ?? ".");
  const spec = join(folder, DEFAULT_FILE);
  if (out !== undefined && !force && existsSync(spec)) throw existsAlready(join(out, DEFAULT_FILE));
  const input = await readCommandInput(context, file, { maxBytes: TERRAFORM_LIMITS.bytes });
  const state = terraformState(input.toString("utf8"), inputName(file));
  const configuration = resolve(context.cwd, sources ?? (file === "-" ? "." : dirname(file)));
  const cloud = options.cloud ?? cloudOf(state.instances);
  const conversion = convertTerraform(state, cloud, { configuration, spec: folder });
  const yaml = textOf(conversion);
  if (out === undefined) return { conversion, yaml, written: [], diagnostics: [] };
  const described = registryIn(everyKind, { dialect: "databricks", cloud });
  return {
    conversion,
    yaml,
    written: write(folder, conversion, yaml, force),
    // Their values are not known here.
    diagnostics: (await problemsOfExport(context, spec, described)).filter(
      ({ code }) => code !== "SPEC_VARIABLE",
    ),
  };
}

/** The contents first, and the spec that names them last. */
function write(folder: string, { files }: Conversion, yaml: string, force: boolean): readonly string[] {
  withFileCreation(join(folder, ".gitignore"), "", () => assertCanIgnoreState(folder));
  for (const { path, bytes } of files) writeExported(folder, path, bytes(), force);
  writeExported(folder, DEFAULT_FILE, yaml, force);
  withFileCreation(join(folder, ".gitignore"), "", () => ignoreState(folder));
  return [DEFAULT_FILE, ...files.map(({ path }) => path)];
}
