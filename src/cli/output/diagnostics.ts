// Prints diagnostics and results, never a stack trace; reports lost output; shows what a workflow finds, waits for, and reads; decides whether output has colors.

import { type CommandContext, isCi } from "../../config/environment.ts";
import type { Output } from "../../config/streams.ts";
import { type Diagnostic, error, Failure, hasErrors } from "../../core/diagnostic.ts";
import { diagnosticsOf } from "../../core/request-failure.ts";
import { stateExists } from "../../planner/model/input.ts";
import { type Progress, plainProgress } from "../../report/inspect/progress.ts";
import { diagnosticsText } from "../../report/text/diagnostic-text.ts";
import { jsonDocument, printable } from "../../report/text/printable.ts";
import { type Colors, colorsFor, wantsColor, wrapText } from "../../report/text/terminal.ts";
import type { State } from "../../state/model/record.ts";
import type { WorkflowObserver } from "../../workflow/invocation/invocation.ts";
import { EXIT, exitOf } from "../command/exit-codes.ts";

/** Writes what went wrong to stderr; the exit code. */
export function reportFailure(context: CommandContext, problem: unknown): number {
  const diagnostics = diagnosticsOf(problem);
  printDiagnostics(context, diagnostics);
  if (
    diagnostics.some((diagnostic) => diagnostic.code === "CLI_INTERNAL") &&
    context.env.WORKSPACE_DEBUG === "1" &&
    problem instanceof Error
  )
    context.stderr.write(`${problem.stack}\n`);
  return exitOf(diagnostics);
}

/** `isWhole`: each of many equal warnings has its message. An answer that follows has a form with each of them otherwise. */
export function printDiagnostics(
  context: Pick<CommandContext, "env" | "stderr">,
  diagnostics: readonly Diagnostic[],
  { isWhole = true } = {},
): void {
  if (diagnostics.length === 0) return;
  const { stderr } = context;
  stderr.write(fitted(diagnosticsText(diagnostics, colorsOf(context, stderr), { isWhole }), stderr));
}

/** Text as wide as the terminal that shows it; elsewhere, lines stay whole. `isWhole`: lines of contents are wrapped, not shortened. */
export function fitted(text: string, { isTerminal, columns }: Output, isWhole = false): string {
  return isTerminal ? wrapText(text, columns, isWhole) : text;
}

export function colorsOf({ env }: Pick<CommandContext, "env">, { isTerminal }: Output): Colors {
  return colorsFor(wantsColor(env, isTerminal));
}

export function reportNothingChanged({ stderr }: CommandContext): number {
  stderr.write("Nothing was changed.\n");
  return EXIT.error;
}

type Form = "text" | "json";

export function printResult(
  { stdout }: CommandContext,
  form: Form,
  json: Readonly<Record<string, unknown>>,
  text: () => string,
): void {
  stdout.write(form === "json" ? jsonDocument(json, 2) : text());
}

/** An answer whose JSON is one line. */
export function printLine(
  { stdout }: CommandContext,
  form: Form,
  json: Readonly<Record<string, unknown>>,
  text: string,
): void {
  stdout.write(form === "json" ? jsonDocument(json) : text);
}

export type Outputs = Pick<CommandContext, "env" | "stdout" | "stderr">;

const AFTER_SIGNAL = 128;

/** Reports output that was not fully written. Returns the exit code: an error, unless a signal ended the process. */
export async function reportLostOutput(outputs: Outputs, problem: Error, code: number): Promise<number> {
  const diagnostic = error("CLI_FILE", "standard output could not be written completely", {
    cause: problem.message,
    hint: "only the output is incomplete; for the result of the command, read the messages above",
  });
  printDiagnostics(outputs, [diagnostic]);
  await outputs.stderr.flush();
  return code > AFTER_SIGNAL ? code : EXIT.error;
}

/** An empty answer could also mean that the location is wrong. */
export function noteMissingState(
  { stderr }: Pick<CommandContext, "stderr">,
  place: string,
  state: State,
): void {
  if (!stateExists(state)) stderr.write(`No state exists at ${printable(place)}.\n`);
}

/** Throws Failure when digests of secrets would be readable; warns of what was allowed. */
export function refuseExposed(
  context: Pick<CommandContext, "env" | "stderr">,
  exposed: readonly Diagnostic[],
): void {
  if (hasErrors(exposed)) throw new Failure(...exposed);
  printDiagnostics(context, exposed);
}

/** A shorter wait is over before a sentence about it is read, unless many follow each other. */
const LONG_WAIT_MS = 3_000;
const MANY_ATTEMPTS = 5;

export function workflowObserver(context: CommandContext): WorkflowObserver {
  return {
    report: (diagnostics) => printDiagnostics(context, diagnostics, { isWhole: false }),
    retrying({ operation, status, attempt, waitMs = 0 }) {
      if (waitMs < LONG_WAIT_MS && attempt % MANY_ATTEMPTS !== 0) return;
      const what = status === 0 ? "returned no complete response" : `answered ${status}`;
      const seconds = Math.ceil(waitMs / 1000);
      context.stderr.write(`${operation} ${what}; retry ${attempt} in ${seconds} s\n`);
    },
    waitingForLock({ holder, timeoutMs, silenceMs }) {
      const whose = holder === undefined ? "" : ` of ${printable(holder)}`;
      const [wait, silence] = [timeoutMs, silenceMs].map((ms) => Math.ceil(ms / 1000));
      context.stderr.write(
        `Waiting up to ${wait} s for the state lock${whose}. The lock expires after ${silence} s without a heartbeat.\n`,
      );
    },
    begin: () => progressFor(context),
  };
}

/** Terminals of unknown width report 0. */
const NARROWEST = 20;

export async function progressFor(context: CommandContext): Promise<Progress> {
  const { stderr } = context;
  if (stderr.isTerminal && stderr.columns >= NARROWEST && !isCi(context) && context.env.TERM !== "dumb") {
    const { progressBoard } = await import("../../report/inspect/progress-board.ts");
    return progressBoard({ stream: stderr.stream as NodeJS.WriteStream, now: () => performance.now() });
  }
  return plainProgress({ write: (text) => stderr.write(text), colors: colorsOf(context, stderr) });
}
