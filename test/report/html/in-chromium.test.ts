// The pages in a real browser: nothing is fetched, nothing is refused, everybody can read them, and the filter finds what it should.

import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { AccessRight } from "../../../src/planner/model/plan.ts";
import { answerHtmlPieces } from "../../../src/report/html/answer-html.ts";
import { driftHtml } from "../../../src/report/html/drift-html.ts";
import { outcomeHtml } from "../../../src/report/html/outcome-html.ts";
import { failureHtml } from "../../../src/report/html/page.ts";
import { planHtml } from "../../../src/report/html/plan-html.ts";
import { accessView } from "../../../src/report/view/access-view.ts";
import type { AnswerView } from "../../../src/report/view/answer-view.ts";
import { driftView } from "../../../src/report/view/drift-view.ts";
import { outcomeView } from "../../../src/report/view/outcome-view.ts";
import { type PlanView, planView } from "../../../src/report/view/plan-view.ts";
import { sampleFrom, sampleOf } from "../../sample-size.ts";
import { explained, personAccess, recordedRun, scopeAccess } from "../answers.ts";
import { create, INFO, planOf, registry, viewOf } from "../plans.ts";
import { richOutcome, richPlan } from "../rich.ts";
import { accessibilityViolations } from "./chromium.ts";
import { describeInChromium } from "./describe-in-chromium.ts";
import { fullPlan, largePlan } from "./sample-plans.ts";
import { teamView } from "./team-plan.ts";

const answerHtml = (view: AnswerView) => [...answerHtmlPieces(view, INFO)].join("");
const each = (view: PlanView) => planHtml({ ...view, expand: true });
const plan = each(viewOf(fullPlan));
const PAGES = {
  plan,
  "plan with equal changes": planHtml(teamView(165, true)),
  "plan of several pages": planHtml(teamView(3_552, true)),
  "plan with links to the spec": planHtml(
    planView(fullPlan, registry, { places: () => ({ file: "workspace.yaml", line: 9, column: 1 }) }),
    { ...INFO, forge: "github" },
  ),
  drift: driftHtml(driftView(fullPlan, 1, registry)),
  "compared plan": planHtml(viewOf(richPlan)),
  outcome: [...outcomeHtml(outcomeView(richOutcome, [], viewOf(richPlan)), INFO)].join(""),
  "plan of nothing": planHtml(viewOf(planOf([]))),
  failure: failureHtml(
    "Validation",
    [error("API_REFUSED", "the service refused", { cause: "HTTP 403" })],
    INFO,
  ),
  "access of an object": answerHtml(scopeAccess(3)),
  "access of a person": answerHtml(personAccess(40)),
  explanation: answerHtml(explained()),
  history: answerHtml(recordedRun()),
  "failure with lines of the spec": failureHtml("workspace plan", [withFrame()], { ...INFO, host: "" }),
};

/** A finding with lines that are wider than a phone. */
function withFrame() {
  const pool =
    "  shared: { node_type_id: Standard_DS3_v2, max_capacity: oops, idle_instance_autotermination_minutes: 15 }";
  const caret = `    | ${"oops".padStart(pool.indexOf("oops") + 4).replaceAll("oops", "^^^^")}`;
  const at = { file: "workspace.yaml", line: 2, column: 57, frame: `> 2 | ${pool}\n${caret}` };
  return error("SPEC_TYPE", "max_capacity must be an integer", { at });
}

const notesOf = (number: number) =>
  Array.from({ length: number }, (_, at) => warning("PLAN_MODE", `a note about the run, number ${at}`));

const visible = (page: Page) => page.locator("details.item:visible .address").allTextContents();

/** Where a key has led: the address of the change in focus. */
const inFocus = (page: Page) =>
  page.evaluate<string>(`document.activeElement?.querySelector(".address")?.textContent ?? ""`);

describeInChromium("a page", (open) => {
  test.each(
    sampleFrom(Object.entries(PAGES)).flatMap(([name, html]) => [
      [name, "light", 1280, html] as const,
      [name, "dark", 390, html] as const,
    ]),
  )("the %s page in %s mode at %i pixels has no problem and no accessibility violation", async (...one) => {
    const [, colorScheme, width, html] = one;
    const { page, problems } = await open(html, { colorScheme, viewport: { width, height: 800 } });
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(problems).toEqual([]);
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
  });

  test("lines of the spec have one row each in a narrow window, so that the caret is below its word", async () => {
    const { page } = await open(PAGES["failure with lines of the spec"], {
      viewport: { width: 390, height: 800 },
    });
    const rows = await page.evaluate<number>(
      "(one => one.clientHeight / parseFloat(getComputedStyle(one).lineHeight))(document.querySelector('.note pre'))",
    );
    expect(Math.floor(rows)).toBe(2);
    expect(await page.locator(".where").textContent()).toMatch(/^target prod · /);
  });

  test("the filter bar is directly below the summary in a narrow window, whatever the findings and rights take", async () => {
    const { page } = await open(planHtml(viewOf(richPlan)), { viewport: { width: 390, height: 800 } });
    const gap = await page.evaluate<number>(
      "document.querySelector('.tools').getBoundingClientRect().top - document.querySelector('.glance').getBoundingClientRect().bottom",
    );
    expect(gap).toBeGreaterThanOrEqual(0);
    expect(gap).toBeLessThanOrEqual(24);
    const below = await page.evaluate<number>(
      "document.querySelector('#findings').getBoundingClientRect().top - document.querySelector('.tools').getBoundingClientRect().bottom",
    );
    expect(below).toBeGreaterThanOrEqual(0);
  });

  test("search, action, kind, and severity narrow the list, and Reset shows everything again", async () => {
    const { page } = await open(plan);
    const all = await visible(page);
    expect(all).toHaveLength(10);
    await page.fill("#search", "PASSWORD sensitive");
    await page.click("#expand");
    expect(await visible(page)).toEqual(["secrets.etl/password"]);
    expect(await page.textContent("#count")).toBe("1 of 10 shown");
    expect(await page.locator("section.list:visible").count()).toBe(1);
    await page.click("#reset");
    await page.check('input[value="delete"]');
    await page.check('input[value="replace"]');
    expect(await visible(page)).toEqual(["pools.gone", "pools.old"]);
    await page.uncheck('input[value="delete"]');
    expect(await visible(page)).toEqual(["pools.old"]);
    await page.click("#reset");
    await page.selectOption("#kind", "secrets");
    expect(await visible(page)).toEqual(["secrets.etl/password"]);
    await page.selectOption("#kind", "");
    await page.selectOption("#severity", "other");
    expect(await page.locator("details.item:visible").count()).toBeGreaterThan(0);
    expect(await page.locator('details.item:visible:not([data-severity="other"])').count()).toBe(0);
    await page.click("#reset");
    expect(await visible(page)).toEqual(all);
  });

  test("of 5,000 people with a right, search and level leave those that fit, and nothing offers to open what has no details", async () => {
    const { page, problems } = await open(answerHtml(scopeAccess(5_000)));
    expect(await page.textContent("#count")).toBe("5,002 shown, page 1 of 51");
    await page.check('input[value="MANAGE"]');
    expect(await page.textContent("#count")).toBe("2,500 of 5,002 shown, page 1 of 25");
    await page.fill("#search", "data-eng-4999");
    expect(await visible(page)).toEqual(["data-eng-4999@example.com"]);
    expect(await page.locator("#expand:visible, #collapse:visible").count()).toBe(0);
    expect(problems).toEqual([]);
  });

  test("origin and result narrow the list", async () => {
    const { page } = await open(PAGES["compared plan"]);
    const all = await visible(page);
    await page.selectOption("#origin", "already pending");
    expect(await visible(page)).toEqual(["pools.later", "pools.shared"]);
    await page.selectOption("#origin", "caused by this change");
    const caused = await visible(page);
    expect(caused).toEqual(expect.arrayContaining(["pools.new", "pools.gone", "pools.nested"]));
    expect(caused).not.toContain("pools.later");
    await page.click("#reset");
    expect(await visible(page)).toEqual(all);
    const { page: outcome } = await open(PAGES.outcome);
    await outcome.selectOption("#result", "failed");
    expect(await visible(outcome)).toEqual(["pools.refused"]);
  });

  test("of 5,000 changes the filter leaves those that fit, in every section, and a page shows 100 of them", async () => {
    const { page, problems } = await open(each(viewOf(largePlan(5_000))));
    const count = () => page.textContent("#count");
    expect([(await visible(page)).length, await count()]).toEqual([100, "5,000 shown, page 1 of 50"]);
    await page.fill("#search", "pool-49");
    expect(await count()).toBe("111 of 5,000 shown, page 1 of 2");
    await page.click(".tools [data-step='1']");
    expect([(await visible(page)).length, await count()]).toEqual([11, "111 of 5,000 shown, page 2 of 2"]);
    await page.check('input[value="delete"]');
    expect(await visible(page)).toEqual(["pools.pool-499", "pools.pool-4999"]);
    await page.fill("#search", "");
    expect(await count()).toBe("50 of 5,000 shown");
    expect(problems).toEqual([]);
  }, 120_000);

  const many = sampleOf(50_000);
  test(`${many} changes have fewer than 20,000 elements, and the filter bar is on the first screen`, async () => {
    const view = teamView(many, true);
    for (const expand of sampleFrom([true, false])) {
      const { page, problems } = await open(planHtml({ ...view, expand }), {
        viewport: { width: 1280, height: 800 },
      });
      expect(await page.evaluate<number>("document.querySelectorAll(`*`).length")).toBeLessThan(20_000);
      const bottom = await page.evaluate<number>(
        "document.querySelector(`.tools`).getBoundingClientRect().bottom",
      );
      expect(bottom).toBeLessThanOrEqual(800);
      expect(problems).toEqual([]);
    }
  }, 120_000);

  test("of 420 rights that a plan changes five lines are open, so that the filter bar is on the first screen", async () => {
    const right = (at: number, principal: string): AccessRight => ({
      principal,
      principalKind: "group",
      people: 2,
      kind: "pools",
      object: `pool-${at}`,
      level: "WRITE",
      instead: "READ",
      through: [],
    });
    const gained = Array.from({ length: 210 }, (_, at) => [
      right(at, "all-scopes"),
      right(at, `team-${at}`),
    ]).flat();
    const access = accessView({ gained, lost: [], notCompared: [] }, registry, "principal");
    const { page } = await open(planHtml({ ...teamView(165), access }), {
      viewport: { width: 1280, height: 800 },
    });
    const bottom = "document.querySelector(`.tools`).getBoundingClientRect().bottom";
    expect(await page.evaluate<number>(bottom)).toBeLessThanOrEqual(800);
    expect(await page.locator("#access li:visible").allTextContents()).toEqual([
      "+ gains everyone in all-scopes (2 people): WRITE on 210 pools: pool-0, pool-1, pool-2, and 207 more (was READ)",
      ...[0, 1, 2, 3].map(
        (at) => `+ gains everyone in team-${at} (2 people): WRITE on pools pool-${at} (was READ)`,
      ),
    ]);
    await page.click("text=All: 420 rights");
    expect(await page.locator("#access details li li:visible").count()).toBe(210);
  });

  test("with a guard, three groups of findings, access, cost, and side effects, the filter bar is on the first screen", async () => {
    const gained = Array.from(
      { length: 8 },
      (_, at): AccessRight => ({
        principal: `team-${at}`,
        principalKind: "group",
        people: 2,
        kind: "scopes",
        object: `team-${at}`,
        level: "WRITE",
        instead: "READ",
        through: [],
      }),
    );
    const access = accessView({ gained, lost: [], notCompared: [] }, registry, "principal");
    for (const size of [165, 3_552]) {
      const view = teamView(size, true);
      const costTotal = "+300 cores, +1,050 GB always.";
      const notes = [warning("PLAN_MODE", "the plan was made offline", { hint: "run it with a connection" })];
      const { page } = await open(planHtml({ ...view, access, costTotal, notes }), {
        viewport: { width: 1280, height: 800 },
      });
      const bottom = "document.querySelector(`.tools`).getBoundingClientRect().bottom";
      expect(await page.evaluate<number>(bottom)).toBeLessThanOrEqual(800);
      expect(await page.locator(".glance dt").allTextContents()).toEqual([
        "Blocked",
        "Destroys",
        "Access",
        "Cost",
        "Side effects",
      ]);
    }
  });

  test("the line of a replacement has no ID and no strategy, which its details have", async () => {
    const { page } = await open(plan);
    const card = page.locator("details.item:has(.address:text-is('pools.old'))");
    expect(await card.locator("summary").textContent()).not.toContain("create the new object first");
    expect(await card.locator(".body").textContent()).toContain("create the new object first; id id-1");
  });

  test("the address of a change in the URL opens its card, also among equal changes and on a later page", async () => {
    const { page } = await open(each(teamView(400)));
    await page.evaluate("location.hash = 'groups.fraud-390'");
    await page.waitForSelector("details[open] >> text=groups.fraud-390");
    expect(await inFocus(page)).toBe("groups.fraud-390");
    const { page: folded } = await open(planHtml(teamView(165)));
    await folded.evaluate("location.hash = 'clusters.billing-1'");
    await folded.waitForSelector("details[open] li >> text=clusters.billing-1");
    expect(await inFocus(folded)).toMatch(/^\d+ clusters$/);
  });

  test("the address of one of several equal changes leads to its line below the filter bar, and marks it", async () => {
    const { page } = await open(planHtml(teamView(165)));
    const url = page.url();
    const marked = async () => {
      await page.waitForSelector("details[open] li >> text=clusters.billing-1");
      await page.waitForTimeout(200);
      return page.evaluate<boolean>(`(line => getComputedStyle(line).outlineStyle === "solid" &&
        line.getBoundingClientRect().top > document.querySelector(".tools").getBoundingClientRect().bottom)(
        document.getElementById("clusters.billing-1"))`);
    };
    await page.goto("about:blank");
    await page.goto(`${url}#clusters.billing-1`);
    expect(await marked()).toBe(true);
    await page.goto("about:blank");
    await page.goto(url);
    await page.evaluate(
      `document.body.insertAdjacentHTML("beforeend", '<a id="link" href="#clusters.billing-1">one</a>')`,
    );
    await page.click("#link");
    expect(await marked()).toBe(true);
  });

  test("the summary of drift names what was deleted, and its links open the cards", async () => {
    const [drifted] = fullPlan.drift;
    if (drifted === undefined) throw new Error("the plan has no drift");
    const gone = {
      ...drifted,
      address: addressOf("pools", "gone"),
      name: "gone",
      what: "deleted",
      diffs: [],
    };
    const view = driftView({ ...fullPlan, drift: [drifted, gone] as typeof fullPlan.drift }, 1, registry);
    const { page } = await open(driftHtml(view));
    expect(await page.locator(".glance .delete dt").textContent()).toBe("Deleted");
    const link = page.locator(".glance .delete a").first();
    const address = await link.textContent();
    await link.click();
    expect(await inFocus(page)).toBe(address);
  });

  test("the filter is in the URL, so that a link shows the same changes", async () => {
    const { page } = await open(plan);
    await page.check('input[value="delete"]');
    await page.check('input[value="replace"]');
    await page.fill("#search", "old");
    expect(await page.evaluate("location.hash")).toBe("#?search=old&action=replace%2Cdelete");
    await page.reload();
    expect(await visible(page)).toEqual(["pools.old"]);
    await page.click("#reset");
    expect(await page.evaluate("location.hash")).toBe("");
  });

  test("while a search is active, the filter bar and the first result are on the first screen, and the summary returns afterwards", async () => {
    const view = teamView(3_552, true);
    const { page } = await open(planHtml({ ...view, notes: notesOf(4) }), {
      viewport: { width: 1280, height: 800 },
    });
    const bottomOf = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => element.getBoundingClientRect().bottom);
    expect(await bottomOf(".tools")).toBeLessThanOrEqual(800);
    await page.fill("#search", "fraud");
    expect(await page.evaluate("scrollY")).toBe(0);
    expect(await bottomOf(".tools")).toBeLessThanOrEqual(400);
    expect(await bottomOf("details.item")).toBeLessThanOrEqual(800);
    await page.click("#reset");
    expect(await page.locator(".glance:visible, .findings:visible").count()).toBe(2);
  });

  test("a line of the summary shows its changes", async () => {
    const { page } = await open(planHtml(teamView(165)));
    await page.click(".glance .delete >> text=show");
    expect(await page.textContent("#count")).toBe("5 of 170 shown");
    expect(await page.locator("details.item:visible .verb").allTextContents()).toEqual(
      Array.from({ length: 5 }, () => "DELETE"),
    );
  });

  test("the sign that opens a card is on the first line, also of a card whose line is long", async () => {
    const { page } = await open(planHtml(teamView(165)));
    const heights = await page.evaluate<number[]>(
      "[...document.querySelectorAll(`details.item:not([open]) summary`)].map((one) => one.lastElementChild.offsetTop + one.lastElementChild.offsetHeight - one.clientHeight)",
    );
    expect(heights.length).toBeGreaterThan(50);
    expect(Math.max(...heights)).toBeLessThan(0);
    expect(Math.min(...heights)).toBeGreaterThan(-16);
  });

  test("a card has buttons that copy its address and a link to it", async () => {
    const { page } = await open(plan, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.locator("details.item .address", { hasText: /^pools\.etl$/ }).click();
    await page.locator("details.item[open]:has-text('pools.etl') >> text=Copy address").last().click();
    await page.waitForSelector("text=Copied");
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("pools.etl");
  });

  test("keys move between the shown changes, open them, and search", async () => {
    const { page } = await open(plan);
    await page.keyboard.press("j");
    expect(await inFocus(page)).toBe("pools.gone");
    await page.keyboard.press("j");
    await page.keyboard.press("ArrowDown");
    expect(await inFocus(page)).toBe("secrets.etl/password");
    expect(await page.locator("details[open] .address", { hasText: "secrets.etl/password" }).count()).toBe(0);
    await page.keyboard.press("Enter");
    expect(await page.locator("details[open] .address", { hasText: "secrets.etl/password" }).count()).toBe(1);
    await page.keyboard.press("k");
    expect(await inFocus(page)).toBe("pools.old");
    await page.keyboard.press("/");
    await page.keyboard.type("etl");
    await page.check('input[value="create"]');
    await page.focus("#search");
    await page.keyboard.press("Enter");
    expect(await inFocus(page)).toBe("secrets.etl/password");
    await page.keyboard.press("j");
    expect(await inFocus(page)).toBe("pools.etl");
    await page.keyboard.press("/");
    await page.keyboard.press("Escape");
    expect(await page.textContent("#count")).toBe("10 shown");
  });

  test("keys search and move also when a button or a filter is in focus", async () => {
    const { page } = await open(plan);
    for (const control of ["#theme", "#reset", 'input[value="delete"]']) {
      await page.focus(control);
      await page.keyboard.press("/");
      expect(await page.evaluate("document.activeElement.id")).toBe("search");
      await page.focus(control);
      await page.keyboard.press("j");
      expect(await inFocus(page)).toBe("pools.gone");
    }
  });

  test("a node of the graph leads to its change, also when the filter hides it", async () => {
    const { page } = await open(plan);
    expect(await page.locator(".graph rect").count()).toBe(4);
    expect(await page.locator(".graph svg > path").count()).toBe(4);
    await page.selectOption("#kind", "secrets");
    await page.locator(".graph a", { hasText: "pools.etl" }).click();
    expect(await inFocus(page)).toBe("pools.etl");
    expect(await page.locator("details[open] .address", { hasText: /^pools\.etl$/ }).count()).toBe(1);
  });

  test("the button changes the colors, and the choice is kept", async () => {
    const { page } = await open(plan);
    const paper = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
    const light = await paper();
    await page.click("text=Dark mode");
    const dark = await paper();
    expect(dark).not.toBe(light);
    await page.reload();
    expect(await paper()).toBe(dark);
    await page.click("text=Light mode");
    expect(await paper()).toBe(light);
  });

  test("paper shows every change opened, in light colors, without the controls, and the screen is as before afterwards", async () => {
    const { page } = await open(plan, { colorScheme: "dark" });
    const expanded = () => page.locator("details[open]").count();
    const before = await expanded();
    await page.evaluate("dispatchEvent(new Event(`beforeprint`))");
    await page.emulateMedia({ media: "print" });
    expect(await expanded()).toBe(await page.locator("details:not(.warning)").count());
    const controls = ".tools:visible, .keys:visible, button:visible, .glance [data-control]:visible";
    expect(await page.locator(controls).count()).toBe(0);
    expect(await page.evaluate("getComputedStyle(document.documentElement).colorScheme")).toBe("light");
    await page.evaluate("dispatchEvent(new Event(`afterprint`))");
    expect(await expanded()).toBe(before);
  });

  test("paper has a line for equal warnings, and errors whole", async () => {
    const equal = (severity: typeof warning, code: "SPEC_SECRET_UNSET" | "PLAN_UNREADABLE") =>
      Array.from({ length: 16 }, (_, at) => severity(code, `number ${at}`));
    const diagnostics = [...equal(warning, "SPEC_SECRET_UNSET"), ...equal(error, "PLAN_UNREADABLE")];
    const { page } = await open(planHtml(viewOf(planOf([], { diagnostics }))));
    await page.evaluate("dispatchEvent(new Event(`beforeprint`))");
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("details.warning .note:visible").count()).toBe(0);
    expect(await page.locator("details.error .note:visible").count()).toBe(16);
  });

  test("without JavaScript every change exists and opens, and controls without function are hidden", async () => {
    const { page, problems } = await open(plan, { javaScriptEnabled: false });
    expect(await visible(page)).toHaveLength(10);
    expect(await page.locator("button:visible, input:visible, .keys:visible").count()).toBe(0);
    await page.locator("details.item .address", { hasText: /^pools\.notebook$/ }).click();
    expect(await page.locator(".sides:visible").count()).toBe(1);
    expect(problems).toEqual([]);
  });

  test("names that are markup stay text: they add no element, and their scripts do not run", async () => {
    const hostile = [
      "</summary></details><script>console.log(1)</script>",
      '"><img src=x onerror=console.log(1)>',
      "</title></svg><script>console.log(1)</script>",
      "</style><style>*{display:none}</style>",
      "<svg onload=console.log(1)>",
      "&lt;b&gt;",
    ];
    const elements = async (names: readonly string[]) => {
      const needs = [addressOf("pools", "base")];
      const changes = ["base", ...names].map(
        (name, at) =>
          ({
            ...create,
            address: addressOf("pools", name),
            name,
            dependsOn: at === 0 ? [] : needs,
          }) as Change,
      );
      const { page, problems } = await open(each(viewOf(planOf(changes))));
      expect(problems).toEqual([]);
      expect(await visible(page)).toEqual(["base", ...names].map((name) => `pools.${name}`));
      return page.evaluate<number>("document.querySelectorAll(`*`).length");
    };
    expect(await elements(hostile)).toBe(await elements(hostile.map((_, at) => `harmless-${at}`)));
  });
});
