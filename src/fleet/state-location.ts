// Whether two workspaces of a fleet have the same state: one state records the objects of one workspace.

import type { FleetWorkspace } from "./model/fleet.ts";

/** The folder of default states and of results, in the folder of the fleet file. */
export const FLEET_FOLDER = ".workspace/fleet";
export const RESULTS_NAME = "results.jsonl";

/** The same text for the same state, however it is written; it contains no password. */
export function stateIdentity(folder: string, workspace: FleetWorkspace): string {
  const { name, host = "", profile = "", state = `${FLEET_FOLDER}/${name}` } = workspace;
  // Two hosts have two workspaces, so the same path is two states.
  if (state.startsWith("workspace:")) return `${host} ${profile} ${state.replace(/\/+$/, "")}`;
  if (!/^postgres(?:ql)?:/i.test(state)) return `file:${pathOf(folder, state)}`;
  const url = URL.parse(state);
  return url === null ? state : `postgres://${url.host}${url.pathname}${url.search}`;
}

function pathOf(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith("/") ? path : `${folder}/${path}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
