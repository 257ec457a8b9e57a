// Words and numbers as people read them: counts, lists, durations, and the sign and verb of each action.

import type { Action } from "../planner/change.ts";

/** `1 change`, `3 changes`, `1,000 changes`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** `12,500`, the same in every locale. */
export function grouped(number: number): string {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1st`, `2nd`, `11th`. */
export function ordinal(number: number): string {
  const ending = Math.floor(number / 10) % 10 === 1 ? undefined : ["st", "nd", "rd"][(number % 10) - 1];
  return `${number}${ending ?? "th"}`;
}

/** `a`, `a and b`, `a, b and c`; past `most` members the rest is counted. */
export function listed(items: readonly string[], most = 5): string {
  if (items.length > most)
    return `${items.slice(0, most).join(", ")} and ${grouped(items.length - most)} more`;
  const last = items.at(-1) ?? "";
  return items.length < 2 ? last : `${items.slice(0, -1).join(", ")} and ${last}`;
}

/** `0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** How an action is written at the start of its line. */
export const SIGNS: Readonly<Record<Action, string>> = {
  create: "+",
  update: "~",
  replace: "±",
  delete: "-",
  adopt: "→",
  forget: "×",
  noop: " ",
  report: "?",
};

/** What has been done once an action is applied. */
export const DONE: Readonly<Record<Action, string>> = {
  create: "created",
  update: "updated",
  replace: "replaced",
  delete: "deleted",
  adopt: "adopted",
  forget: "forgotten",
  noop: "unchanged",
  report: "reported",
};

/** What is being done while an action is applied. */
export const DOING: Readonly<Record<Action, string>> = {
  create: "creating",
  update: "updating",
  replace: "replacing",
  delete: "deleting",
  adopt: "adopting",
  forget: "forgetting",
  noop: "leaving",
  report: "reporting",
};

/** The actions that change something, in the order of summaries. */
export const TOUCHING = [
  "create",
  "update",
  "replace",
  "delete",
  "adopt",
  "forget",
] as const satisfies readonly Action[];
