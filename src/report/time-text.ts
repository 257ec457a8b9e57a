// Moments of the service's clock as people and programs read them: UTC, to the second.

import type { Json } from "../core/json.ts";

/** `2026-11-21T09:48:03Z` for epoch milliseconds; empty for everything that is none. */
export function timeText(value: Json | undefined): string {
  const ms = typeof value === "string" || typeof value === "bigint" ? Number(value) : value;
  if (typeof ms !== "number" || !(Math.abs(ms) <= 8.64e15) || ms === 0) return "";
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
