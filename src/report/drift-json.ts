// Drift as JSON: the list that a plan also carries, with where it was found.

import type { Plan } from "../planner/plan.ts";
import type { Registry } from "../resource/registry.ts";
import { diagnosticJson } from "./diagnostic-text.ts";
import { driftJson, PLAN_FORMAT_VERSION } from "./plan-json.ts";

export function driftReportJson(
  plan: Plan,
  registry: Registry,
  toolVersion: string,
): Record<string, unknown> {
  return {
    format_version: PLAN_FORMAT_VERSION,
    tool_version: toolVersion,
    host: plan.host,
    drift: plan.drift.map((one) => driftJson(one, registry)),
    diagnostics: plan.diagnostics.map(diagnosticJson),
  };
}
