// The settings of a job in the contract: its task (one of four types), schedule, notifications, retries, limits (contract B 2.2).

import { stringifyJson } from "../../core/exact-json.ts";
import { isObject } from "../../core/json.ts";
import { everFires, isTimeZone, quartzProblem } from "../../core/quartz.ts";
import type { FieldSchema, FieldTable, Values } from "../../resource/field-schema.ts";
import type { Problem } from "../../resource/planning.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  listField,
  mapField,
  required,
  scalarField,
  textField,
} from "../kit/field-builders.ts";
import { problem } from "../kit/problems.ts";
import { emails } from "./notifications.ts";

export const settings = {
  schedule: groupField(
    {
      quartz_cron_expression: required(
        textField({
          minLength: 1,
          description:
            "When the job runs, in Quartz syntax: second, minute, hour, day of month, month, day of week, optionally year.",
          examples: ["0 30 2 * * ?"],
        }),
      ),
      timezone_id: required(
        textField({ minLength: 1, description: "Time zone of the expression.", examples: ["Europe/Paris"] }),
      ),
      pause_status: choiceField(["UNPAUSED", "PAUSED"], {
        default: "UNPAUSED",
        description: "PAUSED keeps the schedule but starts no runs.",
      }),
    },
    {
      severity: "availability",
      description: "Schedule of the job. If absent, the job runs only when it is started.",
    },
  ),
  email_notifications: emails({
    description: "Recipients of e-mail about runs, and about the deletion of the job.",
  }),
  timeout_seconds: integerField({
    minimum: 0,
    default: 0,
    description: "Time limit of a run in seconds; 0 means none.",
  }),
  max_retries: integerField({
    minimum: -1,
    default: 0,
    description: "Maximum number of retries of an unsuccessful run; -1 retries without limit.",
  }),
  min_retry_interval_millis: integerField({
    minimum: 0,
    default: 0,
    description: "Minimum time before a retry, in milliseconds.",
  }),
  retry_on_timeout: flagField({ default: false, description: "Whether to retry a run that timed out." }),
  max_concurrent_runs: integerField({
    minimum: 0,
    maximum: 1000,
    default: 1,
    description: "Maximum number of active runs; further runs are skipped, and 0 skips all runs.",
  }),
};

/** Whether a value contains an unresolved reference, so that it cannot be checked yet. */
const isOpen = (value: string): boolean => value.includes("${");

function cronProblem(cron: string): string | undefined {
  return quartzProblem(cron) ?? (everFires(cron) ? undefined : "it never fires");
}

export function scheduleProblems(values: Values): readonly Problem[] {
  const { schedule } = values;
  if (!isObject(schedule)) return [];
  const { quartz_cron_expression: cron, timezone_id: zone } = schedule;
  const problems: Problem[] = [];
  const wrong = typeof cron === "string" && !isOpen(cron) ? cronProblem(cron) : undefined;
  if (wrong !== undefined)
    problems.push({
      path: ["schedule", "quartz_cron_expression"],
      code: "SPEC_CRON",
      message: `"${String(cron)}" is not a valid Quartz cron expression: ${wrong}`,
    });
  if (typeof zone === "string" && !isOpen(zone) && !isTimeZone(zone))
    problems.push({
      path: ["schedule", "timezone_id"],
      code: "SPEC_CRON",
      message: `"${zone}" is not a valid time zone`,
      hint: "use a name of the IANA database, such as Europe/Paris or UTC",
    });
  return problems;
}

/** All recipients of e-mails about a job, each once. */
export function mailed(values: Values): readonly string[] {
  const mails = isObject(values.email_notifications) ? values.email_notifications : {};
  const lists = [mails.on_start, mails.on_success, mails.on_failure];
  return [...new Set(lists.flatMap((list) => (Array.isArray(list) ? list.map(String) : [])))].sort();
}

const TASKS = ["notebook_task", "spark_jar_task", "spark_python_task", "spark_submit_task"] as const;

/** Parameters of a run may have this many bytes as JSON (contract B 4.2 rule 4). */
const MAX_PARAMETER_BYTES = 10_000;

export const texts = (description: string): FieldSchema =>
  listField(textField({ description: "One value." }), { list: "ordered", default: [], description });

export const textMap = (description: string): FieldSchema =>
  mapField(scalarField({ description: "Value; sent as a string." }), { default: {}, description });

export const jarFields: FieldTable = {
  main_class_name: required(textField({ minLength: 1, description: "Class whose main method runs." })),
  jar_uri: textField({
    minLength: 1,
    fileUri: true,
    deprecated: true,
    description: "Deprecated by the service: use libraries.",
  }),
  parameters: texts("Arguments of the main method."),
};

export const singleTaskFields = {
  notebook_task: groupField(
    {
      notebook_path: required(
        textField({
          pattern: "^/",
          mentions: ["notebooks"],
          shouldExist: true,
          description: "Absolute path of the notebook in the workspace.",
        }),
      ),
      base_parameters: textMap(
        "Parameters of every run. Those of a single start override them; they override those of the notebook.",
      ),
    },
    { description: "Runs a notebook." },
  ),
  spark_jar_task: groupField(jarFields, {
    description: "Runs the main class of a JAR among the libraries.",
  }),
  spark_python_task: groupField(
    {
      python_file: required(
        textField({
          minLength: 1,
          fileUri: true,
          description: "URI of the Python file, such as fs:/jobs/load.py.",
        }),
      ),
      parameters: texts("Command line arguments of the file."),
    },
    { description: "Runs a Python file." },
  ),
  spark_submit_task: groupField(
    {
      parameters: required(
        listField(textField({ description: "One parameter." }), {
          list: "ordered",
          minItems: 1,
          description: "Arguments of the submit script, including the main class and its arguments.",
        }),
      ),
    },
    {
      description:
        "Runs spark-submit. Requires a new cluster; its parameters set the libraries and the Spark configuration.",
    },
  ),
};

export function taskProblems(values: Values): readonly Problem[] {
  const chosen = TASKS.filter((task) => values[task] !== undefined);
  return [
    ...choiceProblems(chosen),
    ...chosen.flatMap((task) => parameterProblems(values, task)),
    ...submitProblems(values),
  ];
}

function choiceProblems(chosen: readonly string[]): readonly Problem[] {
  const [first, second] = chosen;
  const hint = `set one of ${TASKS.join(", ")}`;
  if (first === undefined) return [problem("SPEC_MISSING_FIELD", [], "a job needs a task", hint)];
  if (second === undefined) return [];
  const message = `a job has one task, not ${chosen.length}: ${chosen.join(", ")}`;
  return [problem("SPEC_COMBINATION", [second], message, hint)];
}

function parameterProblems(values: Values, task: string): readonly Problem[] {
  const chosen = values[task];
  if (!isObject(chosen)) return [];
  const field = task === "notebook_task" ? "base_parameters" : "parameters";
  const bytes = Buffer.byteLength(stringifyJson(chosen[field] ?? []));
  if (bytes <= MAX_PARAMETER_BYTES) return [];
  const message = `the parameters are ${bytes} bytes as JSON; the service allows ${MAX_PARAMETER_BYTES}`;
  return [problem("SPEC_LIMIT", [task, field], message)];
}

function submitProblems(values: Values): readonly Problem[] {
  if (values.spark_submit_task === undefined) return [];
  const cluster = isObject(values.new_cluster) ? values.new_cluster : {};
  const problems: Problem[] = [];
  const refuse = (path: readonly string[], message: string, hint: string): void => {
    problems.push(problem("SPEC_COMBINATION", path, message, hint));
  };
  if (values.existing_cluster_id !== undefined)
    refuse(["existing_cluster_id"], "spark_submit_task requires a new cluster", "define one in new_cluster");
  if (Array.isArray(values.libraries) && values.libraries.length > 0)
    refuse(
      ["libraries"],
      "spark_submit_task cannot be used with libraries",
      "pass them with --jars or --py-files",
    );
  if (cluster.spark_conf !== undefined)
    refuse(
      ["new_cluster", "spark_conf"],
      "spark_submit_task cannot be used with spark_conf",
      "use --conf in its parameters",
    );
  return problems;
}
