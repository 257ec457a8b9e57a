// A comment as GitHub shows it: its sizes, and its colors of `diff` fences, tables, and details.

import { renderedHtml } from "./rendered.ts";

/** The column of a comment, in pixels. */
export const COMMENT_WIDTH = 892;

const STYLE = `
body { margin: 0; padding: 16px; font: 14px/1.5 "Liberation Sans", Arial, sans-serif; color: #1f2328; background: #fff }
article { border: 1px solid #d1d9e0; border-radius: 6px }
header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0 }
section { padding: 16px; overflow-wrap: break-word }
section > :first-child { margin-top: 0 !important } section > :last-child { margin-bottom: 0 !important }
p, ul, table, pre, details, blockquote { margin: 0 0 16px }
h2, h3 { margin: 24px 0 16px; line-height: 1.25 }
h2 { padding-bottom: 6px; border-bottom: 1px solid #d1d9e0; font-size: 21px } h3 { font-size: 17.5px }
ul { padding-left: 28px } ul ul { margin-bottom: 0 } li + li { margin-top: 3.5px } li > p { margin-top: 16px }
table { border-collapse: collapse } th, td { border: 1px solid #d1d9e0; padding: 6px 13px }
code { background: #eff1f3; padding: 2px 5px; border-radius: 6px; font: 11.9px "Liberation Mono", monospace }
pre { background: #f6f8fa; padding: 16px; border-radius: 6px; overflow: auto } pre code { padding: 0; background: none; line-height: 1.45 }
.plus { color: #116329; background: #dafbe1 } .minus { color: #82071e; background: #ffebe9 } .bang { color: #953800; background: #ffd8b5 }
.at { color: #8250df } blockquote { padding: 0 14px; border-left: 4px solid #d1d9e0; color: #59636e } blockquote > :last-child { margin-bottom: 0 }
.alert { padding: 8px 16px; border-color: #cf222e; color: inherit } .alert b { color: #cf222e }
@media (prefers-color-scheme: dark) {
  body { color: #f0f6fc; background: #0d1117 } header, pre { background: #151b23 } article, header, h2, th, td, blockquote { border-color: #3d444d }
  code { background: #262c36 } .plus { color: #aff5b4; background: #033a16 } .minus { color: #ffdcd7; background: #67060c } .bang { color: #ffdfb6; background: #5a1e02 }
}`;

const COLORS: Readonly<Record<string, string>> = { "+": "plus", "-": "minus", "!": "bang", "@": "at" };

export function commentPage(markdown: string): string {
  const html = renderedHtml(markdown)
    .replaceAll(
      /(<code class="language-diff">)(.*?)(<\/code>)/gs,
      (_, open: string, text: string, close: string) =>
        open + text.split("\n").map(colored).join("\n") + close,
    )
    .replaceAll(/<blockquote>\n<p>\[!CAUTION\]\n/g, '<blockquote class="alert">\n<p><b>Caution</b></p>\n<p>');
  const header = "<header><b>github-actions</b> bot commented</header>";
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style><article>${header}<section>${html}</section></article>`;
}

function colored(line: string): string {
  const name = COLORS[line.charAt(0)];
  return name === undefined ? line : `<span class="${name}">${line}</span>`;
}
