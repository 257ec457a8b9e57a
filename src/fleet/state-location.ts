// Checks whether two workspaces of a fleet have the same state: a state can record the objects of only one workspace.

import { isPostgresUrl, parsePostgresUrl } from "../state/backends/postgres/database.ts";
import { type FleetWorkspace, originOf } from "./model/fleet.ts";

/** The folder of default states and of results, in the folder of the fleet file. */
export const FLEET_FOLDER = ".workspace/fleet";
export const RESULTS_NAME = "results.jsonl";

/** The same text for the same state, however its location and its host are written; it contains no password. */
export function stateIdentity(
  folder: string,
  workspace: FleetWorkspace,
  target = workspace.target ?? "default",
): string {
  const { name, state = `${FLEET_FOLDER}/${name}` } = workspace;
  // Two hosts have two workspaces, so the same path is two states.
  if (state.startsWith("workspace:")) return `${hostOf(folder, workspace)} ${state.replace(/\/+$/, "")}`;
  return isPostgresUrl(state) ? rowOf(state, name, target) : `file:${pathOf(folder, state)}`;
}

function hostOf(folder: string, workspace: FleetWorkspace): string {
  const { host, profile = "", spec } = workspace;
  // The data of the embedded workspace is next to the spec.
  if (host === "embedded") return `${host} ${pathOf(folder, spec.replace(/[^/]*\.ya?ml$/, ""))}`;
  return host === undefined ? profile : originOf(host);
}

/** An invalid URL identifies no state, so it is different for each workspace. */
function rowOf(url: string, name: string, target: string): string {
  try {
    const { host = "", port, database = "", schema, state } = parsePostgresUrl(url, target, {});
    return `postgres://${host.toLowerCase()}:${port}/${database}?schema=${schema}&state=${state}`;
  } catch {
    return `the invalid URL of ${name}`;
  }
}

function pathOf(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${folder}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
