// Debian's Chromium, driven by playwright-core, for pages that are read from a file without a network.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** Undefined where none is installed. */
export const CHROMIUM = [process.env.WORKSPACE_TEST_CHROMIUM ?? "", "/usr/bin/chromium"].find((path) =>
  existsSync(path),
);

export class Reader {
  readonly #browser: Browser;
  readonly #folder = mkdtempSync(join(tmpdir(), "workspace-page-"));
  #pages = 0;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<Reader> {
    return new Reader(
      await chromium.launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox", "--disable-gpu"] }),
    );
  }

  /** The page in a separate window. `problems` collects errors, console messages, and requests for anything else. */
  async open(
    html: string,
    options: BrowserContextOptions = {},
  ): Promise<{ readonly page: Page; readonly problems: readonly string[] }> {
    const path = join(this.#folder, `${this.#pages++}.html`);
    writeFileSync(path, html);
    const context = await this.#browser.newContext({
      viewport: { width: 1280, height: 900 },
      colorScheme: "light",
      ...options,
    });
    const page = await context.newPage();
    const url = pathToFileURL(path).href;
    const problems: string[] = [];
    page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (problem) => problems.push(problem.message));
    page.on("request", (request) => {
      if (request.url() !== url) problems.push(`request: ${request.url()}`);
    });
    await page.goto(url);
    return { page, problems };
  }

  async close(): Promise<void> {
    await this.#browser.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

interface Axe {
  run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
}

/** What axe finds on a page with all its details open. */
export async function accessibilityViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate("for (const one of document.querySelectorAll(`details`)) one.open = true");
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const found = await (globalThis as unknown as { axe: Axe }).axe.run();
    return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  });
}
