// Selects the run of a command: by run ID, or by the address of a job.

import type { HostOptions } from "../../../config/settings.ts";
import { failureOf } from "../../../core/diagnostic.ts";
import { idText } from "../../../resource/service-status.ts";
import { type Connection, withConnection } from "../../../workflow/session/connect.ts";
import { newestRuns } from "../../../workflow/session/paging.ts";
import { numberId, withRecordedObject } from "../../../workflow/session/recorded-object.ts";
import type { StateOptions } from "../../../workflow/session/state-location.ts";
import type { ConsoleContext } from "../../command/command.ts";
import { textOption } from "../../command/option.ts";
import { RECORDED_OPTIONS } from "../../command/shared-options.ts";

export const RUN_OPTIONS = {
  job: textOption("--job <address>", "address of a job, such as jobs.nightly, instead of a run ID"),
  ...RECORDED_OPTIONS,
} as const;

export const RUN_ARGUMENT = [{ name: "[run]", description: "run ID" }];

export type JobRunOptions = HostOptions & StateOptions & { readonly job: string | undefined };

export interface SelectedRuns {
  readonly connection: Connection;
  readonly ids: readonly (number | bigint)[];
}

/** Of a job: its most recent run, or every active one. Throws Failure with CLI_USAGE or CLI_NO_OBJECT. */
export async function withSelectedRuns<T>(
  context: ConsoleContext,
  options: JobRunOptions,
  run: string | undefined,
  ofJob: "latest" | "active",
  work: (meant: SelectedRuns) => Promise<T>,
): Promise<T> {
  const { job } = options;
  if (run !== undefined && job === undefined) {
    const ids = [runId(run)];
    return withConnection(context, options, (connection) => work({ connection, ids }));
  }
  if (run !== undefined) throw failureOf("CLI_USAGE", "a run ID and --job cannot be used together");
  if (job === undefined)
    throw failureOf("CLI_USAGE", "no job run specified", {
      hint: "pass a run ID or --job ADDRESS; to list run IDs, run `workspace runs list`",
    });
  return withRecordedObject(context, options, "jobs", job, async ({ connection, id, address }) => {
    const filter = { job_id: numberId(id), ...(ofJob === "active" ? { active_only: true } : {}) };
    const most = ofJob === "latest" ? 1 : Number.POSITIVE_INFINITY;
    const runs = await newestRuns(connection.reader, filter, most);
    const ids = runs.map((one) => numberId(idText(one.run_id)));
    if (ids.length === 0 && ofJob === "latest") throw failureOf("CLI_NO_OBJECT", `${address} has no runs`);
    return work({ connection, ids });
  });
}

/** One run: the named one, or the latest of a job. */
export function withLatestRun<T>(
  context: ConsoleContext,
  options: JobRunOptions,
  run: string | undefined,
  work: (connection: Connection, id: number | bigint) => Promise<T>,
): Promise<T> {
  return withSelectedRuns(context, options, run, "latest", ({ connection, ids: [id = 0] }) =>
    work(connection, id),
  );
}

/** Throws Failure with CLI_USAGE. */
function runId(text: string): number | bigint {
  if (/^\d{1,18}$/.test(text)) return numberId(text);
  const hint = /^jobs\./.test(text)
    ? `to select a run of a job, pass --job ${text}`
    : "to list run IDs, run `workspace runs list`";
  throw failureOf("CLI_USAGE", `"${text}" is not a valid run ID`, { hint });
}
