// Every format of every report: a name and a renderer, loaded when it is used. A new format is a new line here.

import type { Diagnostic } from "../core/diagnostic.ts";
import type { OutcomeView } from "./outcome/outcome-view.ts";
import type { DriftView } from "./plan/drift-view.ts";
import type { PlanView } from "./plan/plan-view.ts";
import type { Colors } from "./text/color.ts";
import type { Fitted } from "./text/markdown.ts";
import { printableJson } from "./text/printable.ts";
import { type RunInfo, runJson, runLines } from "./text/run-info.ts";

/** `colors` are for text; a file gets none. */
export type Renderer<View> = (view: View, info: RunInfo, colors: Colors) => Fitted;

type Formats<View> = Readonly<Record<string, () => Promise<Renderer<View>>>>;

const whole = (text: string): Fitted => ({ text, cut: false });

export const PLAN_FORMATS = {
  text: async () => {
    const { planText } = await import("./plan/plan-text.ts");
    return (view, info, colors) => whole(planText(view, colors, info));
  },
  json: async () => {
    const { planJson } = await import("./plan/plan-json.ts");
    return (view, info) => whole(`${printableJson(planJson(view, info), 2)}\n`);
  },
  markdown: async () => {
    const { planMarkdown } = await import("./plan/plan-markdown.ts");
    return (view, info) => planMarkdown(view, info);
  },
  html: async () => {
    const { planHtml } = await import("./html/plan-html.ts");
    return (view, info) => whole(planHtml(view, info));
  },
  junit: async () => {
    const { planJunit } = await import("./outcome/junit.ts");
    return (view, info) => whole(planJunit(view, info));
  },
  "markdown-summary": async () => {
    const { planMarkdown } = await import("./plan/plan-markdown.ts");
    const { SUMMARY_SIZE } = await import("./text/markdown.ts");
    return (view, info) => planMarkdown(view, info, SUMMARY_SIZE);
  },
  github: async () => {
    const [{ planNotices }, { githubAnnotations }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/github-annotations.ts"),
    ]);
    return (view, info) => whole(githubAnnotations(planNotices(view), info));
  },
  sarif: async () => {
    const [{ planNotices }, { sarifReport }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/sarif.ts"),
    ]);
    return (view, info) => whole(sarifReport(planNotices(view), "plan", info));
  },
  gitlab: async () => {
    const { planCounts } = await import("./ci/gitlab.ts");
    return (view) => whole(planCounts(view));
  },
  codequality: async () => {
    const [{ planNotices }, { codeQuality }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/gitlab.ts"),
    ]);
    return (view, info) => whole(codeQuality(planNotices(view), info));
  },
} as const satisfies Formats<PlanView>;

export type PlanFormat = keyof typeof PLAN_FORMATS;

export const DRIFT_FORMATS = {
  text: async () => {
    const { driftText } = await import("./plan/drift-text.ts");
    return (view, info, colors) => whole(driftText(view, colors, info));
  },
  json: async () => {
    const { driftReportJson } = await import("./plan/plan-json.ts");
    return (view, info) => whole(`${printableJson(driftReportJson(view, info), 2)}\n`);
  },
  markdown: async () => {
    const { driftMarkdown } = await import("./plan/plan-markdown.ts");
    return (view, info) => driftMarkdown(view, info);
  },
  html: async () => {
    const { driftHtml } = await import("./html/plan-html.ts");
    return (view, info) => whole(driftHtml(view, info));
  },
  junit: async () => {
    const { driftJunit } = await import("./outcome/junit.ts");
    return (view, info) => whole(driftJunit(view, info));
  },
  "markdown-summary": async () => {
    const { driftMarkdown } = await import("./plan/plan-markdown.ts");
    const { SUMMARY_SIZE } = await import("./text/markdown.ts");
    return (view, info) => driftMarkdown(view, info, SUMMARY_SIZE);
  },
  github: async () => {
    const [{ driftNotices }, { githubAnnotations }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/github-annotations.ts"),
    ]);
    return (view, info) => whole(githubAnnotations(driftNotices(view), info));
  },
  sarif: async () => {
    const [{ driftNotices }, { sarifReport }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/sarif.ts"),
    ]);
    return (view, info) => whole(sarifReport(driftNotices(view), "drift", info));
  },
  gitlab: async () => {
    const { driftCounts } = await import("./ci/gitlab.ts");
    return (view) => whole(driftCounts(view));
  },
  codequality: async () => {
    const [{ driftNotices }, { codeQuality }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/gitlab.ts"),
    ]);
    return (view, info) => whole(codeQuality(driftNotices(view), info));
  },
} as const satisfies Formats<DriftView>;

/** What a check of the spec found. `sentence`: about a spec that is valid. */
export interface ValidationView {
  readonly sentence: string | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export const VALIDATION_FORMATS = {
  text: async () => {
    const { diagnosticsText } = await import("./text/diagnostic-text.ts");
    return ({ sentence, diagnostics }, info, colors) =>
      whole(
        sentence === undefined
          ? diagnosticsText(diagnostics, colors, diagnostics.length)
          : [`${sentence}.`, ...runLines(info, colors), ""].join("\n"),
      );
  },
  json: async () => {
    const { diagnosticJson } = await import("./text/diagnostic-text.ts");
    return ({ sentence, diagnostics }, info) => {
      const valid = sentence !== undefined;
      const run = { tool_version: info.toolVersion, ...runJson(info) };
      return whole(`${printableJson({ valid, ...run, diagnostics: diagnostics.map(diagnosticJson) }, 2)}\n`);
    };
  },
  markdown: async () => {
    const { validationMarkdown } = await import("./inspect/validation-markdown.ts");
    return ({ sentence, diagnostics }, info) => validationMarkdown(sentence, diagnostics, info);
  },
  junit: async () => {
    const { findingsJunit } = await import("./outcome/junit.ts");
    return ({ sentence, diagnostics }, info) =>
      whole(findingsJunit("workspace validate", sentence ?? "", diagnostics, info));
  },
  "markdown-summary": async () => {
    const { validationMarkdown } = await import("./inspect/validation-markdown.ts");
    const { SUMMARY_SIZE } = await import("./text/markdown.ts");
    return ({ sentence, diagnostics }, info) => validationMarkdown(sentence, diagnostics, info, SUMMARY_SIZE);
  },
  github: async () => {
    const [{ findingNotices }, { githubAnnotations }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/github-annotations.ts"),
    ]);
    return ({ diagnostics }, info) => whole(githubAnnotations(findingNotices(diagnostics), info));
  },
  sarif: async () => {
    const [{ findingNotices }, { sarifReport }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/sarif.ts"),
    ]);
    return ({ diagnostics }, info) => whole(sarifReport(findingNotices(diagnostics), "validate", info));
  },
  codequality: async () => {
    const [{ findingNotices }, { codeQuality }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/gitlab.ts"),
    ]);
    return ({ diagnostics }, info) => whole(codeQuality(findingNotices(diagnostics), info));
  },
} as const satisfies Formats<ValidationView>;

/** Of an apply. As JSON it is one event a line; the renderer gives the last of them. */
export const OUTCOME_FORMATS = {
  text: async () => {
    const { outcomeText } = await import("./outcome/outcome-text.ts");
    return (view, info, colors) => whole(outcomeText(view, colors, info));
  },
  json: async () => {
    const { outcomeJson } = await import("./outcome/outcome-json.ts");
    return (view, info) => whole(`${printableJson(outcomeJson(view, info))}\n`);
  },
  markdown: async () => {
    const { outcomeMarkdown } = await import("./outcome/outcome-markdown.ts");
    return (view, info) => outcomeMarkdown(view, info);
  },
  junit: async () => {
    const { outcomeJunit } = await import("./outcome/junit.ts");
    return (view, info) => whole(outcomeJunit(view, info));
  },
  "markdown-summary": async () => {
    const { outcomeMarkdown } = await import("./outcome/outcome-markdown.ts");
    const { SUMMARY_SIZE } = await import("./text/markdown.ts");
    return (view, info) => outcomeMarkdown(view, info, SUMMARY_SIZE);
  },
  github: async () => {
    const [{ outcomeNotices }, { githubAnnotations }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/github-annotations.ts"),
    ]);
    return (view, info) => whole(githubAnnotations(outcomeNotices(view), info));
  },
  sarif: async () => {
    const [{ outcomeNotices }, { sarifReport }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/sarif.ts"),
    ]);
    return (view, info) => whole(sarifReport(outcomeNotices(view), "apply", info));
  },
  gitlab: async () => {
    const { outcomeCounts } = await import("./ci/gitlab.ts");
    return (view) => whole(outcomeCounts(view));
  },
  codequality: async () => {
    const [{ outcomeNotices }, { codeQuality }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./ci/gitlab.ts"),
    ]);
    return (view, info) => whole(codeQuality(outcomeNotices(view), info));
  },
} as const satisfies Formats<OutcomeView>;

export type OutcomeFormat = keyof typeof OUTCOME_FORMATS;
