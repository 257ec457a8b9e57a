// Runs of the dialect: their tasks, times and page tokens, and starts that a token makes safe to repeat.

import { defined, type Json, type JsonObject, listIn, objectIn, omit } from "../../../core/json.ts";
import { runById } from "../../routes/jobs/run.ts";
import type { Call, Operation, Reply, World } from "../../world/world.ts";
import { type Asked, type Hooks, once, pageOf } from "./hook.ts";
import { taskKeyOf, withLiftedTask } from "./jobs.ts";

export const runHooks: Hooks = {
  "jobs/run-now": { around: once, after: (answer) => ({ ...answer, number_in_job: answer.run_id ?? 0 }) },
  "jobs/runs/submit": { before: ({ input }) => withLiftedTask(input), around: once },
  "jobs/runs/get": { after: (run, asked) => shownRun(run, asked, true) },
  "jobs/runs/get-output": {
    after: (output, asked) => ({ ...output, metadata: shownRun(objectIn(output.metadata), asked, true) }),
  },
  "jobs/runs/list": { around: allRuns, after: listRuns },
};

/** Version 2.1 filters before it pages, so it needs every run. */
function allRuns(core: Operation, call: Call, { world, version }: Asked): Reply {
  if (version === "2.0") return core(call, world);
  const runs: Json[] = [];
  for (let more = true; more; ) {
    const reply = core({ ...call, input: { ...call.input, limit: 0, offset: runs.length } }, world);
    const json = "json" in reply ? reply.json : {};
    runs.push(...listIn(json.runs));
    more = json.has_more === true;
  }
  return { json: { runs, has_more: false } };
}

function listRuns(answer: JsonObject, asked: Asked): JsonObject {
  const { version, input } = asked;
  const expand = input.expand_tasks === true;
  const runs = listIn(answer.runs).map((run) => shownRun(objectIn(run), asked, expand));
  if (version === "2.0") return { ...answer, ...(runs.length === 0 ? {} : { runs }) };
  const { run_type, start_time_from: from = 0, start_time_to: to = Number.MAX_SAFE_INTEGER } = input;
  const matching = runs.filter(
    (run) =>
      (run_type === undefined || run.run_type === run_type) &&
      Number(run.start_time) >= Number(from) &&
      Number(run.start_time) <= Number(to),
  );
  return pageOf("runs", matching, input, input.limit);
}

function shownRun(run: JsonObject, { world, version }: Asked, expand: boolean): JsonObject {
  const { tasks: declared, job_clusters, task, cluster_spec, ...rest } = run;
  const times = timesOf(run, world);
  const several = declared !== undefined && Object.keys(objectIn(task)).length === 0;
  const own = { task_key: taskKeyOf(run), ...objectIn(task), ...objectIn(cluster_spec) };
  const shown = listIn(declared ?? [own]).map((value, index) =>
    runTask(objectIn(value), run, times, several ? index : -1),
  );
  const listed = version !== "2.0" || several;
  return {
    ...rest,
    ...(several ? {} : { task: task ?? {}, cluster_spec: cluster_spec ?? {} }),
    state: stateOf(run),
    number_in_job: run.run_id ?? 0,
    run_page_url: String(run.run_page_url).replace("/#", `/?o=${ORG}#`),
    ...times,
    format: declared === undefined && version === "2.0" ? "SINGLE_TASK" : "MULTI_TASK",
    ...(listed && expand ? defined({ tasks: shown, job_clusters }) : {}),
  };
}

/** The organization ID of the workspace in the URL of its pages. */
export const ORG = "1234567890123456";

/** A skipped run has no result, only a life cycle state. */
function stateOf({ state }: JsonObject): JsonObject {
  const { life_cycle_state } = objectIn(state);
  return life_cycle_state === "SKIPPED" ? omit(objectIn(state), ["result_state"]) : objectIn(state);
}

function timesOf(run: JsonObject, world: World): JsonObject {
  const kept = runById(world, Number(run.run_id));
  const end = kept?.ended_at ?? 0;
  const duration: JsonObject = end === 0 ? {} : { run_duration: end - Number(run.start_time) };
  return { attempt_number: kept?.attempt ?? 0, end_time: end, ...duration };
}

/** A task as a run shows it. The only task of a run has the id of the run. */
function runTask(task: JsonObject, run: JsonObject, times: JsonObject, index: number): JsonObject {
  const { start_time, setup_duration, execution_duration, cleanup_duration, cluster_instance } = run;
  const id = Number(run.run_id);
  return {
    ...task,
    run_id: index < 0 ? id : id * 1000 + index,
    state: stateOf(run),
    start_time: start_time ?? 0,
    setup_duration: setup_duration ?? 0,
    execution_duration: execution_duration ?? 0,
    cleanup_duration: cleanup_duration ?? 0,
    ...times,
    ...defined({ cluster_instance }),
  };
}
