// The cost of a plan as sentences and as JSON.

import { count, grouped, listed } from "../../core/sentences.ts";
import type { ChangeCost, CostSide, PlanCost } from "../../planner/model/plan-cost.ts";

type Sides = Pick<ChangeCost, "before" | "after">;

/** `+2.10 to +8.40 USD an hour while running (4.20 to 16.80 before)`; undefined if the cost stays the same. */
export function costSentence({ before, after }: Sides, currency: string): string | undefined {
  const unknown = [...new Set([...(before?.unknown ?? []), ...(after?.unknown ?? [])])];
  if (unknown.length > 0) return `unknown, because the prices do not contain ${listed(unknown)}`;
  const [was, will] = [before?.range ?? ZERO, after?.range ?? ZERO];
  const change = { min: will.min - was.min, max: will.max - was.max };
  const always = (after?.always ?? 0) - (before?.always ?? 0);
  const runs = after?.runsPerMonth ?? 0;
  const hasOtherRuns = runs !== (before?.runsPerMonth ?? 0);
  if (isZero(change.min) && isZero(change.max) && isZero(always) && !hasOtherRuns) return undefined;
  const isAlways = isZero(always - change.min) && isZero(always - change.max);
  const amount = signedRange(change.min, change.max);
  const parts = [
    `${amount} ${currency} an hour${isAlways ? ", always" : " while running"}`,
    ...(isAlways || isZero(always) ? [] : [`, ${signed(always)} of it always`]),
    ...(before === undefined || isZero(was.max) ? [] : [` (${plainRange(was.min, was.max)} before)`]),
    ...(runs > 0 ? [`; ${count(Math.round(runs), "run")} a month`] : []),
  ];
  return parts.join("");
}

const ZERO = { min: 0, max: 0 };

/** `Cost of these changes: +5.10 to +12.30 USD an hour while running; +0.60 USD an hour always; 760 runs a month.` */
export function totalCostSentence({ currency, changes, before, after }: PlanCost): string | undefined {
  if (changes.length === 0) return undefined;
  const [was, will] = [before.range ?? ZERO, after.range ?? ZERO];
  const running = signedRange(
    will.min - after.always - (was.min - before.always),
    will.max - after.always - (was.max - before.always),
  );
  const unpriced = changes.filter(
    (change) => (change.before?.unknown.length ?? 0) + (change.after?.unknown.length ?? 0) > 0,
  );
  const parts = [
    `${running} ${currency} an hour while running`,
    `${signed(after.always - before.always)} ${currency} an hour always`,
    ...(after.runsPerMonth > 0 ? [`${grouped(Math.round(after.runsPerMonth))} scheduled runs a month`] : []),
    ...(unpriced.length === 0
      ? []
      : [
          `unknown for ${listed(
            unpriced.map(({ address }) => address),
            "and",
            5,
          )}`,
        ]),
  ];
  return `Cost of these changes: ${parts.join("; ")}.`;
}

function signedRange(min: number, max: number): string {
  return amountText(min) === amountText(max) ? signed(min) : `${signed(min)} to ${signed(max)}`;
}

function plainRange(min: number, max: number): string {
  return amountText(min) === amountText(max) ? amountText(min) : `${amountText(min)} to ${amountText(max)}`;
}

function signed(amount: number): string {
  const text = amountText(amount);
  return text.startsWith("-") ? text : `+${text}`;
}

const amountText = (amount: number): string => (isZero(amount) ? "0.00" : amount.toFixed(2));

/** Less than half of the last digit that is shown. */
const isZero = (amount: number): boolean => Math.abs(amount) < 0.005;

export function planCostJson(cost: PlanCost | undefined) {
  if (cost === undefined) return undefined;
  const { currency, changes, before, after } = cost;
  return {
    currency,
    before: sideJson(before),
    after: sideJson(after),
    changes: changes.map((change) => ({
      address: change.address,
      before: change.before ? sideJson(change.before) : null,
      after: change.after ? sideJson(change.after) : null,
    })),
  };
}

function sideJson({ range, always, runsPerMonth, unknown }: CostSide) {
  return {
    min_per_hour: range === undefined ? null : rounded(range.min),
    max_per_hour: range === undefined ? null : rounded(range.max),
    always_per_hour: rounded(always),
    runs_per_month: rounded(runsPerMonth),
    unknown,
  };
}

/** Without the noise of binary fractions. */
const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000;
