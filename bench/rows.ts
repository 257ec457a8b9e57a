// The rows of each table: what was measured, what it is compared with, and the aim.

import type { ApplyFigures, Figure, MainFigures, SmallFigures } from "./measure.ts";
import { resourcesOf, type Sizes } from "./sizes.ts";
import { mib, ms, type Row } from "./table.ts";

export function described(sizes: Sizes): string {
  const { memberships, ...kinds } = sizes;
  const parts = Object.entries(kinds).flatMap(([kind, number]) =>
    number === 0 ? [] : [`${number} ${kind}`],
  );
  return `${resourcesOf(sizes).toLocaleString("en")} resources\n(${parts.join(", ")}; ${memberships} memberships)`;
}

export function smallRows(names: readonly string[], figures: SmallFigures): Row[] {
  const { bareRead, bareCreate, bareSame, least, programs } = figures;
  return names.flatMap((name, at): Row[] => {
    const { plan, apply } = programs[at] ?? {};
    if (plan === undefined || apply === undefined) return [];
    const aims = at === 0;
    return [
      requestsRow(`${name}: plan without changes, requests`, plan, least),
      {
        ...against(`${name}: plan without changes, time`, plan.ms, bareRead.ms, "bare loop"),
        ...(aims ? { aim: 1.5 } : {}),
      },
      against("  on processors", plan.cpuMs, bareRead.cpuMs, "bare loop"),
      against(`${name}: first apply, time`, apply.ms, bareCreate.ms, "bare client"),
      against("  against the same requests", apply.ms, bareSame.ms, "bare"),
      against("  on processors", apply.cpuMs, bareSame.cpuMs, "bare"),
      { what: "  peak memory of plan and apply", measured: `${mib(plan.peak)}, ${mib(apply.peak)}` },
    ];
  });
}

function requestsRow(what: string, plan: Figure, least: number): Row {
  if (plan.writes > 0) throw new Error(`a plan wrote ${plan.writes} times`);
  return {
    what,
    measured: `${plan.reads}`,
    against: `${least} least possible`,
    ratio: plan.reads / least,
    aim: 1,
  };
}

export function against(what: string, time: number, other: number, name: string): Row {
  return { what, measured: ms(time), against: `${ms(other)} ${name}`, ratio: time / other };
}

export function mainRows(figures: MainFigures): Row[] {
  const { apply, bareCreate, bareSame, plan, validate, bareRead } = figures;
  return [
    requestsRow("plan without changes, requests", plan, plan.least),
    { ...against("plan without changes, time", plan.ms, bareRead.ms, "bare loop"), aim: 1.5 },
    against("  on processors", plan.cpuMs, bareRead.cpuMs, "bare loop"),
    {
      what: `  reading and checking ${apply.lines} lines of spec alone (validate)`,
      measured: ms(validate.ms),
    },
    {
      what: "first apply, requests per resource",
      measured: (requests(apply) / apply.resources).toFixed(2),
      against: `${(bareCreate.writes / apply.resources).toFixed(2)} bare client`,
      ratio: requests(apply) / bareCreate.writes,
    },
    { ...against("first apply, time", apply.ms, bareCreate.ms, "bare client"), aim: 1.3 },
    against("  against the same requests", apply.ms, bareSame.ms, `bare, ${requests(bareSame)} requests`),
    against("  on processors", apply.cpuMs, bareSame.cpuMs, "bare"),
    {
      what: "  time per request",
      measured: perRequest(apply.ms, requests(apply)),
      against: `${perRequest(bareCreate.ms, bareCreate.writes)} bare client`,
    },
    { what: "peak memory of the plan", measured: mib(plan.peak) },
    { what: "peak memory of first apply", measured: mib(apply.peak) },
  ];
}

function requests({ reads, writes }: { readonly reads: number; readonly writes: number }): number {
  return reads + writes;
}

function perRequest(time: number, requests: number): string {
  return `${(time / requests).toFixed(2)} ms`;
}

/** The whole run over all resources, and what each further resource costs: the second leaves out what every run pays once. */
export function seriesRows(figures: readonly ApplyFigures[]): Row[] {
  const whole = figures.map((one) => ({
    what: `${count(one)} resources, time per resource`,
    each: one.ms / one.resources,
  }));
  const each = (time: "ms" | "cpuMs") =>
    figures.slice(1).map((one, n) => further(figures[n] ?? one, one, time));
  return [...againstFirst(whole), ...againstFirst(each("ms")), ...againstFirst(each("cpuMs"))];
}

/** On processors, too: what others do on the machine at the time shows less there. */
function further(before: ApplyFigures, one: ApplyFigures, time: "ms" | "cpuMs") {
  const where = time === "cpuMs" ? " on processors" : "";
  return {
    what: `each further resource${where}, ${count(before)} to ${count(one)}`,
    each: (one[time] - before[time]) / (one.resources - before.resources),
  };
}

export function count({ resources }: { readonly resources: number }): string {
  return resources.toLocaleString("en");
}

function againstFirst(series: readonly { readonly what: string; readonly each: number }[]): Row[] {
  const first = series[0]?.each ?? 1;
  return series.map(({ what, each }, n) => ({
    what,
    measured: `${each.toFixed(2)} ms`,
    ...(n === 0 ? {} : { against: `${first.toFixed(2)} ms`, ratio: each / first, aim: 1.1 }),
  }));
}
