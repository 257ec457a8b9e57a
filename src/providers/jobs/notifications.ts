// Who hears of runs, for jobs and for tasks: e-mail, notification destinations, and the limits that count as unhealthy.

import type { Annotations, FieldSchema } from "../../resource/field-schema.ts";
import {
  choiceField,
  flagField,
  groupField,
  integerField,
  listField,
  required,
  textField,
} from "../kit/field-builders.ts";

interface GroupOptions extends Annotations {
  readonly description: string;
}

const ONLY = { dialect: "databricks" } as const;

const addresses = (when: string, options: Annotations = {}): FieldSchema =>
  listField(textField({ minLength: 1, description: "E-mail address." }), {
    ...options,
    list: "set",
    default: [],
    description: `Recipients of an e-mail when a run ${when}.`,
  });

const LATE = "takes longer than health allows";
const BEHIND = "falls behind further than health allows";

export const emails = (options: GroupOptions): FieldSchema =>
  groupField(
    {
      on_start: addresses("begins"),
      on_success: addresses("succeeds"),
      on_failure: addresses("fails, is skipped or times out"),
      on_duration_warning_threshold_exceeded: addresses(LATE, ONLY),
      on_streaming_backlog_exceeded: addresses(BEHIND, ONLY),
      no_alert_for_skipped_runs: flagField({
        default: false,
        description: "Sends no on_failure e-mail for skipped runs.",
      }),
    },
    { severity: "other", default: {}, ...options },
  );

const destinations = (when: string): FieldSchema =>
  listField(
    groupField(
      {
        id: required(
          textField({
            minLength: 1,
            refersTo: "notification_destinations",
            description: "ID of a notification destination.",
          }),
        ),
      },
      { description: "One destination." },
    ),
    { list: { key: "id" }, default: [], description: `Who receives a message when a run ${when}.` },
  );

export const webhooksOfRuns = (options: GroupOptions): FieldSchema =>
  groupField(
    {
      on_start: destinations("begins"),
      on_success: destinations("succeeds"),
      on_failure: destinations("fails"),
      on_duration_warning_threshold_exceeded: destinations(LATE),
      on_streaming_backlog_exceeded: destinations(BEHIND),
    },
    { severity: "other", ...options },
  );

export const notificationSettings = (ofTask: boolean): FieldSchema =>
  groupField(
    {
      no_alert_for_skipped_runs: flagField({
        default: false,
        description: "Sends nothing for skipped runs.",
      }),
      no_alert_for_canceled_runs: flagField({
        default: false,
        description: "Sends nothing for canceled runs.",
      }),
      ...(ofTask
        ? {
            alert_on_last_attempt: flagField({
              default: false,
              description: "Sends messages for the last attempt only.",
            }),
          }
        : {}),
    },
    { ...ONLY, severity: "other", description: "Runs that send no messages." },
  );

export const health = groupField(
  {
    rules: required(
      listField(
        groupField(
          {
            metric: required(
              choiceField(
                [
                  "RUN_DURATION_SECONDS",
                  "STREAMING_BACKLOG_BYTES",
                  "STREAMING_BACKLOG_RECORDS",
                  "STREAMING_BACKLOG_SECONDS",
                  "STREAMING_BACKLOG_FILES",
                ],
                { description: "Measure." },
              ),
            ),
            op: required(choiceField(["GREATER_THAN"], { description: "How it compares with value." })),
            value: required(integerField({ minimum: 0, description: "Limit, in the unit of the metric." })),
          },
          { description: "One limit." },
        ),
        { list: { key: "metric" }, description: "Limits; beyond one, a run counts as unhealthy." },
      ),
    ),
  },
  { ...ONLY, severity: "other", description: "Limits that send messages during a run." },
);
