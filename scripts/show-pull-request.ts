// Writes docs/ci/example.md and its picture from a real run: one pull request with every report (`npm run show`).

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { example } from "../test/ci/example.ts";
import { CHROMIUM, Reader } from "../test/report/html/chromium.ts";
import { renderedHtml } from "../test/report/rendered.ts";

const DOCS = join(import.meta.dirname, "../docs");

/** A comment as GitHub shows it: its colors of `diff` fences, tables, and details. */
const STYLE = `
body { margin: 0; padding: 16px; font: 14px/1.5 "Liberation Sans", Arial, sans-serif; color: #1f2328; background: #fff }
article { border: 1px solid #d1d9e0; border-radius: 6px; max-width: 860px }
header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0 }
section { padding: 16px }
h2 { margin: 0 0 12px; padding-bottom: 6px; border-bottom: 1px solid #d1d9e0; font-size: 20px }
h3 { margin: 20px 0 12px; font-size: 16px }
table { border-collapse: collapse } th, td { border: 1px solid #d1d9e0; padding: 4px 12px }
code { background: #eff1f3; padding: 2px 5px; border-radius: 5px; font: 12px "Liberation Mono", monospace }
pre { background: #f6f8fa; padding: 12px; border-radius: 6px; overflow: hidden } pre code { padding: 0; background: none; line-height: 1.45 }
.plus { color: #116329; background: #dafbe1 } .minus { color: #82071e; background: #ffebe9 } .bang { color: #953800; background: #ffd8b5 }
.at { color: #8250df } details { margin: 8px 0 } blockquote { margin: 0; padding-left: 12px; border-left: 3px solid #d1d9e0; color: #59636e }`;

const COLORS: Readonly<Record<string, string>> = { "+": "plus", "-": "minus", "!": "bang", "@": "at" };

function commentPage(markdown: string): string {
  const html = renderedHtml(markdown).replaceAll(
    /(<code class="language-diff">)(.*?)(<\/code>)/gs,
    (_, open: string, text: string, close: string) => open + text.split("\n").map(colored).join("\n") + close,
  );
  const header = "<header><b>github-actions</b> bot commented</header>";
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style><article>${header}<section>${html}</section></article>`;
}

function colored(line: string): string {
  const name = COLORS[line.charAt(0)];
  return name === undefined ? line : `<span class="${name}">${line}</span>`;
}

if (CHROMIUM === undefined) throw new Error("no Chromium: set WORKSPACE_TEST_CHROMIUM");
const { page, comment } = await example();
writeFileSync(join(DOCS, "ci/example.md"), page);
const reader = await Reader.start();
try {
  const opened = await reader.open(commentPage(comment), { viewport: { width: 892, height: 600 } });
  mkdirSync(join(DOCS, "images"), { recursive: true });
  await opened.page.screenshot({ path: join(DOCS, "images/pull-request.png"), fullPage: true });
  if (opened.problems.length > 0) throw new Error(opened.problems.join("\n"));
} finally {
  await reader.close();
}
process.stdout.write("Wrote docs/ci/example.md and docs/images/pull-request.png.\n");
