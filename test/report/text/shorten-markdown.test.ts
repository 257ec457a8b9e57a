// Fitting a Markdown report into a size: never above it, never through a block, the most important kept longest.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { markdownBlock, markdownSentence } from "../../../src/report/text/printable.ts";
import { markdownMarker } from "../../../src/report/text/run-info.ts";
import { type Block, fittedMarkdown, type Section } from "../../../src/report/text/shorten-markdown.ts";
import { sampleOf } from "../../sample-size.ts";
import { renderedHtml, tagsOf } from "../rendered.ts";

const HEAD = "<!-- workspace:default -->\n\n## Title\n";

/** Blocks with a name of their own, some with a fence of any length. */
const sectionsArbitrary = fc
  .array(
    fc.record({
      rank: fc.integer({ min: 0, max: 3 }),
      isCollapsed: fc.boolean(),
      sizes: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 30 }),
    }),
    { maxLength: 6 },
  )
  .map((all) =>
    all.map(({ rank, isCollapsed, sizes }, at): Section => {
      const blocks = sizes.map((size, index) => blockOf(`b${at}x${index}x`, size));
      return isCollapsed
        ? { rank, open: "<details><summary>s</summary>", close: "</details>", blocks }
        : { rank, open: `### Section ${at}`, blocks };
    }),
  );

function blockOf(name: string, size: number): Block {
  const head = `- **${name}**`;
  if (size === 0) return { what: "change", text: `${head}\n` };
  const lines = Array.from({ length: size }, (_, line) => `+ Überlänge ${line} 🌈`);
  const fence = markdownBlock("diff", lines).map((line) => `  ${line}`);
  return { what: "change", text: `${[head, "", ...fence, ""].join("\n")}\n`, brief: `${head}\n` };
}

const bytes = (text: string) => new TextEncoder().encode(text).length;

describe("a fitted text", () => {
  test("is never above its size, starts with its head, and has each block whole, as its line, or not", () => {
    fc.assert(
      fc.property(
        sectionsArbitrary,
        fc.integer({ min: 1000, max: 20_000 }),
        fc.constantFrom("characters" as const, "bytes" as const),
        (sections, limit, unit) => {
          const { text, cut } = fittedMarkdown(HEAD, sections, { limit, unit });
          expect(unit === "bytes" ? bytes(text) : text.length).toBeLessThanOrEqual(limit);
          expect(text.startsWith("<!-- workspace:default -->\n")).toBe(true);
          const blocks = sections.flatMap((one) => one.blocks);
          const dropped = blocks.filter((one) => !text.includes(one.brief ?? one.text));
          const short = blocks.filter((one) => !dropped.includes(one) && !text.includes(one.text.trimEnd()));
          expect(cut).toBe(dropped.length + short.length > 0);
          if (dropped.length > 0)
            expect(text).toContain(
              `${dropped.length} ${dropped.length === 1 ? "change" : "changes"} left out`,
            );
          const html = renderedHtml(text);
          const opened = html.split("<details>").length;
          expect(html.split("</details>").length).toBe(opened);
          const rest = blocks.reduce(
            (left, one) => left.replace(one.text.trimEnd(), "").replace((one.brief ?? "").trimEnd(), ""),
            text,
          );
          expect(rest).not.toMatch(/```|Überlänge/);
        },
      ),
      { numRuns: sampleOf(150) },
    );
  });

  test("is not above its size when the most important blocks leave no room for 20 other sections", () => {
    const findings = {
      rank: 0,
      open: "",
      blocks: Array.from({ length: 500 }, (_, at) => blockOf(`f${at}x`, 0)),
    };
    const others = Array.from({ length: 20 }, (_, at): Section => {
      const open = `<details><summary><b>kind ${at}</b>: 1 to create, 1 to update, 1 to replace</summary>`;
      return { rank: 3, open, close: "</details>", blocks: [blockOf(`o${at}x`, 0)] };
    });
    const { text } = fittedMarkdown(HEAD, [findings, ...others], { limit: 4000, unit: "characters" });
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(text).not.toContain("<details>");
  });

  test("keeps every line of a higher rank before any line of a lower one", () => {
    const section = (rank: number, name: string) => ({
      rank,
      open: `### ${name}`,
      blocks: Array.from({ length: 50 }, (_, at) => blockOf(`${name}${at}x`, 1)),
    });
    const { text } = fittedMarkdown(HEAD, [section(1, "low"), section(0, "high")], {
      limit: 1800,
      unit: "characters",
    });
    expect(text.match(/\*\*high\d+x/g)).toHaveLength(50);
    const low = text.match(/\*\*low\d+x/g)?.length ?? 0;
    expect(low).toBeGreaterThan(0);
    expect(low).toBeLessThan(50);
  });
});

describe("a sentence with code spans", () => {
  test("shows commands as code", () => {
    expect(markdownSentence("to keep it, run `workspace state rm pools.a`; else wait")).toBe(
      "to keep it, run `workspace state rm pools.a`; else wait",
    );
  });

  test("has nothing but code spans and what disarms text, whatever a name contains", () => {
    const pieces = [
      "`",
      "``",
      "<b>",
      "</details>",
      "@all",
      "[a](http://x.example)",
      "![i](x)",
      "|",
      "*x*",
      "~~~",
      "\n",
      "a",
      " ",
      "&lt;",
      "\\",
      "-->",
      "www.x.example",
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
        const tags = tagsOf(`- ${markdownSentence(`to fix ${parts.join("")}, run \`workspace plan\``)}`);
        const harmless = ["<ul>", "</ul>", "<li>", "</li>", "<code>", "</code>", "<span>", "</span>"];
        expect(tags.filter((tag) => !harmless.includes(tag))).toEqual([]);
      }),
    );
  });
});

test("no target ends the marker's comment", () => {
  for (const target of ["--> <b>x</b>", "a\nb", "\ud800", "--!>", "prod"])
    expect(tagsOf(`${markdownMarker(target)}\n\ntext`)).toEqual([markdownMarker(target), "<p>", "</p>"]);
  expect(markdownMarker("prod-eu.1")).toBe("<!-- workspace:prod-eu.1 -->");
  expect(markdownMarker()).toBe("<!-- workspace:default -->");
});
