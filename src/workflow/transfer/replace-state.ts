// Checks whether a state may replace another: same lineage, same workspace, and not older.

import { type Diagnostic, error, Failure } from "../../core/diagnostic.ts";
import type { State } from "../../state/model/record.ts";

/** `from`: where the incoming state is; what was moved there before is newer by the marks of that move alone. */
export function assertFollows(present: State, incoming: State, from?: string): void {
  if (present.serial === 0 && present.records.size === 0 && present.open.length === 0) return;
  const found = [...otherState(present, incoming, from), ...otherHost(present, incoming)];
  if (found.length > 0) throw new Failure(...found);
}

const HINT =
  "compare both states first; to replace the current one, pass --force (it is kept as an earlier version)";

function gaveWay({ moved, movingAbove }: State, to: string | undefined): boolean {
  return moved !== undefined && moved === to && movingAbove === undefined;
}

function otherState(present: State, incoming: State, from: string | undefined): Diagnostic[] {
  if (present.lineage !== incoming.lineage)
    return [
      error("STATE_LINEAGE", "the location already contains a state of another lineage", {
        hint: HINT,
        cause: `it records ${present.records.size} resources, the new one ${incoming.records.size}`,
      }),
    ];
  if (incoming.serial < present.serial && !gaveWay(present, from))
    return [
      error(
        "STATE_LINEAGE",
        `the state at the location is newer: serial ${present.serial}, not ${incoming.serial}`,
        { hint: HINT },
      ),
    ];
  return [];
}

function otherHost(present: State, incoming: State): Diagnostic[] {
  if (present.host === "" || incoming.host === "" || present.host === incoming.host) return [];
  return [
    error(
      "STATE_OTHER_HOST",
      `the state at the location belongs to ${present.host}, not to ${incoming.host}`,
      { hint: HINT },
    ),
  ];
}
