// Libraries of clusters: what is to be installed, and how far it is. The contract has none of these calls; a dialect has.

import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json, type JsonObject, listIn } from "../../core/json.ts";
import type { Call, Collection, Operations, World } from "../world/world.ts";
import { policyById } from "./admin/cluster-policies.ts";
import { type Cluster, clusterById, clusterOr400, isRunning } from "./clusters/cluster.ts";

interface Installed {
  readonly library: JsonObject;
  /** Installed by the policy of the cluster, at its last start. */
  readonly of_policy?: true;
  /** When it was asked to go; it stays until the cluster restarts. */
  readonly leaving_since?: number;
}

const librariesOf = (world: World): Collection<readonly Installed[]> => world.collection("libraries");

export const libraryOperations: Operations = {
  "libraries/install": install,
  "libraries/uninstall": uninstall,
  "libraries/cluster-status": ({ input }, world) => {
    clusterOr400(world, String(input.cluster_id));
    return { json: statusesOf(world, String(input.cluster_id)) };
  },
  "libraries/all-cluster-statuses": (_call, world) => {
    const ids = [...librariesOf(world).keys()].filter((id) => clusterById(world, id) !== undefined);
    return { json: ids.length === 0 ? {} : { statuses: ids.map((id) => statusesOf(world, id)) } };
  },
};

function install(call: Call, world: World): void {
  const id = String(call.input.cluster_id);
  clusterOr400(world, id);
  const wanted = requestedLibraries(call);
  const keys = new Set(wanted.map(canonicalJson));
  const others = installedOn(world, id).filter(({ library }) => !keys.has(canonicalJson(library)));
  librariesOf(world).set(id, [...others, ...wanted.map((library) => ({ library }))]);
}

/** A cluster that starts gets the libraries of its policy, and loses those that the policy no longer has. */
export function installPolicyLibraries(world: World, { cluster_id: id, attributes }: Cluster): void {
  const { libraries } = policyById(world, String(attributes.extra?.policy_id)) ?? {};
  const own = installedOn(world, id).filter(({ of_policy }) => of_policy !== true);
  const keys = new Set(own.map(({ library }) => canonicalJson(library)));
  const added = listIn(libraries)
    .filter(isObject)
    .filter((library) => !keys.has(canonicalJson(library)))
    .map((library) => ({ library, of_policy: true }) as const);
  if (added.length + own.length > 0 || librariesOf(world).has(id))
    librariesOf(world).set(id, [...own, ...added]);
}

/** On a cluster that does not run, a library is removed at once. */
function uninstall(call: Call, world: World): void {
  const id = String(call.input.cluster_id);
  const up = isRunning(clusterOr400(world, id));
  const keys = new Set(requestedLibraries(call).map(canonicalJson));
  const after = installedOn(world, id).flatMap((installed): Installed[] => {
    if (!keys.has(canonicalJson(installed.library))) return [installed];
    return up ? [{ ...installed, leaving_since: world.now }] : [];
  });
  librariesOf(world).set(id, after);
}

function requestedLibraries({ input }: Call): readonly JsonObject[] {
  return input.libraries as readonly JsonObject[];
}

/** Without those that went when the cluster restarted or ended. */
function installedOn(world: World, id: string): readonly Installed[] {
  const cluster = clusterById(world, id);
  return (librariesOf(world).get(id) ?? []).filter(
    ({ leaving_since: since }) =>
      since === undefined || (cluster !== undefined && isRunning(cluster) && cluster.nodes_since <= since),
  );
}

function statusesOf(world: World, id: string): JsonObject {
  const cluster = clusterById(world, id);
  const up = cluster !== undefined && isRunning(cluster);
  const statuses = installedOn(world, id).map(({ library, leaving_since }): Json => {
    const problem = up && leaving_since === undefined ? failureOf(library, cluster) : undefined;
    const state = leaving_since !== undefined ? "UNINSTALL_ON_RESTART" : up ? "INSTALLED" : "PENDING";
    return {
      library,
      ...(problem === undefined ? { status: state } : { status: "FAILED", messages: [problem] }),
      is_library_for_all_clusters: false,
    };
  });
  return { cluster_id: id, ...(statuses.length === 0 ? {} : { library_statuses: statuses }) };
}

/** The last major version of the runtime that installs eggs. */
const LAST_WITH_EGGS = 13;

function failureOf(library: JsonObject, { attributes }: Cluster): string | undefined {
  const { spark_version: version } = attributes;
  const major = Number(/^\d+/.exec(version)?.[0] ?? 0);
  return library.egg !== undefined && major > LAST_WITH_EGGS
    ? `Libraries of type egg cannot be installed on ${version}.`
    : undefined;
}
