// The results of fleet runs in PostgreSQL: one row a run, the last ones of each workspace.

import type { Database } from "../../state/backends/postgres/database.ts";
import { KEPT_RESULTS, type ResultStore } from "../model/result-store.ts";
import { resultIn } from "../read-result.ts";

/** Results of workspaces that left the fleet are removed at this age. */
const LONGEST_KEPT = "400 days";

/** `schema` is a plain name; the database is closed with the store. */
export function openResultTable(database: Database, schema: string): ResultStore {
  const table = `${schema}.results`;
  let pruned = false;
  return {
    /**
     * A run that is repeated, after a crash or a failure, replaces its earlier result. A worker whose clock is ahead does
     * not hide the results of the others: the order has no time in the future.
     */
    async add({ workspace, command, status, startedAt, ...rest }, run = crypto.randomUUID()) {
      const body = JSON.stringify({ workspace, command, status, startedAt, ...rest });
      await database.query(
        `insert into ${table} (workspace, run, command, status, started_at, body)
         values ($1, $2, $3, $4, least(to_timestamp($5::bigint / 1000.0), clock_timestamp()), $6::jsonb)
         on conflict (run) do update set
           status = excluded.status, started_at = excluded.started_at, body = excluded.body`,
        [workspace, run, command, status, startedAt, body],
      );
      await database.query(
        `delete from ${table} where id in (
           select id from ${table} where workspace = $1 order by started_at desc, id desc offset $2)`,
        [workspace, KEPT_RESULTS],
      );
      if (pruned) return;
      pruned = true;
      await database.query(`delete from ${table} where started_at < now() - interval '${LONGEST_KEPT}'`, []);
    },
    async recent(limit, workspaces) {
      // The findings of older results are not read: they are large, and no report shows them.
      const { rows } = await database.query(
        `select wanted.name, case when found.place = 1 then found.body else found.body - 'diagnostics' end as body
         from unnest($2::text[]) as wanted (name) cross join lateral (
           select r.body, row_number() over (order by r.started_at desc, r.id desc) as place
           from ${table} r where r.workspace = wanted.name order by r.started_at desc, r.id desc limit $1) as found
         order by wanted.name, found.place`,
        [limit, workspaces],
      );
      const results = rows.flatMap(({ name, body }) => {
        const result = resultIn(body);
        return result !== undefined && result.workspace === name ? [result] : [];
      });
      return Map.groupBy(results, ({ workspace }) => workspace);
    },
    close: () => database.close(),
  };
}
