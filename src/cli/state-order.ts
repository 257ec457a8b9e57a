// Whether a state may take the place of another: it must be the same one, for the same workspace, and not older.

import { type Diagnostic, error, Failure } from "../core/diagnostic.ts";
import type { State } from "../state/record.ts";

/** Throws Failure with everything that speaks against it. Where nothing is recorded yet, anything may come. */
export function assertFollows(present: State, incoming: State): void {
  if (present.serial === 0 && present.records.size === 0 && present.open.length === 0) return;
  const found = [...otherState(present, incoming), ...otherHost(present, incoming)];
  if (found.length > 0) throw new Failure(...found);
}

const HINT =
  "look at both first; --force puts it there all the same, and the present one stays as a generation";

function otherState(present: State, incoming: State): Diagnostic[] {
  if (present.lineage !== incoming.lineage)
    return [
      error("STATE_LINEAGE", "another state is there already, with a lineage of its own", {
        hint: HINT,
        cause: `${present.records.size} resources are recorded there, ${incoming.records.size} here`,
      }),
    ];
  if (incoming.serial < present.serial)
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
