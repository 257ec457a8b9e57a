// Decodes the stored JSON of a past run.

import type { PastRun } from "../../core/past-run.ts";
import type { Shape } from "./shape.ts";

export function decodeRun(from: Shape): PastRun {
  const applied = from.object("applied");
  return {
    id: from.text("id"),
    command: from.oneOf("command", ["apply", "destroy"]),
    actor: from.text("actor"),
    ...(from.has("target") ? { target: from.text("target") } : {}),
    ...(from.has("commit") ? { commit: from.text("commit") } : {}),
    ...(from.has("run_url") ? { run_url: from.text("run_url") } : {}),
    started_at: from.number("started_at"),
    ...(from.has("ended_at") ? { ended_at: from.number("ended_at") } : {}),
    ...(from.has("caller") ? { caller: from.text("caller") } : {}),
    plan: from.text("plan"),
    outcome: from.oneOf("outcome", ["applied", "failed", "interrupted", "unfinished"]),
    applied: Object.fromEntries(Object.keys(applied.value).map((action) => [action, applied.number(action)])),
    left: from.number("left"),
    changed: from.addresses("changed"),
    ...(from.has("more") ? { more: from.number("more") } : {}),
  };
}
