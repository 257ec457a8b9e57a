// `workspace run JOB`: starts a job that the spec manages, and follows it to its result.

import { error, Failure } from "../../core/diagnostic.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { printableJson } from "../../report/printable.ts";
import { hasSucceeded, outputText, stateText } from "../../report/run-text.ts";
import { defineCommand } from "../command.ts";
import type { Connection } from "../connection.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { followRun } from "../follow-run.ts";
import { choice, flag, texts } from "../option.ts";
import { HOST_OPTIONS, SPEC_OPTIONS, STATE_OPTIONS } from "../options.ts";
import { numberId, withRecorded } from "../recorded.ts";

export const run = defineCommand({
  name: "run",
  summary: "start a job, and follow it to its result",
  options: {
    file: SPEC_OPTIONS.file,
    target: SPEC_OPTIONS.target,
    state: STATE_OPTIONS.state,
    ...HOST_OPTIONS,
    param: texts(
      "--param <value>",
      "a parameter: name=value for a notebook, else one after the other; can be repeated",
    ),
    wait: flag("--wait", "follow the run to its end; the exit code says how it ended"),
    output: choice("-o, --output <form>", "the form of the output", ["text", "json"]),
  },
  args: [{ name: "<job>", description: "address of a job, such as jobs.nightly" }],
  notes:
    "Exit codes: 0 started, or with --wait ended in success; 1 error, or another end. Ctrl-C stops following, not the run.",
  async run(context, options, [address = ""]) {
    return context.signals.during(
      (signal) =>
        withRecorded(context, options, "jobs", address, async ({ connection, id }) => {
          const job = await connection.reader.read("jobs/get", { job_id: numberId(id) });
          const started = await connection.writer.write("jobs/run-now", {
            job_id: numberId(id),
            ...parameters(job, options.param),
          });
          const runId = String(started.run_id);
          context.stderr.write(`run ${runId}: started\n`);
          if (!options.wait) {
            context.stdout.write(options.output === "json" ? `${printableJson(started, 2)}\n` : `${runId}\n`);
            return EXIT.ok;
          }
          const ended = await followRun(context, connection, runId, signal);
          await showEnd(context, connection, ended, options.output);
          return hasSucceeded(ended) ? EXIT.ok : EXIT.error;
        }),
      "Following stops; the run goes on.\n",
    );
  },
});

async function showEnd(
  context: Context,
  connection: Connection,
  ended: JsonObject,
  form: "text" | "json",
): Promise<void> {
  const output = await connection.reader.read("jobs/runs/get-output", { run_id: ended.run_id ?? 0 });
  if (form === "json") {
    context.stdout.write(`${printableJson(output, 2)}\n`);
    return;
  }
  // A run without an output of its own says so as an error; after a success that is no news.
  const { error: _none, ...given } = output;
  context.stdout.write(`${stateText(ended)}\n${outputText(hasSucceeded(ended) ? given : output)}`);
}

/** The field of run-now that the job's kind of task takes (part B, 4.2 rule 4). */
function parameters(job: JsonObject, given: readonly string[]): JsonObject {
  if (given.length === 0) return {};
  const settings = objectIn(job.settings);
  if (settings.notebook_task !== undefined)
    return { notebook_params: Object.fromEntries(given.map(nameAndValue)) };
  if (settings.spark_jar_task !== undefined) return { jar_params: given };
  if (settings.spark_python_task !== undefined) return { python_params: given };
  return { spark_submit_params: given };
}

function nameAndValue(given: string): readonly [string, string] {
  const equals = given.indexOf("=");
  if (equals > 0) return [given.slice(0, equals), given.slice(equals + 1)];
  throw new Failure(
    error("CLI_USAGE", `--param ${given} is not name=value`, { hint: "a notebook's parameters have names" }),
  );
}

function objectIn(value: Json | undefined): JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : {};
}
