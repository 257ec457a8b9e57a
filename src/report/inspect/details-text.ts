// Changes of a plan in full, for the prompt of an apply: by number, address, or filter.

import { count } from "../../core/sentences.ts";
import { changeLines } from "../format/change-text.ts";
import { printable } from "../text/printable.ts";
import type { Colors } from "../text/terminal.ts";
import type { ChangeView } from "../view/change-view.ts";
import { changeEntry, rowFilter } from "../view/choice.ts";
import type { PlanView } from "../view/plan-view.ts";

interface NumberedChange {
  readonly number: number;
  readonly change: ChangeView;
}

/** `request`: empty for the list of all changes, else what selects them. Equal changes are not folded, and contents are not shortened. */
export function detailsText(
  { touching }: Pick<PlanView, "touching">,
  request: string,
  colors: Colors,
): string {
  const changes = touching.map((change, at): NumberedChange => ({ number: at + 1, change }));
  if (request === "") return `${changes.map((change) => listLine(change, colors)).join("\n")}\n`;
  const selected = selectedBy(changes, request);
  if (typeof selected === "string") return `${printable(selected)}\n`;
  return `${selected.map(({ change }) => changeLines(change, colors, { isWhole: true }).join("\n")).join("\n\n")}\n`;
}

function listLine({ number, change }: NumberedChange, colors: Colors): string {
  const { sign, verb, title } = change;
  return `  ${colors.dim(String(number).padStart(4))}  ${sign} ${verb.padEnd(8)} ${title}`;
}

/** A sentence if the request selects nothing. */
function selectedBy(changes: readonly NumberedChange[], request: string): readonly NumberedChange[] | string {
  const total = `The plan has ${count(changes.length, "change")}`;
  if (/^\d+$/.test(request)) {
    const numbered = changes.filter(({ number }) => number === Number(request));
    return numbered.length > 0 ? numbered : `${total}; enter a number from 1 to ${changes.length}.`;
  }
  const addressed = changes.filter(({ change }) => change.address === request);
  if (addressed.length > 0) return addressed;
  let problem: string | undefined;
  const filter = rowFilter(request, (why) => {
    problem ??= why;
  });
  if (problem !== undefined) return `${JSON.stringify(request)} selects no change: ${problem}.`;
  const fitting = changes.filter(({ change }) => filter.fits(changeEntry(change)));
  return fitting.length > 0 ? fitting : `${total}, and none fits ${JSON.stringify(request)}.`;
}
