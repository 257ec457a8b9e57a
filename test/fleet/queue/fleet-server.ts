// A PostgreSQL server for the tests of the queue, a schema for each test, and a worker in this process.

import type { QueueUser } from "../../../src/cli/fleet/fleet-database.ts";
import type { Failure } from "../../../src/core/diagnostic.ts";
import { openPauses } from "../../../src/fleet/database/pauses.ts";
import { openResultTable, prepareTables } from "../../../src/fleet/database/tables.ts";
import { openLeases } from "../../../src/fleet/database/workspace-lease.ts";
import { openBossQueue } from "../../../src/fleet/queue/boss-queue.ts";
import { nodeClock } from "../../../src/state/backends/file/node-ports.ts";
import { databaseFailure, parsePostgresUrl } from "../../../src/state/backends/postgres/database.ts";
import { connectionOptions, openPgDatabase } from "../../../src/state/backends/postgres/pg-database.ts";
import { type PostgresServer, startPostgres } from "../../state/backends/postgres/server.ts";

export const server = startPostgres();

/** URL of a fleet's database, with a schema. */
export function fleetUrl(
  schema: string,
  user = "postgres",
  from: PostgresServer | undefined = server,
): string {
  return `postgres://${user}@localhost/postgres?host=${encodeURIComponent(from?.folder ?? "")}&schema=${schema}`;
}

export async function openFleet(schema: string, user?: string) {
  const url = parsePostgresUrl(fleetUrl(schema, user), "fleet", {}, "fleet");
  const database = openPgDatabase({ url, clock: nodeClock });
  await prepareTables(database, schema, "0.1.0");
  const problems: Failure[] = [];
  return {
    database,
    problems,
    results: openResultTable(database, schema, nodeClock),
    pauses: openPauses(database, schema),
    leases: openLeases(database, schema, nodeClock),
    openQueue: (
      role: "work" | "send" | "read",
      user: QueueUser = {},
      more: { readonly program?: string; readonly pollingS?: number | undefined } = {},
    ) =>
      openBossQueue({
        connection: connectionOptions(url, undefined),
        schema,
        role,
        program: "0.1.0",
        clock: nodeClock,
        ...user,
        ...more,
        failure: (problem) => databaseFailure(problem, url),
        onProblem: (problem) => problems.push(problem),
      }),
  };
}
