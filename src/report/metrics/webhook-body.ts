// The message of a webhook about a run: a JSON document, or a form for Slack and compatible chats.

import { count } from "../../core/sentences.ts";
import { SEVERITIES } from "../../resource/field-schema.ts";
import { printable, printableJson } from "../text/printable.ts";
import type { RunResult } from "./run-result.ts";

export const WEBHOOK_FORMATS = ["json", "slack"] as const;

export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

export function webhookBody(facts: RunResult, format: WebhookFormat): string {
  return format === "json" ? printableJson(runDocument(facts)) : printableJson({ text: slackText(facts) });
}

function runDocument(facts: RunResult): Record<string, unknown> {
  return {
    format: "workspace-run/1",
    command: facts.command,
    outcome: facts.outcome,
    exit_code: facts.exitCode,
    errors: facts.errors,
    tool_version: facts.toolVersion,
    host: facts.host,
    target: facts.target,
    ...(facts.commit === undefined ? {} : { commit: facts.commit }),
    ...(facts.runUrl === undefined ? {} : { run_url: facts.runUrl }),
    ended_at: facts.endedAt,
    ...(facts.resources === undefined ? {} : { resources: facts.resources }),
    ...(facts.differences === undefined ? {} : { differences: facts.differences }),
    ...(facts.results === undefined ? {} : { results: facts.results }),
  };
}

function slackText(facts: RunResult): string {
  const { command, target, outcome, errors, host, commit, runUrl } = facts;
  const failed = errors.length === 0 ? "" : ` (${errors.join(", ")})`;
  const from = [
    ...(host === "" ? [] : [host]),
    ...(commit === undefined ? [] : [`commit ${commit.slice(0, 12)}`]),
  ];
  const link = runUrl === undefined ? [] : [`<${slackEscaped(runUrl.replaceAll("|", "%7C"))}|CI run>`];
  return [
    `*${slackEscaped(`workspace ${command}`)}* of ${slackEscaped(target)}: ${outcome}${failed}`,
    ...found(facts),
    [...from.map(slackEscaped), ...link].join(" · "),
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function found({ differences, results = {} }: RunResult): readonly string[] {
  if (differences === undefined) return [];
  const total = differences.reduce((sum, one) => sum + one.count, 0);
  const bySeverity = SEVERITIES.flatMap((severity) => {
    const number = differences.reduce((sum, one) => sum + (one.severity === severity ? one.count : 0), 0);
    return number === 0 ? [] : [`${severity} ${number}`];
  });
  const applied = Object.entries(results).map(([result, number]) => `${number} ${result}`);
  const severities = bySeverity.length === 0 ? "" : ` (${bySeverity.join(", ")})`;
  const done = applied.length === 0 ? [] : [`Changes: ${applied.join(", ")}`];
  return [`${count(total, "difference")}${severities}`, ...done];
}

/** The three characters that have a meaning in such messages: a name cannot make a link or notify a channel. */
function slackEscaped(text: string): string {
  return printable(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
