// Pages for browsers: whole in themselves, with what matters on top and every change below.

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Address, addressOf } from "../../../src/core/address.ts";
import { fieldTable, sideBySide } from "../../../src/report/html/differences.ts";
import { driftHtml } from "../../../src/report/html/drift-html.ts";
import { html } from "../../../src/report/html/page.ts";
import { planHtml, planHtmlPieces } from "../../../src/report/html/plan-html.ts";
import { driftView } from "../../../src/report/view/drift-view.ts";
import { everything, planOf, registry, viewOf } from "../plans.ts";

const page = planHtml(viewOf(everything));

describe("HTML", () => {
  test("the moved entries of likely renames are a block to paste", () => {
    const pairs = [{ from: "pools.a" as Address, to: "pools.<b>" as Address }];
    const renamed = planHtml(viewOf({ ...planOf([]), renames: { pairs, ties: [] } }));
    expect(renamed).toContain("To keep renamed resources, add this to the spec");
    expect(renamed).toContain("moved:\n  - { from: pools.a, to: ");
    expect(renamed).not.toContain("pools.<b>");
  });

  test("a page fetches nothing, and has one style and one script, which its policy allows by their digests", () => {
    for (const one of [page, driftHtml(driftView(everything, 1, registry))]) {
      const [, style = "", rest = ""] = /<style>(.*?)<\/style>(.*)/s.exec(one) ?? [];
      const [, script = ""] = /<script>(.*)<\/script>/s.exec(rest) ?? [];
      for (const text of [style, script])
        expect(one).toContain(`&#39;sha256-${createHash("sha256").update(text).digest("base64")}&#39;`);
      expect(one.replace(script, "")).not.toMatch(
        /<script.*<script|<link|<img|<iframe|\bsrc=|\bhref="(?!#)|@import|url\((?!#)|\bon\w+=|\bstyle=/is,
      );
      expect(one).toContain("default-src &#39;none&#39;");
    }
  });

  test("guards and effects on people come before the changes, and deletions before creations", () => {
    const places = ["GUARD_PREVENT_DESTROY", "2 running clusters restart", "Destroys:", "Changes:"].map(
      (text) => page.indexOf(text),
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
  });

  test("each change except a destructive one is folded; a secret is masked", () => {
    expect(page.match(/<details class="(create|update) item"[^>]*"><summary>/g)).toHaveLength(3);
    expect(page.match(/<details class="(delete|replace)[ \w]*"[^>]* open>/g)).toHaveLength(2);
    expect(page).not.toContain("0123456789abcdef");
    expect(page).toContain("(sensitive)");
  });

  test("a page of many changes is made in pieces of at most 500 changes", () => {
    const [first] = everything.changes.filter(({ action }) => action === "create");
    if (first === undefined) throw new Error("the sample plan creates nothing");
    const changes = Array.from({ length: 1_200 }, (_, at) => ({
      ...first,
      address: addressOf("pools", `pool-${at}`),
    }));
    const view = { ...viewOf(planOf(changes)), expand: true };
    const pieces = [...planHtmlPieces(view)];
    expect(
      pieces.map((piece) => piece.match(/<details class="create/g)?.length ?? 0).filter((n) => n > 0),
    ).toEqual([500, 500, 200]);
    expect(pieces.join("")).toBe(planHtml(view));
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
    expect(driftHtml(driftView(planOf([]), 1, registry))).toContain(
      "No drift. The workspace matches the last apply.",
    );
    expect(planHtml(viewOf(planOf([])))).toContain("<h1>No changes.</h1>");
  });

  test("the words that differ are marked where much of a long value stays the same", () => {
    const line = (was: string, text: string) => fieldTable([{ label: "f", was, text }]).html;
    const path = line(
      "spark.sql('select * from <raw>.orders')",
      "spark.sql('select * from <bronze>.orders where day > 1')",
    );
    expect(path).toContain(`from &lt;<mark>raw</mark>&gt;.orders&#39;)</span>`);
    expect(path).toContain("&lt;<mark>bronze</mark>&gt;.orders<mark> where day &gt; 1</mark>&#39;)</span>");
    expect(line("i3.xlarge", "i3.2xlarge")).not.toContain("<mark>");
    expect(line("one sentence about costs", "the other describes a person")).not.toContain("<mark>");
    expect(sideBySide(["-frame = read('raw')", "+frame = read('bronze')"]).html).toContain(
      "<mark>bronze</mark>",
    );
    const long = (word: string) => Array.from({ length: 200 }, (_, at) => `${word}${at} and`).join(" ");
    expect(line(long("a"), long("b"))).not.toContain("<mark>");
    const content = sideBySide([
      "@@ -1 +1 @@",
      "-print('raw orders of a day')",
      "+print('bronze orders of a day')",
    ]);
    expect(content.html).toContain(`<td class="del">-print(&#39;<mark>raw</mark> orders`);
    expect(content.html).toContain(`<td class="add">+print(&#39;<mark>bronze</mark> orders`);
  });

  test("text becomes text, HTML stays HTML", () => {
    expect(html`<i>${"<b>&'\u202e"}${html`<u>${1}</u>`}</i>`.html).toBe(
      "<i>&lt;b&gt;&amp;&#39;\\u202e<u>1</u></i>",
    );
  });
});
