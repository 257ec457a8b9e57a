// A fleet: named workspaces, each with a spec, a connection, and labels.

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
}

/** The queue expires every job after a day. */
export const LONGEST_TIMEOUT_MS = 23 * 3_600_000;

export interface Schedule {
  readonly cron: string;
  /** An IANA time zone; UTC unless set. */
  readonly timezone: string;
}

export interface Fleet {
  /** Absolute path of the folder that contains the fleet file. */
  readonly folder: string;
  /** In the order of their names. */
  readonly workspaces: readonly FleetWorkspace[];
}
