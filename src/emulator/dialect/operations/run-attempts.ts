// The attempts of a run (the first one, and a repair for each later one), the IDs of its tasks in them, and the calls that repair and cancel runs.

import { defined, type Json, type JsonObject, listIn, objectIn } from "../../../core/json.ts";
import { jobOr400 } from "../../routes/jobs/job.ts";
import { activeRunsOf, isActive, newRunId, type Run, runById, runOr400 } from "../../routes/jobs/run.ts";
import { cancelRun } from "../../routes/jobs/run-lifecycle.ts";
import { checkLimits, countStart, restartRun } from "../../routes/jobs/start-run.ts";
import { invalidState, invalidValue } from "../../world/errors.ts";
import type { Call, Collection, Operations, World } from "../../world/world.ts";

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
export function separateTasks({ extra, task }: Run): readonly JsonObject[] {
  return Object.keys(task).length > 0 ? [] : listIn(extra?.tasks).map(objectIn);
}

const keysOf = (run: Run): readonly string[] => separateTasks(run).map(({ task_key: key }) => String(key));

export function taskRunId(world: World, run: Run, index: number, attempt?: RunAttempt): number {
  const key = keysOf(run)[index] ?? "";
  const last =
    attempt ??
    attemptsOf(world)
      .get(String(run.run_id))
      ?.findLast((one) => one.task_keys.includes(key));
  return (last?.id ?? run.run_id) * TASKS_OF_RUN + index;
}

interface TaskRun {
  readonly run: Run;
  readonly index: number;
}

/** The run and the task with the ID of a task; undefined for an ID of anything else. */
export function taskRunById(world: World, id: number): TaskRun | undefined {
  const [base, index] = [Math.floor(id / TASKS_OF_RUN), id % TASKS_OF_RUN];
  const run = runById(world, repairedRuns(world).get(String(base)) ?? base);
  return run === undefined || index >= separateTasks(run).length ? undefined : { run, index };
}

export const firstStart = (world: World, run: Run): number =>
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
export function repairHistory(world: World, run: Run, state: JsonObject): readonly Json[] {
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
