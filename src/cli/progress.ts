// Which progress a run shows: a board where a person watches, lines where a log is kept.

import { colorsFor, wantsColor } from "../report/color.ts";
import { type Progress, plainProgress } from "../report/progress.ts";
import { fromEnv } from "./config.ts";
import type { Context } from "./context.ts";

/** Terminals that do not tell their width say 0. */
const NARROWEST = 20;

export async function progressFor(context: Context): Promise<Progress> {
  const { stderr } = context;
  if (
    stderr.isTerminal &&
    stderr.columns >= NARROWEST &&
    fromEnv(context, "CI") === undefined &&
    context.env.TERM !== "dumb"
  ) {
    const { progressBoard } = await import("../report/progress-board.ts");
    return progressBoard({ stream: stderr.stream as NodeJS.WriteStream, now: () => performance.now() });
  }
  return plainProgress({
    write: (text) => stderr.write(text),
    colors: colorsFor(wantsColor(context.env, stderr.isTerminal)),
  });
}
