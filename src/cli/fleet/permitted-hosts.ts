// WORKSPACE_FLEET_HOSTS: the hosts that the fleet file may name, so that an edited file cannot send a credential elsewhere.

import { parseHost } from "../../api/contract/host.ts";
import type { ProcessEnvironment } from "../../config/environment.ts";
import { EMBEDDED } from "../../config/settings.ts";
import { type Diagnostic, error } from "../../core/diagnostic.ts";
import type { Fleet, FleetWorkspace } from "../../fleet/model/fleet.ts";
import { stateIdentity } from "../../fleet/state-location.ts";
import { isPostgresUrl, parsePostgresUrl } from "../../state/backends/postgres/url.ts";

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
  const [wanted, found] = [pattern.toLowerCase().replace(/^https:\/\//, ""), host.toLowerCase()];
  if (!wanted.startsWith("*.")) return wanted === found;
  return found.endsWith(wanted.slice(1)) && !found.includes("/");
}

function refused(what: string): Diagnostic {
  return error("FLEET_HOST", `${what} is not permitted by ${FLEET_HOSTS}`, {
    hint: `change the fleet file, or add the host to ${FLEET_HOSTS} if credentials may be sent there`,
  });
}
