// Answers as Markdown and as pages: the same facts as in text, of any size.

import { describe, expect, test } from "vitest";
import { answerMarkdown } from "../../../src/report/format/answer-markdown.ts";
import { ACCESS_FORMATS, EXPLANATION_FORMATS, HISTORY_FORMATS } from "../../../src/report/formats.ts";
import { answerHtmlPieces } from "../../../src/report/html/answer-html.ts";
import { colorsFor } from "../../../src/report/text/terminal.ts";
import type { AnswerView } from "../../../src/report/view/answer-view.ts";
import { explained, explainedSecret, personAccess, recordedRun, scopeAccess } from "../answers.ts";
import { INFO } from "../plans.ts";
import { renderedHtml } from "../rendered.ts";

const markdown = (view: AnswerView) => answerMarkdown(view, INFO).text;
const html = (view: AnswerView) => [...answerHtmlPieces(view, INFO)].join("");

/** What a reader sees, on one line. */
const seen = (markup: string) =>
  markup
    .replace(/<(style|script)>.*?<\/\1>/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replace(/\s+/g, " ");

describe("an answer", () => {
  test("about an object lists principals by level, with the way of each right", () => {
    const shown = seen(renderedHtml(markdown(scopeAccess(2))));
    const page = seen(html(scopeAccess(2)));
    for (const text of [shown, page]) {
      expect(text).toContain("scope data-eng in the live workspace");
      expect(text).toContain("READ: 2 principals");
      expect(text).toMatch(/data-eng-1 ?@ ?example\.com ?\(through data-eng\)/);
      expect(text).toContain("everyone in data-eng (2 people)");
      expect(text).toMatch(/Not read ?:? jobs: data-eng/);
    }
  });

  test("about a principal names its groups and its rights by kind", () => {
    const shown = seen(renderedHtml(markdown(personAccess(2, "ada"))));
    expect(shown).toContain("ada (user) after the plan");
    expect(shown).toContain("Member of : ada-group-0, ada-group-1");
    expect(shown).toContain("Administrator : can do everything");
    expect(shown).toContain("scopes: 2 rights");
    expect(shown).toContain("ada-group-1-scope: READ (through ada-group-1)");
  });

  test("about a plan has each difference with what decides it, findings, neighbors, and runs", () => {
    const texts = [seen(renderedHtml(markdown(explained()))), seen(html(explained()))];
    for (const text of texts)
      for (const part of [
        "update pools.shared",
        "Declared at",
        "shared:3",
        "Because",
        "Side effect",
        "Fields",
        "from variable shared at shared:3",
        "live value changed by shared",
        "Different, but ignored (lifecycle.ignore_changes)",
        "GUARD_DATA_LOSS",
        "GUARD_LIMIT (1 finding;",
        "SPEC_VALUE",
        "pools.shared: update (shared)",
        "… and 10 more resources",
        "apply applied: update 1",
        "… and 1 earlier run",
      ])
        expect(text).toContain(part);
  });

  test("about recorded runs has each change with its fields, as in text", async () => {
    const render = await HISTORY_FORMATS.text();
    expect(render(recordedRun(), INFO, colorsFor(false)).text.split("\n")).toEqual([
      "2026-01-02T00:00:00.000Z  apply applied: update 1",
      "  by shared, commit shared, plan shared, shared",
      "",
      "    ~ update   pools.shared",
      "        node_type_id  shared → shared2",
      "",
      "    + create   secrets.shared",
      "        value  (sensitive)",
      "",
      "    1 more resource changed; the state does not record the fields.",
      "",
      "",
    ]);
    for (const text of [seen(renderedHtml(markdown(recordedRun()))), seen(html(recordedRun()))]) {
      expect(text).toContain("1 recorded apply");
      expect(text).toMatch(/update ?pools\.shared/);
      expect(text).toMatch(/node_type_id:? shared → shared2/);
      expect(text).toMatch(/value:? \(sensitive\)/);
      expect(text).toContain("1 more resource changed");
    }
  });

  test("names the run: version, host, target, commit, and time", () => {
    const comment = seen(renderedHtml(markdown(explained())));
    const page = seen(html(scopeAccess(1)));
    for (const [text, time] of [
      [comment, "2026-11-22T08:00:00Z"],
      [page, "2026-11-22 08:00 UTC"],
    ])
      for (const fact of ["1.2.3", "ws.example.com", "target prod", "commit fedcba98fedc", time])
        expect(text).toContain(fact);
  });

  test("says that a live value changed outside if the service does not record who changed it", () => {
    const shown = seen(html(explained("shared", "shared", {})));
    expect(shown).toContain(
      "live value changed outside; the service does not record who changed it, or when; the last apply wrote shared",
    );
  });

  test("about a secret does not show its value in any format", async () => {
    const formats = await Promise.all(Object.values(EXPLANATION_FORMATS).map((load) => load()));
    const texts = formats.map((render) => render(explainedSecret(), INFO, colorsFor(false)).text);
    expect(texts.map((text) => text.includes("(sensitive)"))).toEqual([true, true, true, true]);
    expect(texts.filter((text) => text.includes("0123456789abcdef"))).toEqual([]);
  });

  test("of 5,000 people fits into a comment, says what it leaves out, and is whole on the page and in text", async () => {
    const view = scopeAccess(5_000);
    const { text, cut } = answerMarkdown(view, INFO);
    expect(text.length).toBeLessThanOrEqual(65_000);
    expect(cut).toBe(true);
    expect(text).toMatch(/\*\*Shortened to fit\*\*: [\d,]+ principals left out\./);
    expect(text).toContain("everyone in admins");
    const page = html(view);
    expect(page.match(/<details class=" bare item"/g)).toHaveLength(5_002);
    expect(page).toContain("data-eng-4999@example.com");
    const render = await ACCESS_FORMATS.text();
    expect(render(view, INFO, colorsFor(false)).text.split("\n")).toHaveLength(5_002 + 6);
  });

  test("about a person in 5,000 groups fits into a comment, with the number of groups in place of their names", () => {
    const { text } = answerMarkdown(personAccess(5_000, "ada"), INFO);
    expect(text.length).toBeLessThanOrEqual(65_000);
    expect(text).toContain("- **Member of**: 5,000 entries\n");
    expect(text).toContain("- **Administrator**: can do everything");
    expect(text).toContain("ada-group-7-scope");
  });
});
