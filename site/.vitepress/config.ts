// The site of the docs: pages of ../docs, navigation from the tables of docs/README.md, search in the browser without a server.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { withTabs } from "./tabs.ts";

const ROOT = join(import.meta.dirname, "../..");
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };

/** Where pages outside of docs/ are read, such as the architecture: `SITE_SOURCE=https://…/blob/COMMIT`. */
const SOURCE = process.env.SITE_SOURCE ?? "https://example.com/workspace/blob/main";

interface Item {
  readonly text: string;
  readonly link: string;
}

/** The headings of docs/README.md with the pages of their tables. A group that folds is not accessible, so none does. */
function sidebar(): { text: string; items: Item[] }[] {
  const index = readFileSync(join(ROOT, "docs/README.md"), "utf8");
  return index.split(/^## /m).flatMap((section) => {
    const rows = [...section.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)];
    const items = rows.map(([, text = "", page = ""]) => ({ text, link: `/${page.replace(/\.md$/, "")}` }));
    return items.length === 0 ? [] : [{ text: section.split("\n", 1)[0] ?? "", items }];
  });
}

export default defineConfig({
  title: "workspace",
  description: "Manage a Databricks workspace as code: plan, apply, drift.",
  base: process.env.SITE_BASE ?? "/",
  srcDir: "pages",
  outDir: "dist",
  srcExclude: ["internals/**"],
  rewrites: { "README.md": "index.md", "reference/README.md": "reference/index.md" },
  cleanUrls: false,
  lastUpdated: false,
  // The default colors of code have too little contrast, and the keys of the search button are not in its name.
  head: [
    [
      "style",
      {},
      "div[class*='language-'] > span.lang { color: var(--vp-c-text-2) !important } .DocSearch-Button-Keys { display: none !important }",
    ],
  ],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    config(markdown) {
      const renderPage = markdown.renderer.render.bind(markdown.renderer);
      markdown.renderer.render = (tokens, options, env) => withTabs(renderPage(tokens, options, env));
      // Braces of rules are text, not expressions of the generator.
      for (const rule of ["text", "code_inline"] as const) {
        const plain = markdown.renderer.rules[rule];
        markdown.renderer.rules[rule] = (tokens, index, options, env, self) =>
          (plain?.(tokens, index, options, env, self) ?? "").replaceAll("{{", "&#123;&#123;");
      }
      // A link that leaves docs/ leads to the sources.
      const render = markdown.renderer.rules.link_open;
      markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
        const href = tokens[index]?.attrGet("href") ?? "";
        const target = outside(href, String(env.relativePath ?? ""));
        if (target !== undefined) tokens[index]?.attrSet("href", `${SOURCE}/${target}`);
        return render === undefined
          ? self.renderToken(tokens, index, options)
          : render(tokens, index, options, env, self);
      };
    },
  },
  // `pages` is a link to docs, and what the pages import is installed here.
  // The compiler of the generator does not know the target of ../tsconfig.json.
  vite: { resolve: { preserveSymlinks: true }, esbuild: { tsconfigRaw: { compilerOptions: {} } } },
  themeConfig: {
    search: {
      provider: "local",
      options: { translations: { button: { buttonText: "Search", buttonAriaLabel: "Search" } } },
    },
    outline: { level: [2, 3] },
    nav: [
      { text: "Get started", link: "/getting-started" },
      { text: "Reference", link: "/reference/" },
      { text: version, link: `${SOURCE}/CHANGELOG.md` },
    ],
    sidebar: [
      ...sidebar(),
      { text: "Reference", items: [{ text: "Commands, kinds, codes", link: "/reference/" }] },
    ],
  },
});

/** The path in the repository of a link that leaves the pages of the site or names a folder, else undefined. */
function outside(href: string, page: string): string | undefined {
  if (/^[a-z]+:|^#|^\//i.test(href)) return undefined;
  const [path = ""] = href.split("#");
  const target = join("docs", page, "..", path);
  return /^docs\/(?!internals\/).*\.md$/.test(target) ? undefined : target;
}
