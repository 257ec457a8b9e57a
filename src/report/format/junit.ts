// JUnit XML for CI services: a case for each resource or finding, and a failure for each that needs attention.

import { type Diagnostic, placeText } from "../../core/diagnostic.ts";
import type { ChangeOrigin } from "../../planner/model/plan.ts";
import { diagnosticText } from "../text/diagnostic-text.ts";
import { markupText } from "../text/printable.ts";
import type { RunInfo } from "../text/run-info.ts";
import { colorsFor } from "../text/terminal.ts";
import type { DriftView } from "../view/drift-view.ts";
import type { OutcomeItem, OutcomeView } from "../view/outcome-view.ts";
import { ORIGINS, type PlanView, partLine, resolvedSentence } from "../view/plan-view.ts";
import { changeLines, driftLines } from "./change-text.ts";

export interface JunitCase {
  readonly group: string;
  readonly name: string;
  readonly ms?: number;
  /** Absent where all is well. */
  readonly trouble?: {
    readonly what: "failure" | "skipped";
    readonly type: string;
    readonly message: string;
  };
  readonly text?: string;
}

const PLAIN = colorsFor(false);

/** Planned changes pass; errors and guards fail. */
export function planJunit(plan: PlanView, info?: RunInfo): string {
  const { title, touching, diagnostics, notes, guards, exitcodeFor } = plan;
  const counts = (origin: ChangeOrigin | undefined) => exitcodeFor === "all" || origin !== "pending";
  const cases = touching.map((change): JunitCase => {
    const origin = change.origin === undefined ? "" : ` (${ORIGINS[change.origin]})`;
    const text = changeLines(change, PLAIN).join("\n");
    return { group: change.kind, name: `${change.verb} ${change.title}${origin}`, text };
  });
  const junitCases = [
    ...diagnostics.map((planFinding) => findingCase(planFinding, counts(planFinding.origin))),
    ...notes.map((diagnostic) => findingCase(diagnostic)),
    ...guards.map(({ diagnostic, origin }) => findingCase(diagnostic, counts(origin))),
  ];
  const resolved = (plan.split?.resolved ?? []).map((item): JunitCase => {
    return {
      group: item.change.kind,
      name: `${resolvedSentence(item)} (resolved by this change)`,
    };
  });
  const compared = plan.split === undefined ? [] : [{ group: "workspace plan", name: plan.split.title }];
  const all = [...compared, ...junitCases, ...cases, ...resolved];
  // A suite without cases shows the title, which says the same.
  const part = all.length === 0 ? undefined : partLine(plan);
  const covered = part === undefined ? [] : [{ group: "workspace plan", name: part.replace(/\.$/, "") }];
  return junitSuite("workspace plan", title, [...covered, ...all], info);
}

export function driftJunit({ title, drift, diagnostics }: DriftView, info?: RunInfo): string {
  const cases = drift.map((item): JunitCase => {
    const shown = {
      group: item.kind,
      name: item.address,
      text: driftLines([item], PLAIN).join("\n"),
    };
    if (item.open === undefined) return shown;
    const message = `${item.address} ${item.verb} since the last apply`;
    return { ...shown, trouble: { what: "failure", type: `drift.${item.what}`, message } };
  });
  const none: JunitCase = { group: "workspace drift", name: title.replace(/\.$/, "") };
  const junitCases = diagnostics.map((diagnostic) => findingCase(diagnostic));
  return junitSuite("workspace drift", "", [...junitCases, ...(cases.length === 0 ? [none] : cases)], info);
}

export function outcomeJunit({ title, changes, diagnostics, notes }: OutcomeView, info?: RunInfo): string {
  const junitCases = [...notes, ...diagnostics].map((diagnostic) => findingCase(diagnostic));
  return junitSuite("workspace apply", title, [...changes.map(outcomeCase), ...junitCases], info);
}

function outcomeCase(item: OutcomeItem): JunitCase {
  const { kind: group, elapsedMs: ms, result, action, word, address, finding } = item;
  if (result === "applied") return { group, ms, name: `${word} ${address}` };
  return {
    group,
    ms,
    name: `${action} ${address}`,
    trouble: {
      what: result === "skipped" ? "skipped" : "failure",
      type: finding?.code ?? result,
      message: finding?.message ?? `${action} ${address}: ${result}`,
    },
    text: finding === undefined ? undefined : diagnosticText(finding, PLAIN),
  };
}

/** `well`: the case of a run without any finding. */
export function findingsJunit(
  name: string,
  well: string,
  diagnostics: readonly Diagnostic[],
  info?: RunInfo,
): string {
  const cases = diagnostics.map((diagnostic) => findingCase(diagnostic));
  return junitSuite(name, well, cases, info);
}

/** `counts`: whether an error is a failure of this run. */
function findingCase(diagnostic: Diagnostic, counts = true): JunitCase {
  const { code, message, at, rule } = diagnostic;
  const place = at === undefined ? (diagnostic.address ?? "") : placeText(at);
  const base = {
    group: code,
    name: place === "" ? message : `${place} ${message}`,
    text: diagnosticText(diagnostic, PLAIN),
  };
  if (diagnostic.severity === "warning" || !counts) return base;
  const type = rule === undefined ? code : `${code}/${rule.name}`;
  return { ...base, trouble: { what: "failure", type, message } };
}

/** The document with one suite. A suite without a case counts as missing in many services, so one that found nothing has a case which says so. */
export function junitSuite(
  name: string,
  well: string,
  junitCases: readonly JunitCase[],
  info?: RunInfo,
): string {
  const cases = junitCases.length === 0 ? [{ group: name, name: well }] : junitCases;
  const number = (what: string) =>
    cases.filter((junitCase) => "trouble" in junitCase && junitCase.trouble?.what === what).length;
  const ms = junitCases.reduce((most, junitCase) => Math.max(most, junitCase.ms ?? 0), 0);
  const counts = `tests="${cases.length}" failures="${number("failure")}" errors="0" skipped="${number("skipped")}" time="${seconds(ms)}"`;
  // The time of JUnit's schema has neither a fraction nor a zone.
  const stamp = info === undefined ? "" : ` timestamp="${markupText(info.madeAt.slice(0, 19))}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${markupText(name)}" ${counts}>`,
    `  <testsuite name="${markupText(name)}" ${counts}${stamp}>`,
    ...(info === undefined ? [] : propertiesXml(info)),
    ...cases.map(caseXml),
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function propertiesXml(info: RunInfo): readonly string[] {
  const all = {
    tool_version: info.toolVersion,
    host: info.host,
    target: info.target,
    commit: info.commit,
    run_url: info.runUrl,
    partial: info.partial !== undefined ? "true" : undefined,
    modes: info.modes.length === 0 ? undefined : info.modes.join(", "),
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined || value === ""
      ? []
      : [`      <property name="${name}" value="${markupText(value)}"/>`],
  );
  return ["    <properties>", ...lines, "    </properties>"];
}

function caseXml({ group, name, ms = 0, trouble, text = "" }: JunitCase): string {
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
