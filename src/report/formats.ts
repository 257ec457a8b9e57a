// All formats of all reports: a name and a renderer, loaded on use. A new format is a new line here.

import type { Diagnostic } from "../core/diagnostic.ts";
import type { Notice } from "./format/notice.ts";
import type { AccessAnswerView } from "./inspect/access-text.ts";
import type { HistoryView } from "./inspect/history-text.ts";
import type { ExplanationView } from "./inspect/plan-explanation.ts";
import type { TestsView } from "./inspect/tests-view.ts";
import type { ValidationView } from "./text/findings-markdown.ts";
import { jsonDocument, printable, printableJson } from "./text/printable.ts";
import { type RunInfo, runJson, runLines } from "./text/run-info.ts";
import type { FittedReport, MarkdownSize } from "./text/shorten-markdown.ts";
import type { Colors } from "./text/terminal.ts";
import type { AnswerView } from "./view/answer-view.ts";
import type { DriftView } from "./view/drift-view.ts";
import type { OutcomeView } from "./view/outcome-view.ts";
import type { PlanView } from "./view/plan-view.ts";

/** `colors` are for text. `showsNotes`: for a file, which has the findings about the run, because standard error is elsewhere. */
export type Renderer<View> = (
  view: View,
  info: RunInfo,
  colors: Colors,
  showsNotes?: boolean,
) => FittedReport;

type Formats<View> = Readonly<Record<string, () => Promise<Renderer<View>>>>;

const whole = (text: string): FittedReport => ({ text, cut: false });

/** A report that is written piece by piece, and made as a whole only for a reader of `text`. */
function inPieces(pieces: () => Iterable<string>): FittedReport {
  return {
    cut: false,
    pieces,
    get text() {
      return [...pieces()].join("");
    },
  };
}

type Load<View, Made> = () => Promise<(view: View, info: RunInfo) => Made>;

const plain =
  <View>(load: Load<View, string>): Load<View, FittedReport> =>
  async () => {
    const render = await load();
    return (view, info) => whole(render(view, info));
  };

/** A report that is made while it is written. */
const written =
  <View>(load: Load<View, Iterable<string>>): Load<View, FittedReport> =>
  async () => {
    const render = await load();
    return (view, info) => inPieces(() => render(view, info));
  };

const json = <View>(load: Load<View, Readonly<Record<string, unknown>>>) =>
  plain<View>(async () => {
    const document = await load();
    return (view, info) => jsonDocument(document(view, info), 2);
  });

type LoadMarkdown<View> = () => Promise<(view: View, info: RunInfo, size: MarkdownSize) => FittedReport>;

const markdown =
  <View>(load: LoadMarkdown<View>, which: "COMMENT_SIZE" | "SUMMARY_SIZE" = "COMMENT_SIZE") =>
  async (): Promise<Renderer<View>> => {
    const [render, sizes] = await Promise.all([load(), import("./text/shorten-markdown.ts")]);
    return (view, info) => render(view, info, sizes[which]);
  };

interface Noticed {
  readonly notices: readonly Notice[];
  readonly summary: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** What CI services show: the page of a job, and notices. */
const ciFormats = <View>(
  command: string,
  page: LoadMarkdown<View>,
  load: () => Promise<(view: View) => Noticed>,
) => ({
  "markdown-summary": markdown(page, "SUMMARY_SIZE"),
  github: async (): Promise<Renderer<View>> => {
    const [{ githubAnnotations }, of] = await Promise.all([import("./format/github-annotations.ts"), load()]);
    return (view, info) => {
      const { notices, summary } = of(view);
      return whole(githubAnnotations(notices, info, summary));
    };
  },
  sarif: async (): Promise<Renderer<View>> => {
    const [{ sarifReport }, of] = await Promise.all([import("./format/sarif.ts"), load()]);
    return (view, info) => {
      const { notices, properties } = of(view);
      return sarifReport(notices, command, info, properties);
    };
  },
  codequality: async (): Promise<Renderer<View>> => {
    const [{ codeQuality }, of] = await Promise.all([import("./format/gitlab.ts"), load()]);
    return (view, info) => whole(codeQuality(of(view).notices, info));
  },
});

const loadPlanMarkdown = async () => (await import("./format/plan-markdown.ts")).planMarkdown;

export const PLAN_FORMATS = {
  text: async () => {
    const { planText } = await import("./format/plan-text.ts");
    return (view, info, colors, showsNotes) => whole(planText(view, colors, info, showsNotes));
  },
  json: async () => {
    const { planJsonPieces } = await import("./format/plan-json.ts");
    return (view, info) => inPieces(() => planJsonPieces(view, info));
  },
  markdown: markdown(loadPlanMarkdown),
  html: written(async () => (await import("./html/plan-html.ts")).planHtmlPieces),
  junit: plain(async () => (await import("./format/junit.ts")).planJunit),
  ...ciFormats("plan", loadPlanMarkdown, async () => {
    const [{ planNotices }, { splitProperties, splitSentences }] = await Promise.all([
      import("./format/notice.ts"),
      import("./view/plan-view.ts"),
    ]);
    return (view) => {
      const summary = [view.title, ...splitSentences(view.split)];
      return { notices: planNotices(view), summary, properties: splitProperties(view.split) };
    };
  }),
  gitlab: plain(async () => (await import("./format/gitlab.ts")).planCounts),
} as const satisfies Formats<PlanView>;

export type PlanFormat = keyof typeof PLAN_FORMATS;

const loadDriftMarkdown = async () => (await import("./format/drift-markdown.ts")).driftMarkdown;

export const DRIFT_FORMATS = {
  text: async () => {
    const { driftText } = await import("./format/drift-text.ts");
    return (view, info, colors, showsNotes) => whole(driftText(view, colors, info, showsNotes));
  },
  json: json(async () => (await import("./format/plan-json.ts")).driftReportJson),
  markdown: markdown(loadDriftMarkdown),
  html: plain(async () => (await import("./html/drift-html.ts")).driftHtml),
  junit: plain(async () => (await import("./format/junit.ts")).driftJunit),
  ...ciFormats("drift", loadDriftMarkdown, async () => {
    const { driftNotices } = await import("./format/notice.ts");
    return (view) => ({ notices: driftNotices(view), summary: [view.title] });
  }),
  gitlab: plain(async () => (await import("./format/gitlab.ts")).driftCounts),
} as const satisfies Formats<DriftView>;

const loadValidationMarkdown = async () => (await import("./text/findings-markdown.ts")).validationMarkdown;

export const VALIDATION_FORMATS = {
  text: async () => {
    const { diagnosticsText } = await import("./text/diagnostic-text.ts");
    return ({ sentence, diagnostics }, info, colors) =>
      whole(
        sentence === undefined
          ? diagnosticsText(diagnostics, colors, { most: diagnostics.length, isWhole: true })
          : [`${printable(sentence)}.`, ...runLines(info, colors), ""].join("\n"),
      );
  },
  json: json(async () => {
    const { diagnosticJson } = await import("./text/diagnostic-text.ts");
    return ({ sentence, diagnostics }: ValidationView, info) => {
      const valid = sentence !== undefined;
      const run = { tool_version: info.toolVersion, ...runJson(info) };
      return { valid, ...run, diagnostics: diagnostics.map(diagnosticJson) };
    };
  }),
  markdown: markdown(loadValidationMarkdown),
  junit: async () => {
    const { findingsJunit } = await import("./format/junit.ts");
    return ({ sentence, diagnostics }, info) =>
      whole(findingsJunit("workspace validate", sentence ?? "", diagnostics, info));
  },
  ...ciFormats("validate", loadValidationMarkdown, async () => {
    const [{ findingNotices }, { severityCounts }] = await Promise.all([
      import("./format/notice.ts"),
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
    const { testsText } = await import("./inspect/tests-view.ts");
    return (view, _info, colors) => whole(testsText(view, colors));
  },
  json: json(async () => (await import("./inspect/tests-view.ts")).testsJson),
  junit: plain(async () => (await import("./inspect/tests-view.ts")).testsJunit),
} as const satisfies Formats<TestsView>;

const loadOutcomeMarkdown = async () => (await import("./format/outcome-markdown.ts")).outcomeMarkdown;

/** Of an apply. As JSON it is one event a line; the renderer gives the last of them. */
export const OUTCOME_FORMATS = {
  text: async () => {
    const { outcomeText } = await import("./format/outcome-text.ts");
    return (view, info, colors, showsNotes) => whole(outcomeText(view, colors, info, showsNotes));
  },
  json: async () => {
    const { outcomeJson } = await import("./view/outcome-view.ts");
    return (view, info) => whole(`${printableJson(outcomeJson(view, info))}\n`);
  },
  markdown: markdown(loadOutcomeMarkdown),
  html: written(async () => (await import("./html/outcome-html.ts")).outcomeHtml),
  junit: plain(async () => (await import("./format/junit.ts")).outcomeJunit),
  ...ciFormats("apply", loadOutcomeMarkdown, async () => {
    const { outcomeNotices } = await import("./format/notice.ts");
    return (view) => ({ notices: outcomeNotices(view), summary: [view.title] });
  }),
  gitlab: plain(async () => (await import("./format/gitlab.ts")).outcomeCounts),
} as const satisfies Formats<OutcomeView>;

export type OutcomeFormat = keyof typeof OUTCOME_FORMATS;

const loadAnswerMarkdown = async () => (await import("./format/answer-markdown.ts")).answerMarkdown;

/** Of the answer of one command: its own text and JSON, and the shared form of answers. */
const answerFormats = <View extends AnswerView>(
  load: () => Promise<{
    text(view: View, colors: Colors): string;
    json(view: View): Readonly<Record<string, unknown>>;
  }>,
) => ({
  text: async (): Promise<Renderer<View>> => {
    const { text } = await load();
    return (view, _info, colors) => whole(text(view, colors));
  },
  json: json<View>(async () => (await load()).json),
  markdown: markdown<View>(loadAnswerMarkdown),
  html: written<View>(async () => (await import("./html/answer-html.ts")).answerHtmlPieces),
});

export const ACCESS_FORMATS = answerFormats<AccessAnswerView>(async () => {
  const { accessText: text, accessAnswerJson: json } = await import("./inspect/access-text.ts");
  return { text, json };
});

export const EXPLANATION_FORMATS = answerFormats<ExplanationView>(async () => {
  const { explanationText: text, explanationJson: json } = await import("./inspect/plan-explanation.ts");
  return { text, json };
});

export const HISTORY_FORMATS = answerFormats<HistoryView>(async () => {
  const { historyText: text, historyJson: json } = await import("./inspect/history-text.ts");
  return { text, json };
});

/** Of a run that ended before it had anything else to show. */
export const failureFormats = (command: string) => {
  const title = async () => {
    const { severityCounts } = await import("./text/diagnostic-text.ts");
    return (diagnostics: readonly Diagnostic[]) => `workspace ${command}: ${severityCounts(diagnostics)}`;
  };
  const loadMarkdown: LoadMarkdown<readonly Diagnostic[]> = async () => {
    const [{ findingsMarkdown }, titleOf] = await Promise.all([
      import("./text/findings-markdown.ts"),
      title(),
    ]);
    return (diagnostics, info, size) => findingsMarkdown(titleOf(diagnostics), diagnostics, info, size);
  };
  return {
    markdown: markdown(loadMarkdown),
    html: plain(async () => {
      const { failureHtml } = await import("./html/page.ts");
      return (diagnostics, info) => failureHtml(`workspace ${command}`, diagnostics, info);
    }),
    junit: plain(async () => {
      const { findingsJunit } = await import("./format/junit.ts");
      return (diagnostics, info) => findingsJunit(`workspace ${command}`, "", diagnostics, info);
    }),
    ...ciFormats(command, loadMarkdown, async () => {
      const [{ findingNotices }, titleOf] = await Promise.all([import("./format/notice.ts"), title()]);
      return (diagnostics) => ({ notices: findingNotices(diagnostics), summary: [titleOf(diagnostics)] });
    }),
  } satisfies Formats<readonly Diagnostic[]>;
};
