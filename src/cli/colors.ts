// The colours of what a run writes.

import { type Colors, colorsFor, wantsColor } from "../report/color.ts";
import type { Context } from "./context.ts";
import type { Output } from "./output.ts";

export function colorsOf({ env }: Pick<Context, "env">, { isTerminal }: Output): Colors {
  return colorsFor(wantsColor(env, isTerminal));
}
