// Libraries of clusters of a Terraform state that are resources of their own, as `libraries` of their cluster.

import { type JsonObject, listIn, omit } from "../../core/json.ts";
import { withoutEqualLibraries } from "../../providers/clusters/libraries.ts";
import type { Registry } from "../../resource/kind.ts";
import { blocks, convertAttributes, textAttribute } from "./attributes.ts";
import {
  type ConversionLog,
  type ConvertedObjects,
  convertedKey,
  type TerraformInstance,
} from "./terraform-state.ts";

export const LIBRARY = "databricks_library";

const AUTHORITATIVE =
  "its list of libraries is authoritative: the plan uninstalls libraries that Terraform did not manage";

/** The objects with the libraries that the instances contain, each once. */
export function withConvertedLibraries(
  objects: ConvertedObjects,
  instances: readonly TerraformInstance[],
  registry: Registry,
  log: ConversionLog,
): ConvertedObjects {
  const result = new Map(objects);
  const { libraries = {} } = registry.get("clusters").fields;
  for (const instance of instances) {
    const { values } = instance;
    const key = convertedKey("clusters", textAttribute(values, "cluster_id") ?? "");
    const cluster = result.get(key);
    if (cluster === undefined) {
      log.leave(instance, "its cluster is not in the state");
      continue;
    }
    const attributes: JsonObject = omit(values, ["id", "cluster_id", "provider_config"]);
    const converted = convertAttributes(
      { libraries },
      { libraries: [attributes] },
      (path) => log.variable(instance, path.slice(2)),
      log.secrets,
    );
    if (converted.unmanageable !== undefined) {
      log.leave(instance, converted.unmanageable);
      continue;
    }
    for (const { path, reason } of converted.left) log.leaveAttribute(instance, path.slice(2), reason);
    const before = blocks(cluster.live.values.libraries);
    const added = withoutEqualLibraries(blocks(converted.values.libraries), before);
    const all = [...before, ...added];
    result.set(key, {
      ...cluster,
      live: { ...cluster.live, values: { ...cluster.live.values, libraries: all } },
    });
  }
  for (const { kind, live, instance } of result.values())
    if (kind === "clusters" && listIn(live.values.libraries).length > 0) log.note(instance, AUTHORITATIVE);
  return result;
}
