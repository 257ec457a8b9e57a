// Every form of a report contains the same: what one of them leaves out fails here, unless the reason is given.

import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../../src/core/diagnostic.ts";
import { driftMarkdown } from "../../src/report/format/drift-markdown.ts";
import { driftText } from "../../src/report/format/drift-text.ts";
import { githubAnnotations } from "../../src/report/format/github-annotations.ts";
import { codeQuality } from "../../src/report/format/gitlab.ts";
import { driftJunit, outcomeJunit, planJunit } from "../../src/report/format/junit.ts";
import { driftNotices, type Notice, outcomeNotices, planNotices } from "../../src/report/format/notice.ts";
import { outcomeMarkdown } from "../../src/report/format/outcome-markdown.ts";
import { outcomeText } from "../../src/report/format/outcome-text.ts";
import { driftReportJson, planJson } from "../../src/report/format/plan-json.ts";
import { planMarkdown } from "../../src/report/format/plan-markdown.ts";
import { planText } from "../../src/report/format/plan-text.ts";
import { sarifReport } from "../../src/report/format/sarif.ts";
import { driftHtml } from "../../src/report/html/drift-html.ts";
import { planHtml } from "../../src/report/html/plan-html.ts";
import { printableJson } from "../../src/report/text/printable.ts";
import { colorsFor } from "../../src/report/text/terminal.ts";
import { driftView } from "../../src/report/view/drift-view.ts";
import {
  diagnosticEventJson,
  eventJson,
  outcomeJson,
  outcomeView,
} from "../../src/report/view/outcome-view.ts";
import { planView } from "../../src/report/view/plan-view.ts";
import { driftReportItems, type FormName, missingIn, noteItems, outcomeItems, planItems } from "./items.ts";
import { INFO, registry } from "./plans.ts";
import { richNotes, richOutcome, richPlan } from "./rich.ts";
import { run } from "./run.ts";

const plain = colorsFor(false);

describe("a plan", () => {
  const view = planView(richPlan, registry, { notes: richNotes });
  const forms: Readonly<Record<FormName, string>> = {
    text: planText(view, plain),
    markdown: planMarkdown(view).text,
    html: planHtml(view),
    json: printableJson(planJson(view, run)),
    junit: planJunit(view),
  };
  test.each(Object.entries(forms) as [FormName, string][])("is whole as %s", (form, output) => {
    expect(missingIn(form, output, [...planItems(richPlan), ...noteItems(richNotes)])).toEqual([]);
  });

  test("shows no secret in any form", () => {
    for (const output of Object.values(forms)) expect(output).not.toContain("0123456789abcdef");
  });
});

describe("drift", () => {
  const view = driftView({ ...richPlan, diagnostics: richNotes }, 3, registry);
  const forms: Readonly<Record<FormName, string>> = {
    text: driftText(view, plain),
    markdown: driftMarkdown(view).text,
    html: driftHtml(view),
    json: printableJson(driftReportJson(view, run)),
    junit: driftJunit(view),
  };
  test.each(Object.entries(forms) as [FormName, string][])("is whole as %s", (form, output) => {
    expect(missingIn(form, output, driftReportItems({ ...richPlan, diagnostics: richNotes }))).toEqual([]);
  });
});

const EVENTS = {
  applied: "apply_complete",
  skipped: "apply_skipped",
  failed: "apply_errored",
  unknown: "apply_errored",
  blocked: "apply_errored",
} as const;

describe("an outcome", () => {
  const view = outcomeView(richOutcome);
  const lines = [
    ...richOutcome.changes.map((outcome) => eventJson({ type: EVENTS[outcome.result], outcome })),
    ...richOutcome.diagnostics.map((one) => diagnosticEventJson(one)),
    outcomeJson(view),
  ];
  const forms: Readonly<Partial<Record<FormName, string>>> = {
    text: outcomeText(view, plain),
    markdown: outcomeMarkdown(view).text,
    json: lines.map((line) => printableJson(line)).join("\n"),
    junit: outcomeJunit(view),
  };
  test.each(Object.entries(forms) as [FormName, string][])("is whole as %s", (form, output) => {
    expect(missingIn(form, output, outcomeItems(richOutcome))).toEqual([]);
  });

  test("contains the findings of the run before the first change in documents", () => {
    const noted = outcomeView(richOutcome, richNotes);
    for (const [form, output] of [
      ["markdown", outcomeMarkdown(noted).text],
      ["junit", outcomeJunit(noted)],
    ] as const)
      expect(missingIn(form, output, noteItems(richNotes))).toEqual([]);
  });
});

describe("annotations, SARIF, and code quality", () => {
  const plan = planView(richPlan, registry, { notes: richNotes });
  const drift = driftView({ ...richPlan, diagnostics: richNotes }, 3, registry);
  const outcome = outcomeView(richOutcome, richNotes);
  const forms = (notices: readonly Notice[], command: string): Readonly<Record<string, string>> => ({
    github: githubAnnotations(notices, INFO, []).replaceAll("%0A", "\n").replaceAll("%3A", ":"),
    sarif: sarifReport(notices, command, INFO).text.replaceAll("\\n", "\n"),
    codequality: codeQuality(notices, INFO).replaceAll("; ", "\n"),
  });
  const saidBy = (found: readonly Diagnostic[]) =>
    found.flatMap(({ code, message, hint = "", cause = "" }) => [code, message, hint, cause]);
  const missing = (all: Readonly<Record<string, string>>, said: readonly string[]) =>
    Object.entries(all).flatMap(([form, text]) =>
      said.filter((one) => !text.includes(one)).map((one) => `${form}: ${one}`),
    );

  test("of a plan name every finding and guard, and every object that is destroyed", () => {
    const found = [
      ...richPlan.guards.map((guard) => guard.diagnostic),
      ...richPlan.diagnostics,
      ...richNotes,
    ];
    const destroyed = richPlan.changes
      .filter(({ action }) => action === "delete" || action === "replace")
      .map(({ address }) => address);
    expect(destroyed.length).toBeGreaterThan(1);
    expect(missing(forms(planNotices(plan), "plan"), [...saidBy(found), ...destroyed])).toEqual([]);
  });

  test("of drift name every finding and resource", () => {
    const said = [...saidBy(richNotes), ...richPlan.drift.map(({ address }) => address)];
    expect(missing(forms(driftNotices(drift), "drift"), said)).toEqual([]);
  });

  test("of an outcome name every finding", () => {
    const own = richOutcome.changes.flatMap(({ diagnostic }) => diagnostic ?? []);
    const said = saidBy([...own, ...richOutcome.diagnostics, ...richNotes]);
    expect(missing(forms(outcomeNotices(outcome), "apply"), said)).toEqual([]);
  });

  test("show no secret", () => {
    for (const output of Object.values(forms(planNotices(plan), "plan")))
      expect(output).not.toContain("0123456789abcdef");
  });
});
