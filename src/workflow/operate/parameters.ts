// Starts a run of a recorded job with parameters in the field for its type of task (contract B 4.2 rule 4).

import { type Diagnostic, error, Failure, failureOf } from "../../core/diagnostic.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { UnknownOutcome } from "../../core/request-failure.ts";
import { shellWord } from "../../core/sentences.ts";
import { int64 } from "../../providers/kit/responses.ts";
import type { RecordedObject } from "./recorded-object.ts";
import { jobSettings } from "./wait.ts";

export interface Parameters {
  readonly param: readonly string[];
  readonly jarParam: readonly string[];
  readonly pythonParam: readonly string[];
  readonly submitParam: readonly string[];
}

interface TaskKind {
  readonly task: string;
  readonly field: string;
  /** `runs a notebook`. */
  readonly what: string;
  readonly own: Exclude<keyof Parameters, "param"> | undefined;
  /** Only ASCII reaches the task (facts of such services). */
  readonly ascii?: true;
}

const TASKS: readonly TaskKind[] = [
  { task: "notebook_task", field: "notebook_params", what: "a notebook", own: undefined },
  { task: "spark_jar_task", field: "jar_params", what: "a JAR", own: "jarParam" },
  {
    task: "spark_python_task",
    field: "python_params",
    what: "a Python file",
    own: "pythonParam",
    ascii: true,
  },
  {
    task: "spark_submit_task",
    field: "spark_submit_params",
    what: "spark-submit",
    own: "submitParam",
    ascii: true,
  },
];

const FLAGS: Readonly<Record<keyof Parameters, string>> = {
  param: "--param",
  jarParam: "--jar-param",
  pythonParam: "--python-param",
  submitParam: "--submit-param",
};

/** The most bytes that a field of parameters may have as JSON (contract B 8). */
const MOST_BYTES = 10_000;

export function hasParameters(parameters: Parameters): boolean {
  return used(parameters).length > 0;
}

function used(parameters: Parameters): readonly (keyof Parameters)[] {
  return (Object.keys(FLAGS) as (keyof Parameters)[]).filter((name) => parameters[name].length > 0);
}

/** The field of run-now, or none. `settings` are the job's. Throws Failure with CLI_USAGE. */
export function parametersFor(address: string, settings: JsonObject, parameters: Parameters): JsonObject {
  if (!hasParameters(parameters)) return {};
  const kind = TASKS.find(({ task }) => settings[task] !== undefined);
  if (kind === undefined) throw failureOf("CLI_USAGE", `the task of ${address} does not take parameters`);
  const misplaced = used(parameters).filter((name) => name !== "param" && name !== kind.own);
  if (misplaced.length > 0) throw new Failure(...misplaced.map((name) => misfit(address, kind, name)));
  const values = [...parameters.param, ...(kind.own === undefined ? [] : parameters[kind.own])];
  const value: Json = kind.own === undefined ? named(values) : values;
  assertFits(address, kind, value);
  return { [kind.field]: value };
}

function misfit(address: string, kind: TaskKind, name: keyof Parameters): Diagnostic {
  const right = kind.own === undefined ? "--param name=value" : `--param VALUE or ${FLAGS[kind.own]} VALUE`;
  return error("CLI_USAGE", `${address} runs ${kind.what}, which does not support ${FLAGS[name]}`, {
    hint: `use ${right}`,
  });
}

function named(texts: readonly string[]): JsonObject {
  const pairs = texts.map((text): readonly [string, string] => {
    const equals = text.indexOf("=");
    if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)];
    throw failureOf("CLI_USAGE", `--param ${text} does not have the form name=value`, {
      hint: "the parameters of a notebook have names",
    });
  });
  const names = pairs.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw failureOf("CLI_USAGE", `duplicate parameter --param ${twice}`);
  return Object.fromEntries(pairs);
}

function assertFits(address: string, { field, ascii, what }: TaskKind, value: Json): void {
  const text = stringifyJson(value);
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_BYTES)
    throw failureOf(
      "CLI_USAGE",
      `the parameters for ${address} are ${bytes} bytes as JSON; the limit of ${field} is ${MOST_BYTES}`,
      { hint: "write large values to a file, and pass its path" },
    );
  if (ascii === true && /[^\p{ASCII}]/u.test(text))
    throw failureOf(
      "CLI_USAGE",
      `the parameters for ${address} contain characters outside ASCII, which ${what} does not support`,
    );
}

/** A start is never repeated blindly: where its outcome is unknown, the failure says how to find out. */
export async function runJobNow(
  { connection, id, address }: RecordedObject,
  requested: Parameters,
): Promise<JsonObject> {
  const job_id = int64(id);
  const parameters = hasParameters(requested)
    ? parametersFor(address, await jobSettings(connection.reader, job_id), requested)
    : {};
  try {
    return await connection.writer.write("jobs/run-now", { job_id, ...parameters });
  } catch (failure) {
    if (!(failure instanceof UnknownOutcome)) throw failure;
    const hint = `to check whether the run started, run \`workspace runs list --job ${shellWord(address)}\``;
    throw new Failure({ ...failure.diagnostic, hint });
  }
}
