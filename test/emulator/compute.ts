// What tests of pools, clusters and jobs start from: the least that each create call takes, and short ways to look.

import type { Body, TestWorld } from "./harness.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const NODE_TYPE = "Standard_DS3_v2";
export const RUNTIME = "6.4.x-scala2.11";
export const CLUSTER = { spark_version: RUNTIME, node_type_id: NODE_TYPE, num_workers: 2 };
export const NOTEBOOK = { notebook_task: { notebook_path: "/Shared/nightly" } };
export const JOB = { new_cluster: CLUSTER, ...NOTEBOOK };

/** What an answer that refuses looks like. */
export const refused = (status: number, error_code: string) => ({ status, body: { error_code } });
export const invalid = refused(400, "INVALID_PARAMETER_VALUE");
export const invalidState = refused(400, "INVALID_STATE");
export const malformed = refused(400, "MALFORMED_REQUEST");
export const done = { status: 200, body: {} };

async function made(answer: Promise<{ readonly status: number; readonly body: Body }>): Promise<Body> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

/** The calls that most tests repeat, each answering what it is about and failing loudly. */
export function compute(w: TestWorld) {
  const cluster = async (cluster_id: string) => made(w.get("clusters/get", { cluster_id }));
  const run = async (run_id: number) => made(w.get("jobs/runs/get", { run_id }));
  return {
    newPool: async (fields: object = {}): Promise<string> =>
      (
        await made(
          w.post("instance-pools/create", { instance_pool_name: "pool", node_type_id: NODE_TYPE, ...fields }),
        )
      ).instance_pool_id,
    pool: async (instance_pool_id: string) => made(w.get("instance-pools/get", { instance_pool_id })),
    /** used, idle, pending used, pending idle. */
    stats: async (instance_pool_id: string): Promise<number[]> => {
      const { stats } = await made(w.get("instance-pools/get", { instance_pool_id }));
      return [stats.used_count, stats.idle_count, stats.pending_used_count, stats.pending_idle_count];
    },
    newCluster: async (fields: object = {}): Promise<string> =>
      (await made(w.post("clusters/create", { ...CLUSTER, ...fields }))).cluster_id,
    /** A cluster that is RUNNING. */
    runningCluster: async (fields: object = {}): Promise<string> => {
      const { cluster_id } = await made(w.post("clusters/create", { ...CLUSTER, ...fields }));
      await w.advance(SECOND);
      return cluster_id;
    },
    /** A cluster that is TERMINATED. */
    terminatedCluster: async (fields: object = {}): Promise<string> => {
      const { cluster_id } = await made(w.post("clusters/create", { ...CLUSTER, ...fields }));
      await w.post("clusters/delete", { cluster_id });
      await w.advance(SECOND);
      return cluster_id;
    },
    cluster,
    state: async (cluster_id: string): Promise<string> => (await cluster(cluster_id)).state,
    clusters: async (): Promise<Body[]> => (await made(w.get("clusters/list"))).clusters ?? [],
    /** The whole log, the oldest event first. */
    events: async (cluster_id: string): Promise<Body[]> =>
      (await made(w.post("clusters/events", { cluster_id, order: "ASC", limit: 500 }))).events ?? [],
    newJob: async (fields: object = {}): Promise<number> =>
      (await made(w.post("jobs/create", { ...JOB, ...fields }))).job_id,
    job: async (job_id: number) => made(w.get("jobs/get", { job_id })),
    runNow: async (job_id: number, fields: object = {}): Promise<number> =>
      (await made(w.post("jobs/run-now", { job_id, ...fields }))).run_id,
    run,
    /** For example RUNNING, or TERMINATED SUCCESS. */
    runState: async (run_id: number): Promise<string> => {
      const { life_cycle_state, result_state } = (await run(run_id)).state;
      return result_state === undefined ? life_cycle_state : `${life_cycle_state} ${result_state}`;
    },
    runs: async (query: Readonly<Record<string, number | boolean>> = {}): Promise<Body[]> =>
      (await made(w.get("jobs/runs/list", query))).runs ?? [],
    /** Ends a run by the control request. */
    finish: (run_id: number, result_state: string, fields: object = {}) =>
      w.control("POST", "runs", { run_id, result_state, ...fields }),
    mails: async (): Promise<Body[]> => (await w.control("GET", "mails")).body.mails ?? [],
  };
}
