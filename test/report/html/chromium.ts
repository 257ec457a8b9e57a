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

export interface Opened {
  readonly page: Page;
  readonly problems: readonly string[];
  /** Leaves the window to the next page. */
  done(): Promise<void>;
}

export class Reader {
  readonly #browser: Browser;
  readonly #folder = mkdtempSync(join(tmpdir(), "workspace-page-"));
  /** Windows that a test has left, by their options: a new one starts a process. */
  readonly #free = new Map<string, Page[]>();
  #pages = 0;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<Reader> {
    return new Reader(
      await chromium.launch({ executablePath: CHROMIUM ?? "", args: ["--no-sandbox", "--disable-gpu"] }),
    );
  }

  /**
   * The page in a window that no other one uses until `done`. `problems` collects errors, console messages, and requests
   * for anything else.
   */
  async open(html: string, options: BrowserContextOptions = {}): Promise<Opened> {
    const path = join(this.#folder, `${this.#pages++}.html`);
    writeFileSync(path, html);
    const { viewport, colorScheme = "light", ...fixed } = options;
    const key = JSON.stringify(fixed);
    const page = this.#free.get(key)?.pop() ?? (await this.#newPage(fixed));
    await page.setViewportSize(viewport ?? { width: 1280, height: 900 });
    await page.emulateMedia({ colorScheme, media: null });
    const url = pathToFileURL(path).href;
    const problems: string[] = [];
    page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (problem) => problems.push(problem.message));
    page.on("request", (request) => {
      if (request.url() !== url) problems.push(`request: ${request.url()}`);
    });
    await page.goto(url);
    const done = async (): Promise<void> => {
      page.removeAllListeners();
      await page.evaluate("localStorage.clear(), sessionStorage.clear()");
      await page.goto("about:blank");
      this.#free.set(key, [...(this.#free.get(key) ?? []), page]);
    };
    return { page, problems, done };
  }

  async #newPage(options: BrowserContextOptions): Promise<Page> {
    const context = await this.#browser.newContext(options);
    return context.newPage();
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
