// Whether a state may take the place of another: it must be the same one, for the same workspace, and not older.

import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import type { State } from "../../state/model/record.ts";

/**
 * Throws Failure with everything that speaks against it. Where nothing is recorded yet, anything may come. `from`: the place that
 * the incoming state comes from; what was moved there before is newer by the marks of that move alone.
 */
export function assertFollows(present: State, incoming: State, from?: string): void {
  if (present.serial === 0 && present.records.size === 0 && present.open.length === 0) return;
  const found = [...otherState(present, incoming, from), ...otherHost(present, incoming)];
  if (found.length > 0) throw new Failure(...found);
}

const HINT =
  "look at both first; --force puts it there all the same, and the present one stays as a generation";

function gaveWay({ moved, movingAbove }: State, to: string | undefined): boolean {
  return moved !== undefined && moved === to && movingAbove === undefined;
}

function otherState(present: State, incoming: State, from: string | undefined): Diagnostic[] {
  if (present.lineage !== incoming.lineage)
    return [
      error("STATE_LINEAGE", "another state is there already, with a lineage of its own", {
        hint: HINT,
        cause: `${present.records.size} resources are recorded there, ${incoming.records.size} here`,
      }),
    ];
  if (incoming.serial < present.serial && !gaveWay(present, from))
    return [
      error(
        "STATE_LINEAGE",
        `the state there is newer: serial ${present.serial}, and not ${incoming.serial}`,
        {
          hint: HINT,
        },
      ),
    ];
  return [];
}

function otherHost(present: State, incoming: State): Diagnostic[] {
  if (present.host === "" || incoming.host === "" || present.host === incoming.host) return [];
  return [
    error("STATE_OTHER_HOST", `the state there belongs to ${present.host}, not to ${incoming.host}`, {
      hint: HINT,
    }),
  ];
}
