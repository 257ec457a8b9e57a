// The page of a fleet in a real browser: no problem, no accessibility violation, and the filter finds workspaces.

import { expect, test } from "vitest";
import { fleetHtml } from "../../../src/fleet/report/fleet-html.ts";
import { accessibilityViolations } from "../../report/html/chromium.ts";
import { describeInChromium } from "../../report/html/describe-in-chromium.ts";
import { FLEET_VIEW } from "./sample-fleet.ts";

const HTML = fleetHtml(FLEET_VIEW);

describeInChromium("the page of a fleet", (open) => {
  test.each([
    ["light", 1280],
    ["dark", 390],
  ] as const)(
    "in %s mode at %i pixels has no problem and no accessibility violation",
    async (colorScheme, width) => {
      const { page, problems } = await open(HTML, { colorScheme, viewport: { width, height: 800 } });
      expect(await accessibilityViolations(page)).toEqual([]);
      expect(problems).toEqual([]);
      expect(
        await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth"),
      ).toBeLessThanOrEqual(0);
    },
  );

  test("search narrows the list, failures are open, and messages of services are escaped", async () => {
    const { page } = await open(HTML);
    const names = () => page.locator("details.item:visible .address").allTextContents();
    expect(await names()).toHaveLength(7);
    expect(await page.locator("details.item[open] .address").allTextContents()).toEqual([
      "ml-prod",
      "ml-test",
      "bi-prod",
    ]);
    expect(await page.locator("b", { hasText: "ml-prod.example" }).count()).toBe(0);
    await page.fill("#search", "ml-");
    expect(await names()).toEqual(["ml-prod", "ml-test"]);
    expect(await page.locator("svg[aria-label^='Drift by day']").count()).toBe(1);
  });

  test("a row of a workspace says what its state is about: the changes, the drift, or nothing", async () => {
    const { page } = await open(HTML);
    const remarks = async (name: string) =>
      (
        await page.locator(`details.item:has(.address:text-is("${name}")) summary .remark`).allTextContents()
      ).slice(1);
    expect(await remarks("web-prod")).toEqual(["changes: 3 create, 1 update", "drift in 4 runs"]);
    expect(await remarks("ads-test")).toEqual(["drift in 5 runs"]);
    expect(await remarks("new")).toEqual([]);
  });

  test("the line of a workspace's drift has the whole width for the longest trend of the fleet, and is absent without drift", async () => {
    const { page } = await open(HTML);
    const lines = page.locator("details.item summary svg");
    const widths = await lines
      .locator("polyline")
      .evaluateAll((all) => all.map((one) => one.getAttribute("points")?.split(",")[0]));
    expect(widths).toContain("0.0");
    for (const label of await lines.evaluateAll((all) => all.map((one) => one.getAttribute("aria-label"))))
      expect(label).toMatch(/[1-9]\d*(,|$)/);
  });

  test("a page next to the JSON of its results names the file, may read files next to it alone, and says how old its results are", async () => {
    const live = fleetHtml(FLEET_VIEW, "fleet.json");
    expect(live).toContain("connect-src &#39;self&#39;");
    expect(HTML).not.toContain("connect-src");
    const { page, problems } = await open(live);
    expect(await page.locator("#live").textContent()).toMatch(
      /^Results of \d+ d ago; the page checks for new ones every minute\.$/,
    );
    expect(await page.locator("#live").getAttribute("data-results")).toBe("fleet.json");
    expect(problems).toEqual([]);
  });
});
