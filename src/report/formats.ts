// All formats of all reports: a name and a renderer, loaded on use. A new format is a new line here.

import type { Diagnostic } from "../core/diagnostic.ts";
import type { Notice } from "./ci/notice.ts";
import type { OutcomeView } from "./outcome/outcome-view.ts";
import type { DriftView } from "./plan/drift-view.ts";
import type { PlanView } from "./plan/plan-view.ts";
import type { TestsView } from "./spec-tests/tests-view.ts";
import type { Colors } from "./text/color.ts";
import type { Fitted } from "./text/markdown.ts";
import { printable, printableJson } from "./text/printable.ts";
import { type RunInfo, runJson, runLines } from "./text/run-info.ts";

/** `colors` are for text. `alone`: for a file, which must contain the findings about the run itself. */
export type Renderer<View> = (view: View, info: RunInfo, colors: Colors, alone?: boolean) => Fitted;

type Formats<View> = Readonly<Record<string, () => Promise<Renderer<View>>>>;

const whole = (text: string): Fitted => ({ text, cut: false });

interface Noticed {
  readonly notices: readonly Notice[];
  readonly summary: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

const noticeFormats = <View>(command: string, load: () => Promise<(view: View) => Noticed>) => ({
  github: async (): Promise<Renderer<View>> => {
    const [{ githubAnnotations }, of] = await Promise.all([import("./ci/github-annotations.ts"), load()]);
    return (view, info) => {
      const { notices, summary } = of(view);
      return whole(githubAnnotations(notices, info, summary));
    };
  },
  sarif: async (): Promise<Renderer<View>> => {
    const [{ sarifReport }, of] = await Promise.all([import("./ci/sarif.ts"), load()]);
    return (view, info) => {
      const { notices, properties } = of(view);
      return whole(sarifReport(notices, command, info, properties));
    };
  },
  codequality: async (): Promise<Renderer<View>> => {
    const [{ codeQuality }, of] = await Promise.all([import("./ci/gitlab.ts"), load()]);
    return (view, info) => whole(codeQuality(of(view).notices, info));
  },
});

export const PLAN_FORMATS = {
  text: async () => {
    const { planText } = await import("./plan/plan-text.ts");
    return (view, info, colors, alone) => whole(planText(view, colors, info, alone));
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
  ...noticeFormats<PlanView>("plan", async () => {
    const [{ planNotices }, { splitProperties, splitSentences }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./plan/split-view.ts"),
    ]);
    return (view) => {
      const summary = [view.title, ...splitSentences(view.split)];
      return { notices: planNotices(view), summary, properties: splitProperties(view.split) };
    };
  }),
  gitlab: async () => {
    const { planCounts } = await import("./ci/gitlab.ts");
    return (view, info) => whole(planCounts(view, info));
  },
} as const satisfies Formats<PlanView>;

export type PlanFormat = keyof typeof PLAN_FORMATS;

export const DRIFT_FORMATS = {
  text: async () => {
    const { driftText } = await import("./plan/plan-text.ts");
    return (view, info, colors, alone) => whole(driftText(view, colors, info, alone));
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
  ...noticeFormats<DriftView>("drift", async () => {
    const { driftNotices } = await import("./ci/notice.ts");
    return (view) => ({ notices: driftNotices(view), summary: [view.title] });
  }),
  gitlab: async () => {
    const { driftCounts } = await import("./ci/gitlab.ts");
    return (view, info) => whole(driftCounts(view, info));
  },
} as const satisfies Formats<DriftView>;

/** The findings of `validate`. `sentence`: about a valid spec. */
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
          : [`${printable(sentence)}.`, ...runLines(info, colors), ""].join("\n"),
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
  ...noticeFormats<ValidationView>("validate", async () => {
    const [{ findingNotices }, { severityCounts }] = await Promise.all([
      import("./ci/notice.ts"),
      import("./text/diagnostic-text.ts"),
    ]);
    return ({ sentence, diagnostics }) => ({
      notices: findingNotices(diagnostics),
      summary: [sentence === undefined ? severityCounts(diagnostics) : `${sentence}.`],
    });
  }),
} as const satisfies Formats<ValidationView>;

export const TEST_FORMATS = {
  text: async () => {
    const { testsText } = await import("./spec-tests/tests-view.ts");
    return (view, _info, colors) => whole(testsText(view, colors));
  },
  json: async () => {
    const { testsJson } = await import("./spec-tests/tests-view.ts");
    return (view) => whole(`${printableJson(testsJson(view), 2)}\n`);
  },
  junit: async () => {
    const { testsJunit } = await import("./spec-tests/tests-view.ts");
    return (view) => whole(testsJunit(view));
  },
} as const satisfies Formats<TestsView>;

/** Of an apply. As JSON it is one event a line; the renderer gives the last of them. */
export const OUTCOME_FORMATS = {
  text: async () => {
    const { outcomeText } = await import("./outcome/outcome-view.ts");
    return (view, info, colors, alone) => whole(outcomeText(view, colors, info, alone));
  },
  json: async () => {
    const { outcomeJson } = await import("./outcome/outcome-json.ts");
    return (view, info) => whole(`${printableJson(outcomeJson(view, info))}\n`);
  },
  markdown: async () => {
    const { outcomeMarkdown } = await import("./outcome/outcome-markdown.ts");
    return (view, info) => outcomeMarkdown(view, info);
  },
  html: async () => {
    const { outcomeHtml } = await import("./html/outcome-html.ts");
    return (view, info) => whole(outcomeHtml(view, info));
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
  ...noticeFormats<OutcomeView>("apply", async () => {
    const { outcomeNotices } = await import("./ci/notice.ts");
    return (view) => ({ notices: outcomeNotices(view), summary: [view.title] });
  }),
  gitlab: async () => {
    const { outcomeCounts } = await import("./ci/gitlab.ts");
    return (view, info) => whole(outcomeCounts(view, info));
  },
} as const satisfies Formats<OutcomeView>;

export type OutcomeFormat = keyof typeof OUTCOME_FORMATS;
