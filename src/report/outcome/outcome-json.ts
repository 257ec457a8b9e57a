// An apply as JSON, one event per line.

import type { Diagnostic } from "../../core/diagnostic.ts";
import type { ApplyEvent, ChangeOutcome } from "../../planner/model/plan.ts";
import { diagnosticJson } from "../text/diagnostic-text.ts";
import { type RunInfo, runJson } from "../text/run-info.ts";
import type { OutcomeView } from "./outcome-view.ts";

type Line = Record<string, unknown>;

export function eventJson(event: ApplyEvent): Line {
  switch (event.type) {
    case "apply_begin":
      return { type: event.type, totals: event.totals };
    case "apply_start":
      return { type: event.type, address: event.address, kind: event.kind, action: event.action };
    case "apply_waiting":
      return { type: event.type, address: event.address, kind: event.kind, what: event.what };
    case "apply_complete":
    case "apply_skipped":
    case "apply_errored":
      return { type: event.type, ...changeOutcomeJson(event.outcome) };
  }
  return event satisfies never;
}

/** Of a run as a whole; `addresses`: what a guard's objection is about. */
export function diagnosticEventJson(one: Diagnostic, addresses?: readonly string[]): Line {
  return { type: "diagnostic", diagnostic: { ...diagnosticJson(one), addresses } };
}

export function changeOutcomeJson(one: ChangeOutcome): Line {
  const { address, kind, action, result, id, because, elapsedMs, diagnostic } = one;
  return {
    address,
    kind,
    action,
    result,
    id,
    because,
    elapsed_ms: Math.round(elapsedMs),
    diagnostic: diagnostic && diagnosticJson(diagnostic),
  };
}

/** The last line: `{type: "change_summary", applied: {create: 3, …}, failed, unknown, blocked, skipped, …}`. */
export function outcomeJson(view: OutcomeView, info?: RunInfo): Line {
  const { applied, unapplied, interrupted, elapsedMs } = view;
  return {
    type: "change_summary",
    applied,
    ...unapplied,
    interrupted,
    elapsed_ms: Math.round(elapsedMs),
    run: info && { tool_version: info.toolVersion, host: info.host, ...runJson(info) },
  };
}
