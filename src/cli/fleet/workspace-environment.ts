// The environment of a run of one workspace: what the caller shares with every run, and the variables that the fleet file names.

import { resolve } from "node:path";
import type { ProcessContext, ProcessEnvironment } from "../../config/environment.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Fleet, FleetWorkspace } from "../../fleet/model/fleet.ts";

/** Connections and credentials of the caller: a workspace gets only those that the fleet file names for it. */
const CONNECTION = /^(?:WORKSPACE_|DATABRICKS_|ARM_)/;

/** Variables that are neither. */
const SHARED: ReadonlySet<string> = new Set([
  "WORKSPACE_ACTOR",
  "WORKSPACE_COMMIT",
  "WORKSPACE_RUN_URL",
  "WORKSPACE_PARALLELISM",
  "WORKSPACE_DEBUG",
]);

/** Paths of the caller. A run starts in another folder, so they become absolute. */
const SHARED_PATHS = ["WORKSPACE_CA_FILE", "WORKSPACE_CONFIG_FILE"] as const;

/** The rules that every plan must meet are the caller's: no fleet file replaces them. */
const RULES = "WORKSPACE_RULES";

/** The environment of a run, and the variables that it names and that are not set. */
export function environmentOf(
  { env: outer, cwd }: Pick<ProcessContext, "env" | "cwd">,
  fleet: Fleet,
  workspace: FleetWorkspace,
): { readonly env: ProcessEnvironment; readonly missing: readonly Diagnostic[] } {
  const sources = new Set(fleet.workspaces.flatMap(({ environment }) => Object.values(environment)));
  const shared = Object.entries(outer).filter(
    ([name]) => !sources.has(name) && (SHARED.has(name) || !CONNECTION.test(name)),
  );
  const pathOf = (name: string): readonly (readonly [string, string])[] => {
    const path = outer[name];
    return path === undefined || path === "" ? [] : [[name, resolve(cwd, path)]];
  };
  const own = Object.entries(workspace.environment).map(([name, source]) => [name, outer[source]] as const);
  // An empty variable counts as unset, and the sign-in would use another credential of the caller.
  const missing = Object.values(workspace.environment).filter((source) => !outer[source]);
  return {
    env: Object.fromEntries([...shared, ...SHARED_PATHS.flatMap(pathOf), ...own, ...pathOf(RULES)]),
    missing: missing.map(unsetVariable),
  };
}

function unsetVariable(name: string): Diagnostic {
  return error("FLEET_VARIABLE", `the environment variable ${name} is not set`, {
    hint: `set ${name}, or change environment in the fleet file`,
  });
}
