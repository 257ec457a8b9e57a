// A comment has at most two screens, whatever a plan or drift contains.

import fc from "fast-check";
import { expect, test } from "vitest";
import { addressOf } from "../../../src/core/address.ts";
import { CODES } from "../../../src/core/codes.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import { type Change, changeKey } from "../../../src/planner/model/change.ts";
import type { AccessRight, ApplyOutcome, Plan } from "../../../src/planner/model/plan.ts";
import { registry } from "../../../src/providers/index.ts";
import { driftMarkdown } from "../../../src/report/format/drift-markdown.ts";
import { outcomeMarkdown } from "../../../src/report/format/outcome-markdown.ts";
import { planMarkdown } from "../../../src/report/format/plan-markdown.ts";
import { pixelsOf } from "../../../src/report/text/comment-room.ts";
import { driftView } from "../../../src/report/view/drift-view.ts";
import { outcomeView } from "../../../src/report/view/outcome-view.ts";
import { planView } from "../../../src/report/view/plan-view.ts";
import { sampleOf } from "../../sample-size.ts";
import { COMMENT_WIDTH, commentPage } from "../comment-page.ts";
import { describeInChromium } from "../html/describe-in-chromium.ts";
import { teamDrift, teamPlan, teamView } from "../html/team-plan.ts";
import { INFO } from "../plans.ts";

const SCREENS = 1_600;

const word = fc.string({ minLength: 1, maxLength: 12 });
const longText = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(" "));
const codes = Object.keys(CODES) as (keyof typeof CODES)[];

/** A plan with the changes of a team, in which names, values, side effects, and findings can be long. */
const plans = fc
  .record({
    size: fc.integer({ min: 0, max: 400 }),
    long: fc.array(longText, { minLength: 3, maxLength: 3 }),
    findings: fc.array(fc.tuple(fc.constantFrom(...codes), longText, fc.boolean()), { maxLength: 30 }),
    renames: fc.integer({ min: 0, max: 30 }),
    rights: fc.integer({ min: 0, max: 60 }),
    every: fc.integer({ min: 1, max: 5 }),
    costTotal: fc.option(longText, { nil: undefined }),
  })
  .map(({ size, long, findings, renames, rights, every, costTotal }) => {
    const [name = "", sentence = "", value = ""] = long;
    const base = teamPlan(size, size % 2 === 0);
    const changes = base.changes.map((change, at): Change => {
      if (at % every > 0) return change;
      const address = addressOf(change.kind, `${name}${at}`);
      const consequences = [`${sentence}${at % 7}`, ...change.consequences];
      const diffs = {
        diffs: [{ path: ["tags"], before: value, after: `${value}${at}`, cause: "spec", replaces: false }],
      };
      return {
        ...change,
        address,
        name: `${name}${at}`,
        consequences,
        ...("diffs" in change ? diffs : {}),
      } as Change;
    });
    const gained = Array.from(
      { length: rights },
      (_, at): AccessRight =>
        ({
          ...{
            principal: `${name}${at}`,
            principalKind: at % 3 === 0 ? "user" : "group",
            people: at,
            kind: "scopes",
          },
          ...{ object: `${value}${at % 9}`, level: "MANAGE", instead: "READ", through: [] },
        }) as AccessRight,
    );
    const plan: Plan = {
      ...base,
      changes,
      access: { gained, lost: gained.slice(0, 3), notCompared: rights > 5 ? [sentence, name] : [] },
      renames: {
        pairs: Array.from({ length: renames }, (_, at) => ({
          from: addressOf("pools", `${name}${at}`),
          to: addressOf("pools", `b${at}`),
        })),
      } as unknown as NonNullable<Plan["renames"]>,
      diagnostics: findings.map(([code, message, isError]) =>
        (isError ? error : warning)(code as "PLAN_RULE", message, { hint: sentence, cause: value }),
      ),
    };
    return { plan, view: { ...planView(plan, registry), costTotal } };
  });

test("law: the estimated height of a comment with everything closed is at most two screens", () => {
  fc.assert(
    fc.property(plans, ({ view, plan }) => {
      expect(pixelsOf(planMarkdown(view, INFO).text)).toBeLessThanOrEqual(SCREENS);
      const drift = driftView(plan, 1, registry);
      expect(pixelsOf(driftMarkdown(drift, INFO).text)).toBeLessThanOrEqual(SCREENS);
    }),
    { numRuns: sampleOf(60), seed: 28 },
  );
}, 120_000);

const RESULTS = ["applied", "failed", "unknown", "blocked", "skipped"] as const;

/** An apply of the plan, whose changes end in every way. `alike`: so many changes have one cause. */
function outcomeOf({ changes, diagnostics }: Plan, sentence: string, alike: number): ApplyOutcome {
  return {
    changes: changes.map(({ address, kind, action }, at) => {
      const result = RESULTS[Math.floor(at / alike) % RESULTS.length] ?? "applied";
      const diagnostic = error("API_REFUSED", `${sentence} ${Math.floor(at / alike)}`, {
        ...{ address, cause: sentence, hint: sentence, at: { file: "workspace.yaml", line: 1, column: 1 } },
      });
      return { address, kind, action, result, elapsedMs: 5, ...(result === "applied" ? {} : { diagnostic }) };
    }),
    diagnostics,
    interrupted: false,
    elapsedMs: 200,
  } as unknown as ApplyOutcome;
}

test("law: the estimated height of the comment of an apply with everything closed is at most two screens", () => {
  fc.assert(
    fc.property(plans, longText, fc.constantFrom(1, 2, 7), ({ view, plan }, sentence, alike) => {
      const outcome = outcomeView(outcomeOf(plan, sentence, alike), plan.diagnostics, view);
      expect(pixelsOf(outcomeMarkdown(outcome, INFO).text)).toBeLessThanOrEqual(SCREENS);
    }),
    { numRuns: sampleOf(60), seed: 28 },
  );
}, 120_000);

test("the comment of an apply begins with what failed, then has what was destroyed, and counts the rest", () => {
  const plan = teamPlan(165, false);
  const { text } = outcomeMarkdown(outcomeView(outcomeOf(plan, "no", 1), [], planView(plan, registry)), INFO);
  const open = text.replaceAll(/<details>[\s\S]*?<\/details>/g, "");
  const at = (pattern: RegExp): number => open.search(pattern);
  expect(at(/^- \*\*failed\*\* /m)).toBeGreaterThan(0);
  expect(at(/^- \*\*(Destroyed|Access)\*\*: /m)).toBeGreaterThan(at(/^- \*\*failed\*\* /m));
  expect(open).toMatch(/^- \*\*failed\*\* \d+ more: .* and \d+ more\)$/m);
  for (const { address } of plan.changes) expect(text).toContain(address);
});

test.each([165, 3_552])(
  "of %i changes, every kind with a destroy or an access change, and secrets without values, are open",
  (size) => {
    const view = teamView(size, true);
    const open = planMarkdown(view, INFO).text.replaceAll(/<details>[\s\S]*?<\/details>/g, "");
    const serious = view.touching.filter((change) => change.severity === "security" || change.destroys);
    for (const { verb, kind } of serious)
      expect(open).toMatch(new RegExp(`^- \\*\\*${verb}\\*\\* .*\\b${kind.replace(/s$/, "")}`, "m"));
    expect(open).toMatch(/^> \*\*[\d,]+ warnings\*\* `SPEC_SECRET_UNSET` /m);
  },
);

test("of many principals whose rights change, those without a line are counted with their rights in the open part", () => {
  const gained = Array.from({ length: 40 }, (_, at) => {
    const [team, scope] = [`team-${String(Math.floor(at / 2)).padStart(2, "0")}`, `s${at}`];
    return {
      principal: team,
      principalKind: "group",
      kind: "scopes",
      object: scope,
      level: "READ",
      through: [],
    };
  }) as unknown as readonly AccessRight[];
  const plan: Plan = { ...teamPlan(8, true), access: { gained, lost: [], notCompared: [] } };
  const open = planMarkdown(planView(plan, registry), INFO).text.replaceAll(
    /<details>[\s\S]*?<\/details>/g,
    "",
  );
  const gains = open.split("\n").filter((line) => line.startsWith("- **gains**"));
  const own = gains.filter((line) => line.includes("READ on"));
  expect(gains.at(-1)).toMatch(/^- \*\*gains\*\* everyone in team-\d\d.*, and \d+ more: (\d+) rights$/);
  const counted = /: (\d+) rights$/.exec(gains.at(-1) ?? "")?.[1];
  expect(own.length * 2 + Number(counted)).toBe(40);
});

test("of a change with many differences, those of security are open, and the rest is counted", () => {
  const base = teamPlan(165, true);
  const pools = base.changes
    .filter(({ kind, action }) => kind === "pools" && action === "update")
    .slice(0, 8);
  const tags = Array.from({ length: 9 }, (_, at) => ({
    path: ["custom_tags", `t${at}`],
    before: "a",
    after: "b",
  }));
  const right = { path: ["access", "eng"], before: undefined, after: "CAN_MANAGE" };
  const diffs = [...tags, right].map((diff) => ({ ...diff, cause: "spec", replaces: false }));
  const plan = { ...base, changes: pools.map((change) => ({ ...change, diffs })) } as Plan;
  const open = planMarkdown(planView(plan, registry), INFO).text.replaceAll(
    /<details>[\s\S]*?<\/details>/g,
    "",
  );
  expect(pools.length).toBeGreaterThan(0);
  expect(open).toContain("access.eng: (none) → CAN_MANAGE");
  expect(open).toMatch(/… \d+ more lines/);
});

test("a destroy that is already pending is named in the open part", () => {
  const base = teamPlan(165, false);
  const changes = base.changes.filter(({ action }) => action === "delete").slice(0, 2);
  const origins = changes.map((change) => [changeKey(change), { origin: "pending", fields: [] }] as const);
  const split = { base: "main", changes: Object.fromEntries(origins), resolved: [], pendingErrors: [] };
  const { text } = planMarkdown(planView({ ...base, changes, split }, registry), INFO);
  expect(changes).toHaveLength(2);
  const open = text.replaceAll(/<details>[\s\S]*?<\/details>/g, "");
  for (const { address } of changes) expect(open).toContain(`\`${address}\``);
});

describeInChromium("a comment", (open) => {
  test.each([8, 165, 3_552])(
    "of %i changes has at most two screens, and as many pixels as estimated",
    async (size) => {
      for (const { text } of [
        planMarkdown(teamView(size, true), INFO),
        driftMarkdown(teamDrift(size), INFO),
      ]) {
        const { page } = await open(commentPage(text), { viewport: { width: COMMENT_WIDTH, height: 800 } });
        const height = await page.evaluate<number>("document.querySelector(`section`).clientHeight");
        expect(height).toBeLessThanOrEqual(SCREENS);
        expect(height).toBeLessThanOrEqual(pixelsOf(text) * 1.05 + 40);
      }
    },
  );
});
