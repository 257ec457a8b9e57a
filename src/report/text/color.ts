// Colors as functions of text; the caller turns them on or off.

import picocolors from "picocolors";

export type Paint = (text: string) => string;

export interface Colors {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
  readonly magenta: Paint;
  /** White on red: for what destroys. */
  readonly alarm: Paint;
}

export function colorsFor(enabled: boolean): Colors {
  const { bold, dim, red, green, yellow, cyan, magenta, bgRed, white } = picocolors.createColors(enabled);
  return { bold, dim, red, green, yellow, cyan, magenta, alarm: (text) => bgRed(white(bold(text))) };
}

export function diffPaint(line: string, { green, red }: Colors, ofContext: Paint = String): Paint {
  if (line.startsWith("+")) return green;
  return line.startsWith("-") ? red : ofContext;
}

/** Colors if forced, none with NO_COLOR or a dumb terminal, else colors on a terminal. */
export function wantsColor(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const set = (name: string) => (env[name] ?? "") !== "";
  if (set("NO_COLOR")) return false;
  if (set("FORCE_COLOR")) return env.FORCE_COLOR !== "0" && env.FORCE_COLOR !== "false";
  return isTerminal && env.TERM !== "dumb" && !set("CI");
}
