// Settings of a job except its task and cluster: schedule, notifications, retries, limits (contract B 2.2).

import { isObject } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Problem } from "../../resource/planning.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  listField,
  required,
  tags,
  textField,
} from "../kit/field-builders.ts";
import { isTimeZone, quartzProblem } from "./cron.ts";

const addresses = (when: string) =>
  listField(textField({ minLength: 1, description: "E-mail address." }), {
    list: "set",
    default: [],
    description: `Recipients of an e-mail when a run ${when}.`,
  });

const webhooks = (when: string) =>
  listField(
    groupField(
      { id: required(textField({ minLength: 1, description: "ID of a notification destination." })) },
      { description: "One destination." },
    ),
    { list: { key: "id" }, default: [], description: `Who receives a message when a run ${when}.` },
  );

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
  email_notifications: groupField(
    {
      on_start: addresses("begins"),
      on_success: addresses("succeeds"),
      on_failure: addresses("fails, is skipped or times out"),
      no_alert_for_skipped_runs: flagField({
        default: false,
        description: "Sends no on_failure e-mail for skipped runs.",
      }),
    },
    {
      severity: "other",
      default: {},
      description: "Recipients of e-mail about runs, and about the deletion of the job.",
    },
  ),
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
  description: textField({
    dialect: "databricks",
    severity: "other",
    serverDefault: true,
    description: "Description of the job.",
  }),
  tags: tags({
    most: 25,
    dialect: "databricks",
    whenAbsent: "unmanaged",
    description: "Tags of the job and of its clusters.",
  }),
  webhook_notifications: groupField(
    {
      on_start: webhooks("begins"),
      on_success: webhooks("succeeds"),
      on_failure: webhooks("fails"),
    },
    {
      dialect: "databricks",
      severity: "other",
      whenAbsent: "unmanaged",
      description: "Destinations that receive messages about runs.",
    },
  ),
  max_concurrent_runs: integerField({
    minimum: 0,
    maximum: 1000,
    default: 1,
    description: "Maximum number of active runs; further runs are skipped, and 0 skips all runs.",
  }),
};

/** Whether a value contains an unresolved reference, so that it cannot be checked yet. */
const isOpen = (value: string): boolean => value.includes("${");

export function scheduleProblems(values: Values): readonly Problem[] {
  const { schedule } = values;
  if (!isObject(schedule)) return [];
  const { quartz_cron_expression: cron, timezone_id: zone } = schedule;
  const problems: Problem[] = [];
  const wrong = typeof cron === "string" && !isOpen(cron) ? quartzProblem(cron) : undefined;
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
  return [...new Set(lists.flatMap((one) => (Array.isArray(one) ? one.map(String) : [])))].sort();
}
