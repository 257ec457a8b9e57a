// Pauses of a fleet: which runs do not start through the queue, and until when. Maintenance windows of the fleet file are pauses, too.

import { Cron } from "croner";
import {
  columnNumber,
  columnText,
  type Database,
  isMissingTable,
} from "../../state/backends/postgres/database.ts";
import type { FleetWorkspace } from "../model/fleet.ts";
import { FLEET_COMMANDS, type FleetCommand } from "../model/result.ts";
import { selectWorkspaces } from "../selection.ts";
import { storable } from "./tables.ts";

/** The jobs that a pause holds back: all, or those of the workspaces and the command that it names. */
export interface PauseScope {
  readonly workspaces: readonly string[];
  readonly select: readonly string[];
  readonly command?: FleetCommand;
}

export interface Pause extends PauseScope {
  readonly id: string;
  readonly reason: string;
  readonly by: string;
  readonly createdAt: number;
  /** Undefined: until `fleet resume`. */
  readonly until?: number;
}

/** Whether a pause was made for these labels, and for this command. What is not given fits every pause. */
export function isPauseOf(
  pause: PauseScope,
  { select, command }: Pick<PauseScope, "select" | "command">,
): boolean {
  const labels = (all: readonly string[]): string => [...new Set(all)].sort().join();
  const fitsLabels = select.length === 0 || labels(pause.select) === labels(select);
  return fitsLabels && (command === undefined || pause.command === command);
}

export interface Pauses {
  /** Those that are not over. */
  list(): Promise<readonly Pause[]>;
  add(
    pause: PauseScope & { readonly reason: string; readonly by: string; readonly forMs?: number },
  ): Promise<Pause>;
  remove(ids: readonly string[]): Promise<void>;
}

export function openPauses(database: Database, schema: string): Pauses {
  const table = `${schema}.pauses`;
  const list = async (): Promise<readonly Pause[]> => {
    const sql = `select id, body, (extract(epoch from created_at) * 1000)::float8 as created,
      (extract(epoch from until) * 1000)::float8 as until
      from ${table} where until is null or until > clock_timestamp() order by created_at, id`;
    const { rows } = await database.query(sql, []).catch((failure: unknown) => {
      if (isMissingTable(failure)) return { rows: [] };
      throw failure;
    });
    return rows.map((row): Pause => {
      const { workspaces, select, command, reason, by } = row.body as Partial<Record<string, unknown>>;
      return {
        id: columnText(row, "id") ?? "",
        workspaces: textsIn(workspaces),
        select: textsIn(select),
        command: FLEET_COMMANDS.find((name) => name === command),
        reason: typeof reason === "string" ? reason : "",
        by: typeof by === "string" ? by : "",
        createdAt: Math.round(columnNumber(row, "created")),
        ...(row.until === null ? {} : { until: Math.round(columnNumber(row, "until")) }),
      };
    });
  };
  return {
    list,
    async add({ forMs, ...pause }) {
      const id = crypto.randomUUID().slice(0, 8);
      await database.query(
        `insert into ${table} (id, body, until)
         values ($1, $2::jsonb, clock_timestamp() + $3::bigint * interval '1 millisecond')`,
        [id, JSON.stringify(storable(pause)), forMs ?? null],
      );
      const added = (await list()).find((other) => other.id === id);
      return added ?? { ...pause, id, createdAt: 0 };
    },
    async remove(ids) {
      await database.query(`delete from ${table} where id = any($1::text[]) or until < clock_timestamp()`, [
        ids,
      ]);
    },
  };
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === "string") : [];
}

export function isPausedBy(
  { workspaces, select, command }: PauseScope,
  workspace: FleetWorkspace,
  job: FleetCommand,
): boolean {
  if (command !== undefined && command !== job) return false;
  if (workspaces.length > 0 && !workspaces.includes(workspace.name)) return false;
  return select.length === 0 || isSelected(workspace, select);
}

function isSelected(workspace: FleetWorkspace, select: readonly string[]): boolean {
  try {
    return selectWorkspaces([workspace], [], select).length > 0;
  } catch {
    return false;
  }
}

/** The end of the maintenance window that is open at `now`; undefined without one. */
export function maintenanceEnd(
  { maintenance = [] }: Pick<FleetWorkspace, "maintenance">,
  now: number,
): number | undefined {
  const ends = maintenance.flatMap(({ cron, timezone, durationMs }) => {
    const start = new Cron(cron, { timezone }).previousRuns(1, new Date(now + 1000))[0];
    const end = start === undefined ? 0 : start.getTime() + durationMs;
    return end > now ? [end] : [];
  });
  return ends.length === 0 ? undefined : Math.max(...ends);
}
