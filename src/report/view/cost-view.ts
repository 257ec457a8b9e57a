// The cost of a plan, and its cores and memory, as sentences and as JSON.

import { type Address, kindOf } from "../../core/address.ts";
import { count, grouped, listed } from "../../core/sentences.ts";
import type { Plan } from "../../planner/model/plan.ts";
import type { Amounts, ChangeCost, CostSide } from "../../planner/model/plan-cost.ts";
import { kindCounts } from "./change-groups.ts";

type Costs = Pick<Plan, "cost" | "capacity">;

/** Amounts, and how they read: `+2.10 USD per hour`, `+16 cores`. */
interface Measured {
  readonly amounts: Amounts;
  readonly digits: number;
  /** After an amount that stands alone, and after one that repeats it. */
  readonly unit: string;
  readonly short: string;
}

/** Prices say more than cores and memory. */
function measuredIn({ cost, capacity }: Costs): readonly Measured[] {
  if (cost !== undefined)
    return [{ amounts: cost, digits: 2, unit: ` ${cost.currency} per hour`, short: "" }];
  if (capacity === undefined) return [];
  return [
    { amounts: capacity.cores, digits: 0, unit: " cores", short: " cores" },
    { amounts: capacity.memory, digits: 0, unit: " GB", short: " GB" },
  ];
}

/** By address: `+2.10 to +8.40 USD per hour while running (4.20 to 16.80 before)`, or `+16 cores, +64 GB while running (8 cores, 32 GB before)`. A change without an entry costs the same as before. */
export function costSentences(costs: Costs): ReadonlyMap<Address, string> {
  const measured = measuredIn(costs);
  const [first] = measured;
  if (first === undefined) return new Map();
  const others = measured
    .slice(1)
    .map(({ amounts }) => new Map(amounts.changes.map((change) => [change.address, change])));
  const source = costs.cost === undefined ? "the list of node types does" : "the prices do";
  return new Map(
    first.amounts.changes.flatMap((change) => {
      if (change.isUnchanged) return [];
      const rest = others.map((byAddress) => byAddress.get(change.address) ?? { address: change.address });
      const sentence = costSentence([change, ...rest], measured, source);
      return sentence === undefined ? [] : [[change.address, sentence] as const];
    }),
  );
}

function costSentence(
  sides: readonly ChangeCost[],
  measured: readonly Measured[],
  source: string,
): string | undefined {
  const unknown = [
    ...new Set(sides.flatMap(({ before, after }) => [...(before?.unknown ?? []), ...(after?.unknown ?? [])])),
  ];
  if (unknown.length > 0) return `unknown, because ${source} not contain ${listed(unknown)}`;
  const differences = sides.map(({ before, after }, at) => {
    const { digits = 0, unit = "", short = "" } = measured[at] ?? {};
    return {
      ...{ digits, unit, short, was: before?.range ?? ZERO },
      change: differenceOf(before?.range, after?.range),
      always: (after?.always ?? 0) - (before?.always ?? 0),
    };
  });
  const [{ before, after } = {}] = sides;
  const runs = after?.runsPerMonth ?? 0;
  const hasOtherRuns = runs !== (before?.runsPerMonth ?? 0);
  const amounts = amountsText(differences);
  if (amounts === undefined && !hasOtherRuns) return undefined;
  const beforeParts = differences.map(({ was, digits, short }) => `${plainRange(was, digits)}${short}`);
  const wasNothing = differences.every(({ was, digits }) => isZero(was.max, digits));
  return [
    amounts ?? "no change while running",
    ...(before === undefined || wasNothing ? [] : [` (${beforeParts.join(", ")} before)`]),
    ...(runs > 0 ? [`; ${count(Math.round(runs), "run")} per month`] : []),
  ].join("");
}

interface Difference extends Pick<Measured, "digits" | "unit" | "short"> {
  readonly change: typeof ZERO;
  readonly always: number;
}

/** `+2.10 to +8.40 USD per hour while running, +0.60 of it always`; undefined if nothing changes. */
function amountsText(differences: readonly Difference[]): string | undefined {
  const every = (test: (difference: Difference) => boolean): boolean => differences.every(test);
  const hasNoAlways = every(({ always, digits }) => isZero(always, digits));
  const isSame = every(({ change: { min, max }, digits }) => isZero(min, digits) && isZero(max, digits));
  if (isSame && hasNoAlways) return undefined;
  const isAlways = every(
    ({ always, change: { min, max }, digits }) =>
      isZero(always - min, digits) && isZero(always - max, digits),
  );
  const amounts = differences
    .filter(({ change: { min, max }, digits }) => !isZero(min, digits) || !isZero(max, digits))
    .map(({ change, digits, unit }) => `${signedRange(change.min, change.max, digits)}${unit}`);
  if (isAlways) return `${amounts.join(", ")}, always`;
  const alwaysParts = differences
    .filter(({ always, digits }) => !isZero(always, digits))
    .map(({ always, digits, short, unit }) => `${signed(always, digits)}${isSame ? unit : short}`);
  const start = `${isSame ? "no change" : amounts.join(", ")} while running`;
  return hasNoAlways ? start : `${start}, ${alwaysParts.join(", ")} ${isSame ? "" : "of it "}always`;
}

const differenceOf = (before = ZERO, after = ZERO): typeof ZERO => ({
  min: after.min - before.min,
  max: after.max - before.max,
});

const ZERO = { min: 0, max: 0 };

/** So many resources without a known cost are named. */
const MOST_NAMED = 5;

/** `+5.70 to +12.90 USD per hour while running, +0.60 of it always; 760 scheduled runs per month.` The words of `costSentences`. */
export function totalCostText(costs: Costs): string | undefined {
  const measured = measuredIn(costs);
  const [first] = measured;
  if (first === undefined || first.amounts.changes.length === 0) return undefined;
  const amounts = amountsText(
    measured.map(({ amounts: { before, after }, digits, unit, short }) => ({
      ...{ digits, unit, short },
      change: differenceOf(before.range, after.range),
      always: after.always - before.always,
    })),
  );
  const changes = first.amounts.changes.filter(({ isUnchanged }) => isUnchanged !== true);
  const runs = changes.reduce((sum, { after }) => sum + (after?.runsPerMonth ?? 0), 0);
  const unmeasured = changes.filter(
    (change) => (change.before?.unknown.length ?? 0) + (change.after?.unknown.length ?? 0) > 0,
  );
  const names = unmeasured.map(({ address }) => address);
  const hasOtherRuns = changes.some(
    ({ before, after }) => (before?.runsPerMonth ?? 0) !== (after?.runsPerMonth ?? 0),
  );
  if (amounts === undefined && !hasOtherRuns && names.length === 0) return undefined;
  const parts = [
    ...(amounts === undefined ? [] : [amounts]),
    ...(runs > 0 ? [`${grouped(Math.round(runs))} scheduled runs per month`] : []),
    ...(names.length === 0
      ? []
      : [
          `unknown for ${names.length > MOST_NAMED ? kindCounts(names.map((address) => ({ kind: kindOf(address) }))) : listed(names)}`,
        ]),
  ];
  return parts.length === 0 ? undefined : `${parts.join("; ")}.`;
}

function signedRange(min: number, max: number, digits: number): string {
  if (isZero(min, digits) !== isZero(max, digits))
    return `up to ${signed(isZero(min, digits) ? max : min, digits)}`;
  return amountText(min, digits) === amountText(max, digits)
    ? signed(min, digits)
    : `${signed(min, digits)} to ${signed(max, digits)}`;
}

function plainRange({ min, max }: typeof ZERO, digits: number): string {
  const [least, most] = [amountText(min, digits), amountText(max, digits)];
  return least === most ? least : `${least} to ${most}`;
}

function signed(amount: number, digits: number): string {
  const text = amountText(amount, digits);
  return text.startsWith("-") ? text : `+${text}`;
}

/** Of cores and memory, a fraction is shown only if there is one. */
function amountText(amount: number, digits: number): string {
  if (isZero(amount, digits)) return (0).toFixed(digits);
  if (digits === 0) return Number(amount.toFixed(1)).toLocaleString("en-US");
  return amount.toFixed(digits).replaceAll(/\B(?=(?:\d{3})+\.)/g, ",");
}

/** Less than half of the last digit that is shown. */
const isZero = (amount: number, digits: number): boolean => Math.abs(amount) < (digits === 0 ? 0.05 : 0.005);

type SideJson = Readonly<Record<string, number | null | readonly string[]>>;

interface SidesJson {
  readonly before: SideJson | null;
  readonly after: SideJson | null;
  /** After minus before; null where one of them is unknown. */
  readonly change: Readonly<Record<string, number | null>>;
}

/** The costs or capacities of a plan: of all changes, and by address. */
interface AmountsJson {
  readonly total: SidesJson;
  readonly byAddress: ReadonlyMap<string, SidesJson>;
}

export function costAmounts({ cost }: Costs): AmountsJson | undefined {
  if (cost === undefined) return undefined;
  const json = (side: CostSide | undefined) => (side ? costJson(side) : null);
  return {
    total: sidesJson(json(cost.before), json(cost.after)),
    byAddress: new Map(
      cost.changes.map(({ address, before, after }) => [address, sidesJson(json(before), json(after))]),
    ),
  };
}

function sidesJson(before: SideJson | null, after: SideJson | null): SidesJson {
  const names = Object.keys(after ?? before ?? {}).filter((name) => name !== "unknown");
  const change = names.map((name) => {
    const [was, will] = [before, after].map((side) => (side === null ? 0 : side[name]));
    return [name, typeof was === "number" && typeof will === "number" ? rounded(will - was) : null];
  });
  return { before, after, change: Object.fromEntries(change) };
}

/** The member of a document. `more`: other members of it, such as the currency. */
export function amountsJson(amounts: AmountsJson | undefined, more: Readonly<Record<string, string>> = {}) {
  if (amounts === undefined) return undefined;
  const changes = [...amounts.byAddress].map(([address, sides]) => ({ address, ...sides }));
  return { ...more, ...amounts.total, changes };
}

function costJson({ range, always, runsPerMonth, unknown }: CostSide): SideJson {
  return {
    min_per_hour: range === undefined ? null : rounded(range.min),
    max_per_hour: range === undefined ? null : rounded(range.max),
    always_per_hour: rounded(always),
    runs_per_month: rounded(runsPerMonth),
    unknown,
  };
}

export function capacityAmounts({ capacity }: Costs): AmountsJson | undefined {
  if (capacity === undefined) return undefined;
  const { cores, memory } = capacity;
  const memoryOf = new Map(memory.changes.map((change) => [change.address, change]));
  const json = (coresSide: CostSide | undefined, memorySide: CostSide | undefined) =>
    coresSide ? capacityJson(coresSide, memorySide) : null;
  return {
    total: sidesJson(json(cores.before, memory.before), json(cores.after, memory.after)),
    byAddress: new Map(
      cores.changes.map(({ address, before, after }) => {
        const other = memoryOf.get(address);
        return [address, sidesJson(json(before, other?.before), json(after, other?.after))];
      }),
    ),
  };
}

function capacityJson(cores: CostSide, memory: CostSide | undefined): SideJson {
  const amount = (value: number | undefined): number | null => (value === undefined ? null : rounded(value));
  return {
    min_cores: amount(cores.range?.min),
    max_cores: amount(cores.range?.max),
    always_cores: rounded(cores.always),
    min_memory_gb: amount(memory?.range?.min),
    max_memory_gb: amount(memory?.range?.max),
    always_memory_gb: rounded(memory?.always ?? 0),
    runs_per_month: rounded(cores.runsPerMonth),
    unknown: cores.unknown,
  };
}

/** Without the noise of binary fractions. */
const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000;
