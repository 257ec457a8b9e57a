// Chooses the progress display: a board on a terminal, plain lines in a log.

import { type CommandContext, fromEnv } from "../../config/environment.ts";
import type { Output } from "../../config/streams.ts";
import { type Progress, plainProgress } from "../../report/inspect/progress.ts";
import { colorsOf } from "./diagnostics.ts";

const TOGETHER_MS = 50;
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
  const lines = new Lines(stderr);
  const progress = plainProgress({
    write: (text) => lines.write(text),
    colors: colorsOf(context, stderr),
  });
  return {
    ...progress,
    stop: async () => {
      await progress.stop();
      lines.flush();
    },
  };
}

/** Lines are written in batches: one write per line took a tenth of a large apply's time. */
class Lines {
  readonly #output: Output;
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(output: Output) {
    this.#output = output;
  }

  write(text: string): void {
    this.#text += text;
    this.#timer ??= setTimeout(() => this.flush(), TOGETHER_MS);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#output.write(this.#text);
    this.#text = "";
  }
}
