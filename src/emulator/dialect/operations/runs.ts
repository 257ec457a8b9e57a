// Runs of the dialect: their tasks, times and page tokens, and starts that a token makes safe to repeat.

import { defined, type Json, type JsonObject, listIn, objectIn, omit, pick } from "../../../core/json.ts";
import { jobOr400 } from "../../routes/jobs/job.ts";
import { activeRunsOf, isActive, newRunId, type Run, runById, runOr400 } from "../../routes/jobs/run.ts";
import { cancelRun } from "../../routes/jobs/run-lifecycle.ts";
import { runOutput } from "../../routes/jobs/run-operations.ts";
import { checkLimits, countStart, restartRun } from "../../routes/jobs/start-run.ts";
import { invalidState, invalidValue } from "../../world/errors.ts";
import type { Call, Collection, Operation, Operations, Reply, World } from "../../world/world.ts";
import { type Asked, type Hooks, once, pageInside, pageOf } from "./hook.ts";
import { taskKeyOf, withLiftedTask } from "./jobs.ts";

export const runHooks: Hooks = {
  "jobs/run-now": { around: once, after: (answer) => ({ ...answer, number_in_job: answer.run_id ?? 0 }) },
  "jobs/runs/submit": { before: ({ input }) => withLiftedTask(input), around: once },
  "jobs/runs/get": { around: ofWholeRun, after: shownPage },
  "jobs/runs/get-output": {
    around: ofWholeRun,
    after: ({ metadata }, asked) => ({
      ...shownOutput(asked),
      metadata: shownRunOrTask(objectIn(metadata), asked),
    }),
  },
  "jobs/runs/list": { around: allRuns, after: listRuns },
};

/** The contract has runs without tasks: a task is read by its run. */
function ofWholeRun(core: Operation, call: Call, { world }: Asked): Reply {
  const run = taskRunById(world, Number(call.input.run_id))?.run;
  return core(run === undefined ? call : { ...call, input: { ...call.input, run_id: run.run_id } }, world);
}

function shownRunOrTask(answer: JsonObject, asked: Asked): JsonObject {
  const { world, input } = asked;
  const run = shownRun(answer, asked, true);
  const part = taskRunById(world, Number(input.run_id));
  if (part === undefined) return run;
  const task = objectIn(listIn(run.tasks)[part.index]);
  const { task_key: run_name = "", run_id = 0, state = {}, status = {} } = task;
  return { ...run, run_name, run_id, state, status, job_run_id: part.run.run_id, tasks: [task] };
}

/** Version 2.2 shows 100 tasks of a run in an answer. */
function shownPage(answer: JsonObject, asked: Asked): JsonObject {
  const run = shownRunOrTask(answer, asked);
  if (asked.version !== "2.2") return run;
  const { shown, more } = pageInside(run, ["tasks", "job_clusters"], 100, asked.input.page_token);
  return { ...shown, ...more };
}

/** Kinds of tasks whose output is what they print. */
const PRINTING = ["spark_python_task", "python_wheel_task", "spark_jar_task", "spark_submit_task"];

function shownOutput({ world, input }: Asked): JsonObject {
  const part = taskRunById(world, Number(input.run_id));
  const run = part?.run ?? runOr400(world, String(input.run_id));
  const tasks = separateTasks(run);
  if (part === undefined && tasks.length > 1)
    throw invalidValue(
      "Retrieving the output of runs with multiple tasks is not supported. Please retrieve the output of each individual task run instead.",
    );
  const task = tasks[part?.index ?? 0] ?? run.task;
  const { outcome } = run;
  const isPrinting = PRINTING.some((kind) => task[kind] !== undefined);
  const printed: JsonObject = isPrinting ? { logs: outcome?.logs ?? "", logs_truncated: false } : {};
  const hasOutput = !isActive(run) && outcome?.result_state === "SUCCESS" && task.notebook_task === undefined;
  if (hasOutput) return printed;
  const output = runOutput({ ...run, task: { notebook_task: task.notebook_task ?? {} } });
  const trace =
    output.error === undefined || isActive(run) ? undefined : (outcome?.error_trace ?? output.error);
  return { ...printed, ...output, ...defined({ error_trace: trace }) };
}

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

function shownRun(answer: JsonObject, { world, version, input }: Asked, expand: boolean): JsonObject {
  const { tasks: declared, job_clusters, task, cluster_spec, ...rest } = answer;
  const run = runOr400(world, String(answer.run_id));
  const times = { ...timesOf(run), start_time: firstStart(world, run) };
  const several = separateTasks(run).length > 0;
  const state = stateOf(answer);
  const own = { task_key: taskKeyOf(answer), ...objectIn(task), ...objectIn(cluster_spec) };
  const tasks = listIn(declared ?? [own]).map((value, index) => ({
    ...objectIn(value),
    run_id: several ? taskRunId(world, run, index) : run.run_id,
    ...pick(answer, TASK_FIELDS),
    ...times,
    state,
    status: statusOf(run),
  }));
  const listed = version !== "2.0" || several;
  const history = input.include_history === true ? repairHistory(world, run, state) : undefined;
  return {
    ...rest,
    ...(several ? {} : { task: task ?? {}, cluster_spec: cluster_spec ?? {} }),
    state,
    status: statusOf(run),
    number_in_job: run.run_id,
    run_page_url: String(answer.run_page_url).replace("/#", `/?o=${ORG}#`),
    ...times,
    format: declared === undefined && version === "2.0" ? "SINGLE_TASK" : "MULTI_TASK",
    ...defined({ repair_history: history }),
    ...(listed && expand ? defined({ tasks, job_clusters }) : {}),
  };
}

/** The organization ID of the workspace in the URL of its pages. */
export const ORG = "1234567890123456";

/** A skipped run has no result, only a life cycle state. */
function stateOf({ state }: JsonObject): JsonObject {
  const { life_cycle_state } = objectIn(state);
  return life_cycle_state === "SKIPPED" ? omit(objectIn(state), ["result_state"]) : objectIn(state);
}

function timesOf(run: Run): JsonObject {
  const { ended_at: end_time = 0, attempt, start_time } = run;
  const duration: JsonObject = end_time === 0 ? {} : { run_duration: end_time - start_time };
  return { attempt_number: attempt, end_time, ...duration };
}

/** What a task repeats of its run. */
const TASK_FIELDS = ["setup_duration", "execution_duration", "cleanup_duration", "cluster_instance"];

/** The newer form of the state. */
function statusOf(run: Run): JsonObject {
  if (isActive(run)) return { state: run.life_cycle_state };
  const { code, type } = endOf(run);
  return { state: "TERMINATED", termination_details: { code, type, message: run.state_message } };
}

function endOf({
  life_cycle_state: life,
  outcome,
  state_message: message,
}: Run): Readonly<Record<"code" | "type", string>> {
  if (life === "SKIPPED") {
    const isOfJob = message.includes("concurrent runs of the job");
    const code = isOfJob ? "MAX_CONCURRENT_RUNS_EXCEEDED" : "WORKSPACE_RUN_LIMIT_EXCEEDED";
    return { code, type: "CLIENT_ERROR" };
  }
  if (life === "INTERNAL_ERROR") return { code: "CLUSTER_ERROR", type: "CLIENT_ERROR" };
  return ENDS[outcome?.result_state ?? "SUCCESS"];
}

/** The service counts a timeout as its own cancellation. */
const ENDS = {
  SUCCESS: { code: "SUCCESS", type: "SUCCESS" },
  FAILED: { code: "RUN_EXECUTION_ERROR", type: "CLIENT_ERROR" },
  CANCELED: { code: "USER_CANCELED", type: "SUCCESS" },
  TIMED_OUT: { code: "CANCELED", type: "CLIENT_ERROR" },
} as const;

interface RunAttempt {
  /** Of a repair. */
  readonly id?: number;
  readonly start_time: number;
  readonly task_keys: readonly string[];
  /** Of an attempt after which another one began. */
  readonly ended?: { readonly end_time: number; readonly state: JsonObject };
}

/** By the ID of the run; a run without a repair has none. */
const attemptsOf = (world: World): Collection<readonly RunAttempt[]> => world.collection("dialect.attempts");
/** The run of a repair. */
const repairedRuns = (world: World): Collection<number> => world.collection("dialect.repairs");

/** IDs of tasks follow from the ID of the run or of the repair that ran them last. */
const TASKS_OF_RUN = 1000;

/** The tasks of a run that has several, or one that the contract does not have. */
function separateTasks({ extra, task }: Run): readonly JsonObject[] {
  return Object.keys(task).length > 0 ? [] : listIn(extra?.tasks).map(objectIn);
}

const keysOf = (run: Run): readonly string[] => separateTasks(run).map(({ task_key: key }) => String(key));

function taskRunId(world: World, run: Run, index: number, attempt?: RunAttempt): number {
  const key = keysOf(run)[index] ?? "";
  const last =
    attempt ??
    attemptsOf(world)
      .get(String(run.run_id))
      ?.findLast(({ task_keys }) => task_keys.includes(key));
  return (last?.id ?? run.run_id) * TASKS_OF_RUN + index;
}

interface TaskRun {
  readonly run: Run;
  readonly index: number;
}

/** The run and the task with the ID of a task; undefined for an ID of anything else. */
function taskRunById(world: World, id: number): TaskRun | undefined {
  const [base, index] = [Math.floor(id / TASKS_OF_RUN), id % TASKS_OF_RUN];
  const run = runById(world, repairedRuns(world).get(String(base)) ?? base);
  return run === undefined || index >= separateTasks(run).length ? undefined : { run, index };
}

const firstStart = (world: World, run: Run): number =>
  attemptsOf(world).get(String(run.run_id))?.[0]?.start_time ?? run.start_time;

export const attemptOperations: Operations = {
  "jobs/runs/repair": repair,
  "jobs/runs/cancel-all": cancelAll,
};

function repair(call: Call, world: World) {
  const { input } = call;
  const run = runOr400(world, String(input.run_id));
  if (isActive(run) || run.life_cycle_state === "SKIPPED")
    throw invalidState(`Run ${run.run_id} is ${run.life_cycle_state} and cannot be repaired.`);
  const id = String(run.run_id);
  const all = keysOf(run);
  const before = attemptsOf(world).get(id) ?? [{ start_time: run.start_time, task_keys: all }];
  const { id: latest } = before.at(-1) ?? {};
  if (input.latest_repair_id !== latest)
    throw invalidValue(
      `latest_repair_id must be ${latest ?? "absent"}. Found: ${input.latest_repair_id ?? "none"}.`,
    );
  const task_keys = rerunTasks(run, input);
  checkLimits(world);
  const repair_id = newRunId(world);
  const ended = { end_time: run.ended_at ?? world.now, state: stateOfRun(run) };
  const attempts = [...before.slice(0, -1), { ...before.at(-1), ended } as RunAttempt];
  attemptsOf(world).set(id, [...attempts, { id: repair_id, start_time: world.now, task_keys }]);
  repairedRuns(world).set(String(repair_id), run.run_id);
  restartRun(world, run);
  countStart(world);
  return { json: { repair_id } };
}

/** The tasks that a repair runs again. Throws INVALID_PARAMETER_VALUE if there are none. */
function rerunTasks(run: Run, input: JsonObject): readonly string[] {
  const tasks = separateTasks(run);
  const only = tasks.length === 0 ? undefined : keysOf(run);
  const failed = input.rerun_all_failed_tasks === true && run.outcome?.result_state !== "SUCCESS";
  const named = listIn(input.rerun_tasks).map(String);
  const unknown = named.find((key) => only !== undefined && !only.includes(key));
  if (unknown !== undefined) throw invalidValue(`Run ${run.run_id} has no task ${unknown}.`);
  if (!failed && named.length === 0) throw invalidValue(`Run ${run.run_id} has no task to run again.`);
  const wanted = new Set(failed ? (only ?? []) : named);
  if (input.rerun_dependent_tasks === true) {
    // Tasks are in no order, so that each round may find another dependent.
    for (let size = -1; size !== wanted.size; ) {
      size = wanted.size;
      for (const { task_key, depends_on } of tasks)
        if (listIn(depends_on).some((task) => wanted.has(String(objectIn(task).task_key))))
          wanted.add(String(task_key));
    }
  }
  return [...wanted];
}

const stateOfRun = ({ life_cycle_state, outcome, state_message }: Run): JsonObject =>
  defined({ life_cycle_state, result_state: outcome?.result_state, state_message });

/** Nothing is ever queued here, so `all_queued_runs` without a job cancels nothing. */
function cancelAll({ input, caller }: Call, world: World): void {
  if (input.job_id === undefined && input.all_queued_runs !== true)
    throw invalidValue("One of job_id and all_queued_runs must be specified.");
  if (input.job_id === undefined) return;
  for (const run of activeRunsOf(world, jobOr400(world, String(input.job_id)).job_id))
    cancelRun(world, run, `Canceled by ${caller.userName}.`);
}

/** `repair_history`, the first attempt first. `state` is the present one of the run. */
function repairHistory(world: World, run: Run, state: JsonObject): readonly Json[] {
  const attempts = attemptsOf(world).get(String(run.run_id)) ?? [
    { start_time: run.start_time, task_keys: keysOf(run) },
  ];
  const keys = keysOf(run);
  return attempts.map((attempt) => ({
    type: attempt.id === undefined ? "ORIGINAL" : "REPAIR",
    ...defined({ id: attempt.id }),
    start_time: attempt.start_time,
    end_time: attempt.ended?.end_time ?? run.ended_at ?? 0,
    state: attempt.ended?.state ?? state,
    task_run_ids:
      keys.length === 0
        ? [run.run_id]
        : keys.flatMap((key, index) =>
            attempt.task_keys.includes(key) ? [taskRunId(world, run, index, attempt)] : [],
          ),
  }));
}
