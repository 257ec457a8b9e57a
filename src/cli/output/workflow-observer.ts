// Writes what a workflow finds and waits for to stderr, and shows its progress: a board on a terminal, plain lines in a log.

import { type CommandContext, fromEnv } from "../../config/environment.ts";
import { type Progress, plainProgress } from "../../report/inspect/progress.ts";
import { printable } from "../../report/text/printable.ts";
import type { WorkflowObserver } from "../../workflow/invocation/invocation.ts";
import { colorsOf, printDiagnostics } from "./diagnostics.ts";

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
  if (
    stderr.isTerminal &&
    stderr.columns >= NARROWEST &&
    fromEnv(context, "CI") === undefined &&
    context.env.TERM !== "dumb"
  ) {
    const { progressBoard } = await import("../../report/inspect/progress-board.ts");
    return progressBoard({ stream: stderr.stream as NodeJS.WriteStream, now: () => performance.now() });
  }
  return plainProgress({ write: (text) => stderr.write(text), colors: colorsOf(context, stderr) });
}
