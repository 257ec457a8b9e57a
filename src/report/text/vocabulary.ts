// Terms of the reports: durations, times (ISO 8601, UTC, to the second), and the sign and verb of each action.

import type { Json } from "../../core/json.ts";
import { grouped } from "../../core/sentences.ts";
import type { Action } from "../../planner/model/change.ts";
import { CHANGING_ACTIONS } from "../../resource/planning.ts";

export const SIGNS: Readonly<Record<Action, string>> = {
  create: "+",
  update: "~",
  replace: "±",
  delete: "-",
  adopt: "→",
  import: "→",
  move: "→",
  forget: "×",
  compare: "≠",
  noop: " ",
  report: "?",
};

export const VERBS: Readonly<Record<Action, string>> = {
  create: "create",
  update: "update",
  replace: "replace",
  delete: "DELETE",
  adopt: "adopt",
  import: "import",
  move: "move",
  forget: "forget",
  compare: "compare",
  noop: "keep",
  report: "found",
};

export const DONE: Readonly<Record<Action, string>> = {
  create: "created",
  update: "updated",
  replace: "replaced",
  delete: "deleted",
  adopt: "adopted",
  import: "imported",
  move: "moved",
  forget: "forgotten",
  compare: "compared",
  noop: "unchanged",
  report: "reported",
};

export const IN_PROGRESS_VERBS: Readonly<Record<Action, string>> = {
  create: "creating",
  update: "updating",
  replace: "replacing",
  delete: "deleting",
  adopt: "adopting",
  import: "importing",
  move: "moving",
  forget: "forgetting",
  compare: "comparing",
  noop: "comparing",
  report: "reporting",
};

type Counts = Readonly<Record<(typeof CHANGING_ACTIONS)[number], number>>;

/** Changes of the state alone. A summary names them only if there are any. */
const STATE_ACTIONS: readonly string[] = ["adopt", "import", "move", "forget"];

/** The actions that a summary names. */
export function summaryActions(counts: Counts): readonly (keyof Counts)[] {
  return CHANGING_ACTIONS.filter((action) => counts[action] > 0 || !STATE_ACTIONS.includes(action));
}

/** With the secrets that an apply writes if they differ. */
export const PLANNED_ACTIONS = [...CHANGING_ACTIONS, "compare"] as const satisfies readonly Action[];

/** `1 to create`, `2 to delete`: the actions that there are. */
export function plannedCounts(
  counts: Readonly<Record<(typeof PLANNED_ACTIONS)[number], number>>,
): readonly string[] {
  const planned = PLANNED_ACTIONS.filter((action) => counts[action] > 0);
  return planned.map((action) => `${grouped(counts[action])} to ${action}`);
}

/** `2026-11-21T09:48:03Z` for epoch milliseconds; empty for any other value. */
export function timeText(value: Json | undefined): string {
  const ms = typeof value === "string" || typeof value === "bigint" ? Number(value) : value;
  if (typeof ms !== "number" || !(Math.abs(ms) <= 8.64e15) || ms === 0) return "";
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
