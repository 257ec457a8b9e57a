// The cost of the changes of a plan from a list of prices, and their cores and memory from the list of node types. Pure.
// What is not in the list is named, never guessed.

import type { Address } from "../../core/address.ts";
import { stringifyJson } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { withoutDigests } from "../../core/sensitive/digests.ts";
import { SENSITIVE_TEXT } from "../../core/sensitive/texts.ts";
import type { ComputePart, MachineSize } from "../../resource/compute.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import { maskedValues } from "../../resource/masked.ts";
import type { Change } from "./change.ts";
import { markedResult, withReferenceTexts } from "./planned-workspace.ts";

export interface Price {
  readonly per_hour: number;
  /** Units that the service bills in addition, at the rate of the kind of compute. */
  readonly dbu_per_hour?: number;
}

export interface Prices {
  readonly currency: string;
  readonly node_types: Readonly<Record<string, Price>>;
  readonly warehouse_sizes: Readonly<Record<string, Price>>;
  readonly dbu_rates: Readonly<Record<string, number>>;
}

/** What a resource or a plan costs, before or after: an amount of money per hour, of cores, or of memory. */
export interface CostSide {
  /** While it runs; undefined if a part is unknown. */
  readonly range: CostRange | undefined;
  /** The part of it that costs at any time. */
  readonly always: number;
  readonly runsPerMonth: number;
  readonly unknown: readonly string[];
}

interface CostRange {
  readonly min: number;
  readonly max: number;
}

export interface ChangeCost {
  readonly address: Address;
  /** Absent: the object does not exist. */
  readonly before?: CostSide;
  readonly after?: CostSide;
  /** The machines and the schedule stay, so that the cost does, whatever the prices are. */
  readonly isUnchanged?: true;
}

/** Amounts of one unit. */
export interface Amounts {
  /** Of the resources that change, and that cost something. */
  readonly changes: readonly ChangeCost[];
  /** Of all these together. */
  readonly before: CostSide;
  readonly after: CostSide;
  /** Of the resources that do not change: for rules about the whole workspace. */
  readonly unchanged: readonly ChangeCost[];
}

export interface PlanCost extends Amounts {
  readonly currency: string;
}

export interface PlanCapacity {
  readonly cores: Amounts;
  /** In GB of 1,024 MB. */
  readonly memory: Amounts;
}

/** The amount of one machine, or of one cluster of a warehouse; a string names what is unknown. */
type Measure = (part: ComputePart, name: string) => number | string;

const NOTHING: CostSide = { range: { min: 0, max: 0 }, always: 0, runsPerMonth: 0, unknown: [] };

export function planCost(changes: readonly Change[], registry: PlanningRegistry, prices: Prices): PlanCost {
  const { currency } = prices;
  return { currency, ...amountsOf(changes, registry, (part, name) => priceOf(part, name, prices)) };
}

export function planCapacity(
  changes: readonly Change[],
  registry: PlanningRegistry,
  sizes: ReadonlyMap<string, MachineSize>,
): PlanCapacity {
  const amounts = (amount: (size: MachineSize) => number): Amounts =>
    amountsOf(changes, registry, ({ item }, name) => {
      if ("list" in item && item.list === "warehouse_sizes") return `warehouses of the size ${name}`;
      const size = sizes.get(name);
      return size === undefined ? name : amount(size);
    });
  return { cores: amounts(({ cores }) => cores), memory: amounts(({ memoryMb }) => memoryMb / 1024) };
}

function amountsOf(changes: readonly Change[], registry: PlanningRegistry, measure: Measure): Amounts {
  const sides = changes.flatMap((change) => {
    const provider = registry.get(change.kind);
    return provider.planning.machines === undefined
      ? []
      : [{ change, provider, ...valuesOf(change, provider) }];
  });
  const pools = { before: new Map<string, Json>(), after: new Map<string, Json>() };
  for (const { change, provider, before, after } of sides) {
    const reference = `\${${change.address}.${provider.idAttribute}}`;
    const keys = "id" in change ? [reference, change.id] : [reference];
    for (const key of keys) {
      const [was, will] = [before?.node_type_id, after?.node_type_id];
      if (was !== undefined) pools.before.set(key, was);
      if (will !== undefined) pools.after.set(key, will);
    }
  }
  const costsOf = (these: typeof sides): readonly ChangeCost[] =>
    these.flatMap(({ change, provider, before, after }) => {
      const [was, will] = [
        before && machinesOf(before, provider, pools.before),
        after && machinesOf(after, provider, pools.after),
      ];
      const cost: ChangeCost = {
        address: change.address,
        before: was && costOf(was, measure),
        after: will && costOf(will, measure),
        ...(areEqual(was, will) ? { isUnchanged: true } : {}),
      };
      return hasCost(cost.before) || hasCost(cost.after) ? [cost] : [];
    });
  const { changed = [], unchanged = [] } = Object.groupBy(sides, ({ change: { action } }) =>
    action === "noop" ? "unchanged" : action === "report" || action === "forget" ? "unmanaged" : "changed",
  );
  const costs = costsOf(changed);
  return {
    changes: costs,
    unchanged: costsOf(unchanged),
    before: sumOf(costs.map(({ before }) => before)),
    after: sumOf(costs.map(({ after }) => after)),
  };
}

function hasCost(side: CostSide | undefined): boolean {
  return side !== undefined && (side.range === undefined || side.range.max > 0);
}

/** In place of a sensitive value is `(sensitive)`, which has no price. */
function valuesOf(
  change: Change,
  { fields }: PlannedKind,
): { readonly before: Values | undefined; readonly after: Values | undefined } {
  const reached = markedResult(change, fields);
  return {
    before: "before" in change ? withoutDigests(maskedValues(fields, change.before)) : undefined,
    after:
      reached === undefined
        ? undefined
        : (withReferenceTexts(withoutDigests(maskedValues(fields, reached))) as Values),
  };
}

/** What a resource runs on, with the machine types of its pools. */
interface Machines {
  readonly parts: readonly (ComputePart & { readonly name: Json | undefined })[];
  readonly isAlwaysOn: boolean;
  readonly runsPerMonth: number;
}

function machinesOf(values: Values, { planning }: PlannedKind, pools: ReadonlyMap<string, Json>): Machines {
  const { parts = [], isAlwaysOn = false, runsPerMonth = 0 } = planning.machines?.(values) ?? {};
  const named = parts.map((part) => {
    const { item } = part;
    return { ...part, name: "pool" in item ? pools.get(String(item.pool)) : item.name };
  });
  return { parts: named, isAlwaysOn, runsPerMonth };
}

/** Two sensitive values may differ. */
function areEqual(was: Machines | undefined, will: Machines | undefined): boolean {
  if (was === undefined || will === undefined) return false;
  const [before, after] = [was, will].map((machines) => stringifyJson(machines));
  return before === after && before?.includes(SENSITIVE_TEXT) === false;
}

function costOf({ parts, isAlwaysOn, runsPerMonth }: Machines, measure: Measure): CostSide {
  const unknown: string[] = [];
  let [min, max] = [0, 0];
  for (const part of parts) {
    const [least, most] = [part.least, part.most].map(numberOf);
    if (least === undefined || most === undefined) {
      unknown.push("the number of machines");
      continue;
    }
    if (most === 0) continue;
    const { item, name } = part;
    const amount =
      typeof name === "string"
        ? measure(part, name)
        : `the machine type${"pool" in item ? " of its pool" : ""}`;
    if (typeof amount === "string") unknown.push(amount);
    else {
      min += least * amount;
      max += most * amount;
    }
  }
  const isKnown = unknown.length === 0;
  return {
    range: isKnown ? { min: rounded(min), max: rounded(max) } : undefined,
    always: isKnown && isAlwaysOn ? rounded(min) : 0,
    runsPerMonth,
    unknown: [...new Set(unknown)],
  };
}

/** Without the noise of binary fractions. */
const rounded = (amount: number): number => Math.round(amount * 1e6) / 1e6;

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}

/** The price of one machine per hour; a string names the unknown part. */
function priceOf({ item, kind }: ComputePart, name: string, prices: Prices): number | string {
  const list = prices["pool" in item ? "node_types" : item.list];
  const price = Object.hasOwn(list, name) ? list[name] : undefined;
  if (price === undefined) return `the price of ${name}`;
  const rate =
    kind === undefined || !Object.hasOwn(prices.dbu_rates, kind) ? undefined : prices.dbu_rates[kind];
  if (rate === undefined) return price.per_hour;
  return price.dbu_per_hour === undefined ? `the DBU of ${name}` : price.per_hour + rate * price.dbu_per_hour;
}

/** Unknown parts are left out of a sum and named. */
function sumOf(sides: readonly (CostSide | undefined)[]): CostSide {
  return sides.reduce<CostSide>(
    (sum, side = NOTHING) => ({
      range: {
        min: (sum.range?.min ?? 0) + (side.range?.min ?? 0),
        max: (sum.range?.max ?? 0) + (side.range?.max ?? 0),
      },
      always: sum.always + side.always,
      runsPerMonth: sum.runsPerMonth + side.runsPerMonth,
      unknown: [...new Set([...sum.unknown, ...side.unknown])],
    }),
    NOTHING,
  );
}
