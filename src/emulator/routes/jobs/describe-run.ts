// A run as `runs/get` and `runs/list` answer it (contract B 2.3).

import { defined, type JsonObject } from "../../../core/json.ts";
import type { World } from "../../world/world.ts";
import { creatorOf } from "./job.ts";
import { type Run, resultOf } from "./run.ts";

export function describeRun(world: World, run: Run): JsonObject {
  return {
    job_id: run.job_id,
    run_id: run.run_id,
    number_in_job: run.number_in_job,
    original_attempt_run_id: run.original_attempt_run_id,
    state: describeState(run),
    ...(run.schedule === undefined ? {} : { schedule: run.schedule as unknown as JsonObject }),
    task: run.task,
    cluster_spec: run.cluster_spec,
    ...(run.cluster_id === undefined ? {} : { cluster_instance: describeInstance(run) }),
    ...(run.overriding_parameters === undefined ? {} : { overriding_parameters: run.overriding_parameters }),
    start_time: run.start_time,
    ...durations(run),
    trigger: run.trigger,
    ...creatorOf(world, run),
    run_name: run.run_name,
    run_page_url: `https://workspace.invalid/#job/${run.job_id}/run/${run.number_in_job}`,
    run_type: run.run_type,
    ...(run.extra === undefined ? {} : { extra: run.extra }),
  };
}

function describeState(run: Run): JsonObject {
  const result = resultOf(run);
  return {
    life_cycle_state: run.life_cycle_state,
    ...(result === undefined ? {} : { result_state: result }),
    state_message: run.state_message,
  };
}

/** Each part is omitted until it is known (contract B 2.3). */
function describeInstance(run: Run): JsonObject {
  return defined({ cluster_id: run.cluster_id, spark_context_id: run.spark_context_id });
}

/** Setting up, working and cleaning up, in milliseconds; zero for what has not ended. Their sum is the run's whole time. */
function durations(run: Run): JsonObject {
  const { start_time, working_since, cleaning_since, ended_at } = run;
  const setUp = working_since ?? cleaning_since ?? ended_at;
  return {
    setup_duration: setUp === undefined ? 0 : setUp - start_time,
    execution_duration:
      working_since === undefined ? 0 : (cleaning_since ?? ended_at ?? working_since) - working_since,
    cleanup_duration: cleaning_since === undefined || ended_at === undefined ? 0 : ended_at - cleaning_since,
  };
}
