// The calls about runs, with the parameters that run-now brings and the outputs (contract B 2.3, contract B 4.2), and the control request that ends a run.

import { defined, type JsonObject } from "../../../core/json.ts";
import { escapedHtml, exportBytes } from "../../notebook/formats.ts";
import { invalidState, invalidValue } from "../../world/errors.ts";
import { JOBS } from "../../world/limits.ts";
import { type Call, extraOf, type Reply, type World } from "../../world/world.ts";
import { notebookAt, unmountedPath } from "../workspace/objects.ts";
import { type JobSettings, jobOr400 } from "./job.ts";
import {
  describeRun,
  dropRun,
  isActive,
  type JobRunOutcome,
  latestRuns,
  latestRunsOf,
  putRun,
  type Run,
  runOr400,
} from "./run.ts";
import { endWork } from "./run-lifecycle.ts";
import { checkLimits, countStart, startJobRun, startSubmittedRun } from "./start-run.ts";
import { type GivenTask, readTask, taskKind } from "./task.ts";

export const runOf = (call: Call, world: World): Run => runOr400(world, String(call.input.run_id));
const creator = ({ caller }: Call) => ({
  creator_user_id: caller.userId,
  creator_user_name: caller.userName,
});

export function runNow(call: Call, world: World): Reply {
  const job = jobOr400(world, String(call.input.job_id));
  const parameters = readParameters(call.input, job.settings);
  checkLimits(world);
  const run = startJobRun(world, job, {
    trigger: "ONE_TIME",
    ...creator(call),
    ...defined({ overriding_parameters: parameters }),
  });
  if (run.life_cycle_state !== "SKIPPED") countStart(world);
  return { json: { run_id: run.run_id, number_in_job: run.number_in_job } };
}

export function submitRun(call: Call, world: World): Reply {
  const submission = call.input as GivenTask & {
    readonly run_name?: string;
    readonly timeout_seconds?: number;
  };
  const run_name = submission.run_name ?? "Untitled";
  if (Buffer.byteLength(run_name) > JOBS.run_name_bytes)
    throw invalidValue(`run_name may take at most ${JOBS.run_name_bytes} bytes.`);
  const read = readTask(world, submission);
  checkLimits(world);
  const run = startSubmittedRun(world, read, {
    run_name,
    timeout_seconds: submission.timeout_seconds ?? 0,
    ...creator(call),
    ...extraOf(call.input),
  });
  countStart(world);
  return { json: { run_id: run.run_id } };
}

export function listRuns(call: Call, world: World): Reply {
  const { active_only, completed_only, job_id, offset = 0, limit = JOBS.list_limit } = call.input;
  if (active_only === true && completed_only === true)
    throw invalidValue("active_only and completed_only cannot both be true.");
  const from = Number(offset);
  const to = from + (limit === 0 ? JOBS.list_maximum : Number(limit));
  const runs: JsonObject[] = [];
  let seen = 0;
  for (const run of job_id === undefined ? latestRuns(world) : latestRunsOf(world, String(job_id))) {
    if (isActive(run) ? completed_only === true : active_only === true) continue;
    // One more than the page shows whether more runs follow.
    if (seen++ >= to) return { json: { runs, has_more: true } };
    if (seen > from) runs.push(describeRun(world, run));
  }
  return { json: { ...(runs.length === 0 ? {} : { runs }), has_more: false } };
}

export function deleteRun(call: Call, world: World): void {
  const run = runOf(call, world);
  if (isActive(run))
    throw invalidState(`Run ${run.run_id} is active (${run.life_cycle_state}) and cannot be deleted.`);
  dropRun(world, run);
}

const ENDINGS: Readonly<Record<string, JobRunOutcome["result_state"]>> = {
  SUCCESS: "SUCCESS",
  FAILED: "FAILED",
  TIMED_OUT: "TIMED_OUT",
  TIMEDOUT: "TIMED_OUT",
  CANCELED: "CANCELED",
};

/** A control request: ends a run; one that waits for its cluster ends at its begin. `result`: the argument of the exit call. */
export function finishRun(world: World, input: JsonObject): void {
  const { run_id, outcome } = readEnding(input);
  const run = runOr400(world, run_id);
  if (run.life_cycle_state === "RUNNING") endWork(world, run, outcome);
  else if (run.life_cycle_state === "PENDING") putRun(world, { ...run, outcome });
  else throw invalidState(`Run ${run_id} is ${run.life_cycle_state}: its end is settled.`);
}

function readEnding({ run_id, result_state, ...texts }: JsonObject) {
  if (typeof run_id !== "number" && typeof run_id !== "bigint")
    throw invalidValue("run_id must be an integer.");
  const name = String(result_state);
  const ending = Object.hasOwn(ENDINGS, name) ? ENDINGS[name] : undefined;
  if (ending === undefined)
    throw invalidValue(`result_state must be one of ${Object.keys(ENDINGS).join(", ")}.`);
  const [result, error, error_trace, logs] = ["result", "error", "error_trace", "logs"].map((field) => {
    const text = texts[field];
    if (text !== undefined && typeof text !== "string") throw invalidValue(`${field} must be a string.`);
    return text;
  });
  const outcome: JobRunOutcome = {
    result_state: ending,
    message: error ?? "",
    ...defined({ result, error, error_trace, logs }),
  };
  return { run_id: String(run_id), outcome };
}

const KINDS = ["jar_params", "notebook_params", "python_params", "spark_submit_params"] as const;

/** Types were checked with openapi.yaml. */
type Given = {
  readonly [kind in (typeof KINDS)[number]]?: readonly string[] | Readonly<Record<string, string>>;
};

/** The parameters of the run instead of the job's own; undefined if the request has none. */
function readParameters(input: JsonObject, settings: JobSettings): JsonObject | undefined {
  const parameters = input as unknown as Given;
  const [kind, ...others] = KINDS.filter((name) => parameters[name] !== undefined);
  if (kind === undefined) return undefined;
  if (others.length > 0)
    throw invalidValue(
      `Only one of ${KINDS.join(", ")} may be given. Found: ${[kind, ...others].join(", ")}.`,
    );
  const value = parameters[kind] ?? {};
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > JOBS.parameter_bytes)
    throw invalidValue(`${kind} may take at most ${JOBS.parameter_bytes} bytes as JSON. Found: ${bytes}.`);
  if ((kind === "python_params" || kind === "spark_submit_params") && /[^\p{ASCII}]/u.test(text))
    throw invalidValue(`${kind} may hold ASCII characters only.`);
  if (kind !== "notebook_params") return { [kind]: value };
  const base = settings.notebook_task?.base_parameters as Readonly<Record<string, string>> | undefined;
  return { notebook_params: { ...base, ...value } };
}

export function getOutput(call: Call, world: World): Reply {
  const run = runOf(call, world);
  return { json: { metadata: describeRun(world, run), ...runOutput(run) } };
}

/** The notebook's output, or why there is none. */
export function runOutput(run: Run): JsonObject {
  const why = unavailable(run);
  if (why !== undefined) return { error: firstBytes(why, JOBS.output_bytes).text };
  const result = run.outcome?.result;
  if (result === undefined) return { notebook_output: {} };
  const { text, truncated } = firstBytes(result, JOBS.result_bytes);
  return { notebook_output: { result: text, truncated } };
}

function unavailable(run: Run): string | undefined {
  const kind = taskKind(run.task);
  if (kind !== "notebook_task") return `Only notebook runs have an output; this run has a ${kind}.`;
  if (isActive(run)) return `The run has not ended; it is ${run.life_cycle_state}.`;
  if (run.life_cycle_state === "TERMINATED" && run.outcome?.result_state === "SUCCESS") return undefined;
  return run.outcome?.error ?? (run.state_message || `The run ended with ${run.outcome?.result_state}.`);
}

/** The first bytes of a string in UTF-8, without an incomplete character at the end. */
function firstBytes(text: string, limit: number): { readonly text: string; readonly truncated: boolean } {
  if (text.length * 3 <= limit) return { text, truncated: false };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limit));
  return { text: text.slice(0, read), truncated: read < text.length };
}

export function exportRun(call: Call, world: World): Reply {
  const run = runOf(call, world);
  const task = run.task.notebook_task as { readonly notebook_path: string } | undefined;
  if (task === undefined) throw invalidValue("Only notebook runs can be exported in HTML.");
  // A notebook here has no dashboards, so that only its code can be exported.
  if (call.input.views_to_export === "DASHBOARDS") return { json: {} };
  const path = call.allows?.mountedPaths ? unmountedPath(task.notebook_path) : task.notebook_path;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return { json: { views: [{ content: pageOf(world, path, name), name, type: "NOTEBOOK" }] } };
}

/** The current notebook; a page with a note if it was deleted. */
function pageOf(world: World, path: string, name: string): string {
  const document = notebookAt(world, path);
  if (document !== undefined) return new TextDecoder().decode(exportBytes(document, "HTML", name));
  const title = escapedHtml(name);
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><p>The notebook ${escapedHtml(path)} is not in the workspace.</p></body></html>\n`;
}
