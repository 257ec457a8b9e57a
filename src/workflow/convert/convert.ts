// A Terraform state as a spec: objects as an export has them, with an import entry for each. Reads no workspace.

import { registry as everyKind } from "../../providers/index.ts";
import { registryIn } from "../../resource/dialect-view.ts";
import type { FieldDialect } from "../../resource/field-schema.ts";
import type { Live } from "../../resource/live.ts";
import { type DocumentMember, type ExportedSpec, exportSpec } from "../../spec/export/document.ts";
import { type ContentFolders, contentKey, findContents } from "./contents.ts";
import { ConversionLog, type ConvertedObjects, type ConvertedResource, convertedKey } from "./conversion.ts";
import { convertedObjects } from "./objects.ts";
import type { TerraformInstance } from "./terraform-state.ts";

export interface Conversion {
  readonly document: readonly DocumentMember[];
  /** Files to write into the spec's folder. */
  readonly files: readonly { readonly path: string; bytes(): Uint8Array }[];
  readonly converted: readonly ConvertedResource[];
  /** Environment variables that the secrets of the spec need. */
  readonly variables: readonly string[];
  /** Managed resources of the state. */
  readonly resources: number;
  readonly log: ConversionLog;
}

export function convertTerraform(
  instances: readonly TerraformInstance[],
  cloud: FieldDialect["cloud"],
  folders: ContentFolders,
): Conversion {
  const registry = registryIn(everyKind, { dialect: "databricks", cloud });
  const log = new ConversionLog(instances.map(({ at }) => at));
  const all = convertedObjects(instances, registry, log);
  const { objects, contents } = findContents(all, registry, folders, log);
  const found = exportSpec({
    registry,
    live: liveOf(objects),
    kinds: new Set(registry.kinds.map(({ kind }) => kind)),
    builtIn: true,
    full: false,
    secrets: true,
    imports: true,
    sourceAt: (one) => contents.get(contentKey(one))?.path,
  });
  return {
    document: found.document,
    files: found.sources.flatMap(({ of, path }) => {
      const content = contents.get(contentKey(of));
      return content === undefined || content.path !== undefined ? [] : [{ path, bytes: content.bytes }];
    }),
    converted: convertedIn(found, objects),
    variables: found.variables,
    resources: instances.filter(({ managed }) => managed).length,
    log,
  };
}

function liveOf(objects: ConvertedObjects): Live {
  const kinds = Map.groupBy(objects.values(), ({ kind }) => kind);
  return new Map(
    [...kinds].map(([kind, ones]) => [
      kind,
      { readable: true, objects: ones.map(({ live }) => live), unreadableParents: new Map() },
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

/** The cloud whose attributes the state has; Azure if it has none. */
export function cloudOf(instances: readonly TerraformInstance[]): FieldDialect["cloud"] {
  const names = new Set(
    instances.flatMap(({ values }) =>
      (["azure", "aws", "gcp"] as const).filter((cloud) => hasBlock(values[`${cloud}_attributes`])),
    ),
  );
  if (names.has("azure")) return "azure";
  return names.has("aws") ? "aws" : names.has("gcp") ? "gcp" : "azure";
}

const hasBlock = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
