// The static site of the docs (`npm run site`), read in Chromium from a plain file server.

import { existsSync, globSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityViolations, CHROMIUM } from "../report/html/chromium.ts";

const DIST = join(import.meta.dirname, "../../site/dist");
const TYPES: Readonly<Record<string, string>> = {
  html: "text/html",
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
};

/** The site is built by `.ci/run` and `npm run site`; without it or without Chromium these tests are skipped. */
describe.skipIf(CHROMIUM === undefined || !existsSync(join(DIST, "index.html")))(
  "the site of the docs",
  () => {
    let server: Server;
    let browser: Browser;
    let url = "";

    beforeAll(async () => {
      server = createServer((request, response) => {
        const path = decodeURI(new URL(request.url ?? "/", "http://localhost").pathname);
        const file = join(DIST, path.endsWith("/") ? `${path}index.html` : path);
        if (!existsSync(file)) return void response.writeHead(404).end();
        response.writeHead(200, {
          "content-type": TYPES[file.split(".").at(-1) ?? ""] ?? "application/octet-stream",
        });
        response.end(readFileSync(file));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      browser = await chromium.launch({
        executablePath: CHROMIUM ?? "",
        args: ["--no-sandbox", "--disable-gpu"],
      });
    });

    afterAll(async () => {
      await browser?.close();
      server?.close();
    });

    async function open(
      path: string,
      options: BrowserContextOptions = {},
    ): Promise<{ page: Page; requests: string[] }> {
      const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
      const page = await context.newPage();
      const requests: string[] = [];
      page.on("request", (request) => requests.push(request.url()));
      await page.goto(url + path, { waitUntil: "networkidle" });
      return { page, requests };
    }

    test("has a page for each page of docs for users", () => {
      const pages = globSync("{*,ci/*,reference/**/*}.md", { cwd: join(DIST, "../../docs") });
      const missing = pages
        .map((page) => page.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html"))
        .filter((page) => !existsSync(join(DIST, page)));
      expect(missing).toEqual([]);
    });

    test("finds a page by a word of its text, without a request to another host", async () => {
      const { page, requests } = await open("/");
      await page.keyboard.press("Control+k");
      await page.locator("#localsearch-input").fill("acknowledge");
      const first = page.locator(".VPLocalSearchBox a.result").first();
      await first.waitFor();
      await first.click();
      await page.waitForURL(/drift|glossary|reference/);
      expect(requests.filter((request) => !request.startsWith(url))).toEqual([]);
    });

    test("leads from the index to each page of its tables, and from there to the next", async () => {
      const { page } = await open("/");
      const links = await page
        .locator(".VPSidebar a.link")
        .evaluateAll((elements) => elements.map((element) => element.getAttribute("href")));
      expect(links.length).toBeGreaterThan(15);
      expect(links.filter((link) => !existsSync(join(DIST, link ?? "")) && link !== "/reference/")).toEqual(
        [],
      );
      await page.locator(".VPSidebar a.link", { hasText: "The spec" }).click();
      await page.waitForURL(/spec/);
      await expect.poll(() => page.locator("h1").textContent()).toContain("The spec");
    });

    test("shows one tab of the pipelines, and the tab of a heading that a link names", async () => {
      const { page } = await open("/ci.html");
      const shown = () => page.locator(".tabs > section > h3:visible").allTextContents();
      expect(await shown()).toEqual([expect.stringContaining("GitHub Actions")]);
      await page.locator(".tabs > label", { hasText: "GitLab CI" }).click();
      expect(await shown()).toEqual([expect.stringContaining("GitLab CI")]);
      await page.keyboard.press("ArrowRight");
      expect(await shown()).toEqual([expect.stringContaining("Azure Pipelines")]);
      await page.locator(".VPDocAsideOutline a", { hasText: "Jenkins" }).click();
      await expect.poll(shown).toEqual([expect.stringContaining("Jenkins")]);
      const linked = await open("/ci.html#gitlab-ci");
      expect(await linked.page.locator("#gitlab-ci").isVisible()).toBe(true);
    });

    test.each([
      ["light", { colorScheme: "light" }],
      ["dark", { colorScheme: "dark" }],
      ["phone", { viewport: { width: 390, height: 844 } }],
    ] as const)("has no finding of axe and no sideways scroll in %s", async (_name, options) => {
      for (const path of ["/", "/spec.html", "/ci.html", "/reference/commands/plan.html"]) {
        const { page } = await open(path, options);
        expect(
          await page.evaluate("document.documentElement.scrollWidth - window.innerWidth"),
          path,
        ).toBeLessThanOrEqual(0);
        expect(await accessibilityViolations(page), path).toEqual([]);
        await page.context().close();
      }
    });
  },
);
