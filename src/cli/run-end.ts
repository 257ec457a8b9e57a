// How a run ended, for people and for scripts: its story and output on stdout, what went wrong on stderr, the exit code.

import { type Diagnostic, error } from "../core/diagnostic.ts";
import { type JsonObject, objectIn } from "../core/json.ts";
import { Refused } from "../core/outcome.ts";
import { printableJson } from "../report/printable.ts";
import { durations, hasSucceeded, messageOf, outcomeWord, outputText } from "../report/run-text.ts";
import { colorsOf } from "./colors.ts";
import type { Connection } from "./connection.ts";
import type { Context } from "./context.ts";
import { EXIT } from "./exit.ts";
import { tell } from "./trouble.ts";

export interface Ending {
  readonly id: number | bigint;
  /** `jobs.nightly`, or empty where only the run is known. */
  readonly address: string;
  readonly form: "text" | "json";
}

export async function showEnd(
  context: Context,
  connection: Connection,
  run: JsonObject,
  ending: Ending,
): Promise<number> {
  const output = await outputOf(connection, run, ending);
  if (ending.form === "json") context.stdout.write(`${printableJson({ run, output }, 2)}\n`);
  else {
    const colors = colorsOf(context, context.stdout);
    const word = outcomeWord(run);
    const paint = hasSucceeded(run) ? colors.green : colors.red;
    context.stderr.write(`run ${ending.id}: ${paint(word)}${after(run)}\n`);
    context.stdout.write(outputText(output));
  }
  if (hasSucceeded(run)) return EXIT.ok;
  tell(context, [unsuccessful(run, ending)]);
  return EXIT.error;
}

/** What never began took no time. */
function after(run: JsonObject): string {
  const took = durations(run);
  return took === "" ? "" : ` after ${took}`;
}

/** Only notebooks give something back; of a run that did not work nothing is asked. */
async function outputOf({ reader }: Connection, run: JsonObject, { id }: Ending): Promise<JsonObject> {
  const worked = objectIn(run.state).life_cycle_state === "TERMINATED";
  if (!worked || objectIn(run.task).notebook_task === undefined) return {};
  try {
    const { metadata: _, ...output } = await reader.read("jobs/runs/get-output", { run_id: id });
    return output;
  } catch (refusal) {
    if (!(refusal instanceof Refused)) throw refusal;
    return { error: refusal.diagnostic.cause ?? refusal.diagnostic.message };
  }
}

function unsuccessful(run: JsonObject, { id, address }: Ending): Diagnostic {
  const cause = messageOf(run);
  const of = address === "" ? "" : ` of ${address}`;
  return error("CLI_RUN_FAILED", `run ${id}${of} ended: ${outcomeWord(run)}`, {
    ...(cause === "" ? {} : { cause }),
    hint: `see: workspace runs get ${id}`,
  });
}
