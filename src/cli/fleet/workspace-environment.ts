// The environment for the run of one workspace, and WORKSPACE_FLEET_HOSTS, which limits the hosts of a fleet file.

import { resolve } from "node:path";
import { parseHost } from "../../api/auth/endpoints.ts";
import type { ProcessContext, ProcessEnvironment } from "../../config/environment.ts";
import { EMBEDDED } from "../../config/settings.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Fleet, FleetWorkspace } from "../../fleet/model/fleet.ts";
import { stateIdentity } from "../../fleet/model/fleet.ts";
import { isPostgresUrl, parsePostgresUrl } from "../../state/backends/postgres/database.ts";

/** Connections and credentials of the caller: a workspace gets only those that the fleet file names for it. */
const CONNECTION = /^(?:WORKSPACE_|DATABRICKS_|ARM_)/;

/** Variables that are neither. */
const SHARED: ReadonlySet<string> = new Set([
  "WORKSPACE_ACTOR",
  "WORKSPACE_COMMIT",
  "WORKSPACE_RUN_URL",
  "WORKSPACE_PARALLELISM",
  "WORKSPACE_READ_TIMEOUT",
  "WORKSPACE_DEBUG",
]);

/** Paths of the caller. A run starts in another folder, so they become absolute. */
const SHARED_PATHS = ["WORKSPACE_CA_FILE", "WORKSPACE_CONFIG_FILE"] as const;

/** The rules that every plan must meet are the caller's: no fleet file replaces them. */
const RULES = "WORKSPACE_RULES";

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

const FLEET_HOSTS = "WORKSPACE_FLEET_HOSTS";

/** Undefined if the workspace and its state are where they may be, or if the variable is not set. Throws Failure for an invalid host. */
export function hostProblem(
  env: ProcessEnvironment,
  { folder }: Pick<Fleet, "folder">,
  workspace: FleetWorkspace,
): Diagnostic | undefined {
  const listed = env[FLEET_HOSTS];
  if (listed === undefined || listed.trim() === "") return undefined;
  const patterns = listed.split(/[\s,]+/).filter((pattern) => pattern !== "");
  const isPermitted = (host: string): boolean => patterns.some((pattern) => matches(pattern, host));
  const { host, state } = workspace;
  if (host !== undefined && host !== EMBEDDED) {
    const { origin } = parseHost(host);
    const shown = origin.replace(/^https:\/\//, "");
    if (!isPermitted(shown)) return refused(`the host ${shown}`);
  }
  if (state === undefined || state.startsWith("workspace:")) return undefined;
  if (!isPostgresUrl(state))
    return stateIdentity(folder, workspace).startsWith(`file:${folder}/`)
      ? undefined
      : refused("a state outside the folder of the fleet file");
  const database = parsePostgresUrl(state, "state", env);
  const place = `${database.host ?? ""}${database.port === 5432 ? "" : `:${database.port}`}`;
  return isPermitted(place) ? undefined : refused(`the host ${place} of the state`);
}

/** `*.example.com` is every name below example.com. Plain http is permitted only where the pattern says it. */
function matches(pattern: string, host: string): boolean {
  const [lowerPattern, lowerHost] = [pattern.toLowerCase().replace(/^https:\/\//, ""), host.toLowerCase()];
  if (!lowerPattern.startsWith("*.")) return lowerPattern === lowerHost;
  return lowerHost.endsWith(lowerPattern.slice(1)) && !lowerHost.includes("/");
}

const HINT = `change the fleet file, or add the host to ${FLEET_HOSTS} if credentials may be sent there`;

function refused(what: string): Diagnostic {
  return error("FLEET_HOST", `${what} is not permitted by ${FLEET_HOSTS}`, { hint: HINT });
}
