// A fleet: named workspaces, each with a spec, a connection, labels, and a state, which can record the objects of only one workspace.

import { isPostgresUrl, parsePostgresUrl } from "../../state/backends/postgres/database.ts";

/** One workspace of a fleet. Relative paths are relative to the folder of the fleet file. */
export interface FleetWorkspace {
  readonly name: string;
  readonly spec: string;
  readonly target?: string;
  readonly host?: string;
  readonly profile?: string;
  /** State location, as `--state` takes it; the default is `.workspace/fleet/NAME` in the folder of the fleet file. */
  readonly state?: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Environment variables of the run, each with the name of the variable that has its value. Never a value. */
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** When `fleet run` and `fleet schedule` check the workspace for drift: five fields of cron. */
  readonly schedule?: Schedule;
  readonly timeoutMs: number;
  /** Limit of the memory of a run, in MB; the worker has one for every other workspace. */
  readonly memoryMb?: number;
  /** When no run of the workspace starts through the queue. */
  readonly maintenance?: readonly Window[];
}

/** From each time of the schedule on, for this long. */
export interface Window extends Schedule {
  readonly durationMs: number;
}

/** At most `runs` runs at the same time of the workspaces that have the label, or of each host. */
export interface RunLimit {
  readonly of: "per_host" | { readonly label: string; readonly value: string };
  readonly runs: number;
}

/** The queue expires every job after a day. */
export const LONGEST_TIMEOUT_MS = 23 * 3_600_000;

export interface Schedule {
  readonly cron: string;
  /** An IANA time zone; UTC unless set. */
  readonly timezone: string;
  /** A check starts at most this long after its time; each workspace at its own moment, so that not all start at once. */
  readonly jitterMs?: number;
}

export interface Fleet {
  /** Absolute path of the folder that contains the fleet file. */
  readonly folder: string;
  /** In the order of their names. */
  readonly workspaces: readonly FleetWorkspace[];
  /** In the order of the file; each one that fits a workspace counts it. */
  readonly limits?: readonly RunLimit[];
}

export interface LimitGroup {
  readonly id: string;
  readonly tier: string;
  readonly runs: number;
}

/** The groups in which a workspace is counted, one for each limit that fits it. */
export function limitGroups(
  { host, profile, labels }: Pick<FleetWorkspace, "host" | "profile" | "labels">,
  limits: readonly RunLimit[],
): readonly LimitGroup[] {
  return limits.flatMap(({ of, runs }) => {
    if (of === "per_host") {
      const id = host === undefined ? `profile ${profile ?? ""}` : `host ${originOf(host)}`;
      return [{ id, tier: "per_host", runs }];
    }
    if (!Object.hasOwn(labels, of.label) || labels[of.label] !== of.value) return [];
    const tier = `${of.label}=${of.value}`;
    return [{ id: tier, tier, runs }];
  });
}

/** The same text for every spelling of a host. */
export function originOf(host: string): string {
  const url = URL.parse(host.includes("://") ? host : `https://${host}`);
  return url === null ? host : `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

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

/** Whether the name of a variable says that its value is a credential. Other settings, such as `KEY_MODE`, have ordinary words. */
export const isNameOfCredential = (name: string): boolean => /(?:token|secret|password|key)$/i.test(name);
