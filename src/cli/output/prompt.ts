// Asks for approval before a change; fails if it cannot ask.

import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { CommandContext } from "../../config/environment.ts";
import { type Failure, failureOf } from "../../core/diagnostic.ts";
import { printable } from "../../report/text/printable.ts";
import { fitted } from "./diagnostics.ts";

export interface ApprovalOptions {
  readonly autoApprove: boolean;
  readonly noInput: boolean;
}

const DETAILS_HINT =
  'To see a change in full, enter its number, or "details" and an address or a filter, such as "details destroys".\n';

/** Shows what a request selects: a number, an address, or a filter; empty for everything. */
type ShowDetails = (request: string) => void;

/**
 * True if the changes are approved. With `showDetails`, the answer `details`, alone or with a request, and a number show
 * changes, and the question is asked again. Throws Failure with CLI_CONFIRMATION if it cannot ask.
 */
export async function askApproval(
  context: CommandContext,
  asking: ApprovalOptions,
  question: string,
  signal: AbortSignal,
  advice: string,
  showDetails?: ShowDetails,
): Promise<boolean> {
  if (asking.autoApprove) return true;
  if (asking.noInput) throw cannotAsk("--no-input is set", advice);
  if (context.stdin.isTTY !== true)
    throw cannotAsk("stdin is not a terminal and --auto-approve is not set", advice);
  const dialog = createInterface({ input: context.stdin, output: context.stderr.stream });
  // On a terminal in this mode Ctrl-C is a key, not a signal.
  dialog.on("SIGINT", () => {
    context.stderr.write("\n");
    context.signals.receive("SIGINT");
  });
  const closed = new Promise<string>((resolve) => dialog.once("close", () => resolve("")));
  try {
    const answers = showDetails === undefined ? 'Enter "yes" to continue' : 'Enter "yes", "no", or "details"';
    for (;;) {
      const asked = dialog.question(`\n${printable(question)} ${answers}: `, { signal });
      const answer = (await Promise.race([asked, closed])).trim();
      const request = /^details\b\s*(.*)$/is.exec(answer)?.[1] ?? /^\d+$/.exec(answer)?.[0];
      if (showDetails === undefined || request === undefined) return answer.toLowerCase() === "yes";
      showDetails(request);
      if (request === "") context.stderr.write(fitted(DETAILS_HINT, context.stderr));
    }
  } catch {
    return false;
  } finally {
    dialog.close();
  }
}

const LONGEST_SECRET = 64 * 1024;

/** A secret, typed at a prompt without echo, or from the first line of standard input. Throws Failure with CLI_USAGE if there is none. */
export async function askSecret(context: CommandContext, label: string): Promise<string> {
  const { stdin, stderr, signals } = context;
  const typed = stdin.isTTY === true;
  if (typed) stderr.write(`${label}: `);
  // On a terminal, readline turns off the echo and prints typed characters itself; this output discards them.
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const dialog = createInterface({ input: stdin, output: unseen, terminal: typed });
  dialog.on("SIGINT", () => {
    stderr.write("\n");
    signals.receive("SIGINT");
  });
  const first = new Promise<string>((resolve) => {
    dialog.once("line", resolve);
    dialog.once("close", () => resolve(""));
  });
  const secret = (await first).trim();
  dialog.close();
  if (typed) stderr.write("\n");
  if (secret.length > LONGEST_SECRET)
    throw failureOf("CLI_USAGE", `${label.toLowerCase()} is longer than ${LONGEST_SECRET} characters`, {
      hint: "pipe only the secret to standard input, without the file or answer that contains it",
    });
  if (secret !== "") return secret;
  throw failureOf("CLI_USAGE", `${label.toLowerCase()} is missing`, {
    hint: "type it at the prompt, or pipe it to standard input",
  });
}

function cannotAsk(why: string, hint: string): Failure {
  return failureOf("CLI_CONFIRMATION", `approval is required, but ${why}`, { hint });
}
