// How long the HTML page of a large plan takes to make, and to filter in Chromium, from the input to the next painted frame.

import { planHtml } from "../src/report/html/plan-html.ts";
import { Reader } from "../test/report/html/chromium.ts";
import { largePlan } from "../test/report/html/sample-plans.ts";
import { viewOf } from "../test/report/plans.ts";

export const CHANGES = 5_000;

/** The page prepares its search index while it is idle. */
const IDLE_MS = 2_000;

/** What else the machine does shows less in the fastest of several rounds. */
const ROUNDS = 5;

/** `filterMs`: of the slowest of several inputs the fastest round. */
export async function measurePage(): Promise<{ readonly makeMs: number; readonly filterMs: number }> {
  const view = viewOf(largePlan(CHANGES));
  const begin = performance.now();
  const html = planHtml(view);
  const makeMs = performance.now() - begin;
  const reader = await Reader.start();
  try {
    const { page } = await reader.open(html);
    await page.waitForTimeout(IDLE_MS);
    const rounds: number[][] = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push(
        await page.evaluate<number[]>(`(async () => {
      const search = document.getElementById("search");
      const times = [];
      for (const text of ["pool-4", "pool-49", "pool-499", "data", "no such change", ""]) {
        const begin = performance.now();
        search.value = text;
        search.dispatchEvent(new Event("input"));
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
        times.push(performance.now() - begin);
      }
      return times;
    })()`),
      );
    const fastest = rounds[0]?.map((_, input) => Math.min(...rounds.map((times) => times[input] ?? 0))) ?? [];
    return { makeMs, filterMs: Math.max(...fastest) };
  } finally {
    await reader.close();
  }
}
