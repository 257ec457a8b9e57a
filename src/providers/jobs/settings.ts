// Settings of a job except its task and cluster: schedule, notifications, retries, limits (contract B 2.2).

import { isObject } from "../../core/json.ts";
import { everFires, isTimeZone, quartzProblem } from "../../core/quartz.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Problem } from "../../resource/planning.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  required,
  textField,
} from "../kit/field-builders.ts";
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
