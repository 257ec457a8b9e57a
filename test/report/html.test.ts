// Pages for browsers: whole in themselves, with what matters on top and every change below.

import { describe, expect, test } from "vitest";
import { driftHtml } from "../../src/report/html/drift-html.ts";
import { html } from "../../src/report/html/page.ts";
import { planHtml } from "../../src/report/html/plan-html.ts";
import { everything, planOf, registry } from "./plans.ts";

const page = planHtml(everything, registry);

describe("HTML", () => {
  test("a page has no script and fetches nothing", () => {
    for (const one of [page, driftHtml(everything, registry)]) {
      expect(one).not.toMatch(/<script|<link|<img|<iframe|\bsrc=|\bhref=|@import|url\(|\bon\w+=/i);
      expect(one).toContain("default-src &#39;none&#39;");
    }
  });

  test("who objects and what it does to people stand before the changes, and what goes before what comes", () => {
    const places = ["GUARD_PREVENT_DESTROY", "2 running clusters restart", "Destroys", "Changes:"].map(
      (text) => page.indexOf(text),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  test("each change is folded, save what destroys; a secret is masked", () => {
    expect(page.match(/<details class="(create|update)"/g)).toHaveLength(3);
    expect(page.match(/<details class="(delete|replace)[ \w]*" open/g)).toHaveLength(2);
    expect(page).not.toContain("0123456789abcdef");
    expect(page).toContain("(sensitive)");
  });

  test("every element that is opened is closed again", () => {
    for (const name of [
      "section",
      "details",
      "summary",
      "div",
      "table",
      "tr",
      "td",
      "ul",
      "li",
      "span",
      "p",
      "pre",
    ])
      expect([name, page.match(new RegExp(`<${name}\\b`, "g"))?.length]).toEqual([
        name,
        page.match(new RegExp(`</${name}>`, "g"))?.length,
      ]);
  });

  test("a workspace that did not move, and a plan of nothing, say so", () => {
    expect(driftHtml(planOf([]), registry)).toContain("No drift: the workspace is as it was left.");
    expect(planHtml(planOf([]), registry)).toContain("<h1>No changes: 0 resources as the spec says.</h1>");
  });

  test("text becomes text, HTML stays HTML", () => {
    expect(html`<i>${"<b>&'\u202e"}${html`<u>${1}</u>`}</i>`.html).toBe(
      "<i>&lt;b&gt;&amp;&#39;\\u202e<u>1</u></i>",
    );
  });
});
