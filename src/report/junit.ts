// What a CI service shows as tests (JUnit's XML): a case for each resource or finding, a failure for what someone must look at.

import type { Diagnostic } from "../core/diagnostic.ts";
import type { ChangeOutcome, Outcome } from "../planner/outcome.ts";
import type { Drift, Plan } from "../planner/plan.ts";
import type { Registry } from "../resource/registry.ts";
import { changeView } from "./change-view.ts";
import { colorsFor } from "./color.ts";
import { diagnosticText } from "./diagnostic-text.ts";
import { DRIFT_WORDS, driftLines } from "./drift-text.ts";
import { outcomeLine } from "./outcome-text.ts";
import { changeLines } from "./plan-text.ts";
import { markupText } from "./printable.ts";
import { summaryLine } from "./summary.ts";
import { DONE } from "./words.ts";

interface Case {
  readonly group: string;
  readonly name: string;
  readonly ms?: number;
  /** Absent where all is well. */
  readonly trouble?: {
    readonly what: "failure" | "skipped";
    readonly type: string;
    readonly message: string;
  };
  /** Lines that explain the case. */
  readonly text?: string;
}

const PLAIN = colorsFor(false);

/** A change passes: it is what was asked for. Who objects fails. */
export function planJunit(plan: Plan, registry: Registry): string {
  const changes = plan.changes
    .filter((change) => change.action !== "noop" && change.action !== "report")
    .map((change): Case => {
      const view = changeView(change, registry);
      const name = `${view.verb} ${change.address}`;
      return { group: change.kind, name, text: changeLines(view, PLAIN).join("\n") };
    });
  const objections = [...plan.diagnostics, ...plan.guards.map((guard) => guard.diagnostic)].map(findingCase);
  return suite("workspace plan", summaryLine(plan), [...objections, ...changes]);
}

export function driftJunit(drift: readonly Drift[], registry: Registry): string {
  const cases = drift.map((one): Case => {
    const message = `${one.address} ${DRIFT_WORDS[one.what]} since the last apply`;
    const text = driftLines([one], registry, PLAIN).join("\n");
    return {
      group: one.kind,
      name: one.address,
      trouble: { what: "failure", type: `drift.${one.what}`, message },
      text,
    };
  });
  return suite("workspace drift", "No drift: the workspace is as it was left", cases);
}

export function outcomeJunit(outcome: Outcome): string {
  const cases = [...outcome.changes.map(outcomeCase), ...outcome.diagnostics.map(findingCase)];
  return suite("workspace apply", outcomeLine(outcome), cases);
}

function outcomeCase(one: ChangeOutcome): Case {
  const base = { group: one.kind, ms: one.elapsedMs };
  if (one.result === "applied") return { ...base, name: `${DONE[one.action]} ${one.address}` };
  const message = one.diagnostic?.message ?? `${one.action} ${one.address}: ${one.result}`;
  const what = one.result === "skipped" ? "skipped" : "failure";
  return {
    ...base,
    name: `${one.action} ${one.address}`,
    trouble: { what, type: one.diagnostic?.code ?? one.result, message },
    ...(one.diagnostic === undefined ? {} : { text: diagnosticText(one.diagnostic, PLAIN) }),
  };
}

/** `well`: the case of a run without any finding. */
export function findingsJunit(name: string, well: string, found: readonly Diagnostic[]): string {
  return suite(name, well, found.map(findingCase));
}

function findingCase(one: Diagnostic): Case {
  const { code, message, at } = one;
  const place = at === undefined ? (one.address ?? "") : `${at.file}:${at.line}:${at.column}`;
  const base = {
    group: code,
    name: place === "" ? message : `${place} ${message}`,
    text: diagnosticText(one, PLAIN),
  };
  return one.severity === "warning" ? base : { ...base, trouble: { what: "failure", type: code, message } };
}

/** A suite without a case counts as missing in many services, so one that found nothing has a case which says so. */
function suite(name: string, well: string, found: readonly Case[]): string {
  const cases = found.length === 0 ? [{ group: name, name: well }] : found;
  const number = (what: string) =>
    cases.filter((one) => "trouble" in one && one.trouble?.what === what).length;
  const ms = found.reduce((most, one) => Math.max(most, one.ms ?? 0), 0);
  const counts = `tests="${cases.length}" failures="${number("failure")}" errors="0" skipped="${number("skipped")}" time="${seconds(ms)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${markupText(name)}" ${counts}>`,
    `  <testsuite name="${markupText(name)}" ${counts}>`,
    ...cases.map(caseXml),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function caseXml({ group, name, ms = 0, trouble, text = "" }: Case): string {
  const head = `    <testcase classname="${markupText(group)}" name="${markupText(name)}" time="${seconds(ms)}"`;
  const body = text.trimEnd().split("\n").map(markupText).join("\n");
  if (trouble === undefined)
    return body === "" ? `${head}/>` : `${head}><system-out>${body}</system-out></testcase>`;
  const { what, type, message } = trouble;
  const attributes = what === "skipped" ? "" : ` type="${markupText(type)}"`;
  return `${head}><${what}${attributes} message="${markupText(message)}">${body}</${what}></testcase>`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}
