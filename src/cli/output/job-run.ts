// Prints job runs and clusters: each new state while a command waits, the result of a run, and notebook views as HTML files.

import { extname, resolve } from "node:path";
import type { CommandContext } from "../../config/environment.ts";
import { withFileCreation } from "../../config/files.ts";
import { writeWholeFile } from "../../config/write-file.ts";
import { type Diagnostic, error, failureOf } from "../../core/diagnostic.ts";
import { type JsonObject, objectIn } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import {
  clusterText,
  durations,
  hasSucceeded,
  messageOf,
  outcomeWord,
  outputText,
  stateText,
} from "../../report/inspect/cluster-text.ts";
import { jsonDocument, printable, printableLines } from "../../report/text/printable.ts";
import type { FollowRunObserver } from "../../workflow/operate/wait.ts";
import type { Connection } from "../../workflow/session/connect.ts";
import { EXIT } from "../command/exit-codes.ts";
import { colorsOf, printDiagnostics } from "./diagnostics.ts";

interface JobRunOutcome {
  readonly id: number | bigint;
  /** `jobs.nightly`, or empty where only the run is known. */
  readonly address: string;
  readonly form: "text" | "json";
}

export async function showEnd(
  context: CommandContext,
  connection: Connection,
  run: JsonObject,
  ending: JobRunOutcome,
): Promise<number> {
  const output = await outputOf(connection, run, ending);
  if (ending.form === "json") context.stdout.write(jsonDocument({ run, output }, 2));
  else {
    const colors = colorsOf(context, context.stdout);
    const word = outcomeWord(run);
    const paint = hasSucceeded(run) ? colors.green : colors.red;
    // A run that never started has no duration.
    const took = durations(run);
    context.stderr.write(`run ${ending.id}: ${paint(word)}${took === "" ? "" : ` after ${took}`}\n`);
    context.stdout.write(outputText(output));
  }
  if (hasSucceeded(run)) return EXIT.ok;
  printDiagnostics(context, [unsuccessful(run, ending)]);
  return EXIT.error;
}

/** Only notebooks return a result, and only if the run succeeded. */
async function outputOf({ reader }: Connection, run: JsonObject, { id }: JobRunOutcome): Promise<JsonObject> {
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

function unsuccessful(run: JsonObject, { id, address }: JobRunOutcome): Diagnostic {
  const cause = messageOf(run);
  const of = address === "" ? "" : ` of ${address}`;
  return error("CLI_RUN_FAILED", `run ${id}${of} ended: ${outcomeWord(run)}`, {
    ...(cause === "" ? {} : { cause }),
    hint: `to show it, run \`workspace runs get ${id}\``,
  });
}

interface View {
  readonly name: string;
  readonly content: string;
}

export function viewsOf({ views }: JsonObject): readonly View[] {
  if (!Array.isArray(views)) return [];
  return (views as readonly JsonObject[]).map(({ name, content }) => ({
    name: typeof name === "string" ? name : "",
    content: typeof content === "string" ? content : "",
  }));
}

interface Writing {
  readonly run: number | bigint;
  readonly out: string | undefined;
  readonly force: boolean;
}

/** Throws Failure with CLI_USAGE, CLI_FILE or CLI_NO_OBJECT. */
export function writeViews(
  context: CommandContext,
  views: readonly View[],
  { run, out, force }: Writing,
): void {
  const [first, ...more] = views;
  if (first === undefined)
    throw failureOf("CLI_NO_OBJECT", `run ${run} does not have the requested views`, {
      hint: "pass --views ALL",
    });
  if (out === undefined) {
    if (more.length > 0)
      throw failureOf("CLI_USAGE", `run ${run} has ${views.length} views, too many for one output`, {
        hint: "write them into files with --out FILE",
      });
    const { stdout } = context;
    stdout.write(stdout.isTerminal ? `${printableLines(first.content).join("\n")}\n` : first.content);
    return;
  }
  for (const [at, view] of views.entries()) {
    const path = at === 0 ? out : numbered(out, at + 1);
    withFileCreation(path, "choose another file, or overwrite it with --force", () =>
      writeWholeFile(resolve(context.cwd, path), view.content, { over: force }),
    );
    context.stdout.write(`Wrote ${path}${view.name === "" ? "" : ` (${printable(view.name)})`}.\n`);
  }
}

/** `night-2.html` for `night.html`. */
function numbered(path: string, number: number): string {
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
}

export function runStates(context: CommandContext): FollowRunObserver {
  const say = newLines(context);
  return {
    polled: (id, run) => say(`run ${id}: ${stateText(run)}`),
    retryExpected: (id, run) => say(`run ${id}: ${stateText(run)}; the job retries it`),
    retried: (next, id, run) => say(`run ${next}: retry of run ${id} (${outcomeWord(run)})`),
  };
}

export function clusterStates(context: CommandContext, address: string): (cluster: JsonObject) => void {
  const say = newLines(context);
  return (cluster) => say(`${printable(address)}: ${clusterText(cluster)}`);
}

/** Leaves out a line that repeats the one before it. */
function newLines({ stderr }: CommandContext): (line: string) => void {
  let last = "";
  return (line) => {
    if (line !== last) stderr.write(`${line}\n`);
    last = line;
  };
}
