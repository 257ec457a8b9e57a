// Every way to tamper with a saved plan, or to apply it where or when it does not belong; each has to be refused.

import { parseJson, stringifyJson } from "../../../../src/core/exact-json.ts";
import type { Json } from "../../../../src/core/json.ts";
import { type Path, withValueAt } from "../../../../src/core/pointer.ts";
import { PlanSite, type Ran } from "./plan-site.ts";

export interface Tampering {
  readonly name: string;
  /** The claim that it belongs to. */
  readonly about: "leaf" | "text" | "place" | "time";
  /** The text of the refusal, and its possible codes. */
  readonly told: RegExp;
  readonly codes: readonly number[];
  apply(site: PlanSite): Promise<Ran>;
}

function leaves(value: Json, path: Path = []): Path[] {
  if (value === null || typeof value !== "object") return [path];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.length === 0 ? [path] : entries.flatMap(([key, member]) => leaves(member, [...path, key]));
}

function at(value: Json, path: Path): Json {
  return path.reduce<Json>((found, key) => Reflect.get(Object(found), key) as Json, value);
}

function flipped(value: Json): Json {
  if (typeof value === "string") return `${value}x`;
  if (typeof value === "boolean") return !value;
  if (value === null) return 1;
  return typeof value === "object" ? [1] : Number(value) + 1;
}

/** Every leaf of a plan, changed and removed. */
function leafTamperings(plan: string): readonly Tampering[] {
  const whole = parseJson(plan);
  return leaves(whole).flatMap((path) =>
    [["changed", flipped(at(whole, path))] as const, ["taken out", undefined] as const].map(
      ([how, value]) => ({
        name: `${path.join("/")} ${how}`,
        about: "leaf",
        told: /PLAN_|STATE_|SPEC_|CLI_/,
        codes: [1, 4],
        apply: (site) => site.apply(stringifyJson(withValueAt(parseJson(site.plan), path, value) ?? null)),
      }),
    ),
  ) satisfies readonly Tampering[];
}

const CUTS = 40;
const OTHER_TEXTS: Readonly<Record<string, (plan: string) => string>> = {
  null: () => "null",
  "an empty list": () => "[]",
  "an empty object": () => "{}",
  "a number": () => "7",
  "a text": () => '"x"',
  "100,000 opened lists": () => "[".repeat(100_000),
  "the plan twice": (plan) => plan + plan,
};

function textTamperings(): readonly Tampering[] {
  const cuts = Array.from({ length: CUTS }, (_, part) => {
    const name = `cut after ${part} of ${CUTS} parts`;
    return [name, (plan: string) => plan.slice(0, Math.floor((plan.length * part) / CUTS))] as const;
  });
  return [...cuts, ...Object.entries(OTHER_TEXTS)].map(([name, text]) => ({
    name,
    about: "text",
    told: /PLAN_FILE/,
    codes: [1],
    apply: (site) => site.apply(text(site.plan)),
  }));
}

const PLACES: readonly Tampering[] = [
  {
    name: "another host",
    about: "place",
    told: /PLAN_|STATE_/,
    codes: [1, 4],
    apply: async (site) => {
      const other = await PlanSite.open();
      try {
        const before = await other.writes();
        const ran = await site.apply(site.plan, { host: other.url });
        return (await other.writes()) === before ? ran : { code: 0, err: "the other host was written to" };
      } finally {
        await other.close();
      }
    },
  },
  {
    name: "another folder without a state",
    about: "place",
    told: /PLAN_FILE/,
    codes: [1],
    apply: (site) => site.apply(site.plan, { folder: site.emptyFolder() }),
  },
  {
    name: "another state",
    about: "place",
    told: /PLAN_|STATE_/,
    codes: [1],
    apply: (site) => site.apply(site.plan, { words: ["--state", "fresh"] }),
  },
  {
    name: "a folder that brings its own spec, state and key along",
    about: "place",
    told: /PLAN_FILE/,
    codes: [1],
    apply: async (site) => {
      const folder = await site.broughtAlong();
      return site.run(["apply", "evil.plan"], { folder });
    },
  },
];

const LIFETIME_MS = 24 * 3_600_000;

/** How far the clocks are set back while `work` runs. */
async function earlier<T>(byMs: number, work: () => Promise<T>): Promise<T> {
  const { now } = Date;
  Date.now = () => now() - byMs;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
}

const TIMES: readonly Tampering[] = [
  {
    name: "made more than a day ago",
    about: "time",
    told: /PLAN_EXPIRED/,
    codes: [4],
    apply: async (site) => site.apply(await earlier(LIFETIME_MS + 60_000, () => site.planned())),
  },
  {
    name: "the spec changed after it",
    about: "time",
    told: /PLAN_STALE/,
    codes: [4],
    apply: (site) => site.withOtherSpec(() => site.apply(site.plan)),
  },
  {
    name: "applied already",
    about: "time",
    told: /PLAN_EXPIRED|PLAN_STALE/,
    codes: [4],
    apply: (site) => site.apply(site.plan),
  },
];

export function tamperingsOf(plan: string): readonly Tampering[] {
  return [...leafTamperings(plan), ...textTamperings(), ...PLACES, ...TIMES];
}

/**
 * The errors in the reaction to a manipulated plan: it was accepted, or wrote, or was refused for another reason or
 * by a bug.
 */
export async function met(tampering: Tampering, shared: PlanSite): Promise<readonly string[]> {
  if (tampering.name !== "applied already") return refusal(tampering, shared);
  const own = await PlanSite.open();
  try {
    const { code, err } = await own.apply(own.plan);
    return code === 0 ? await refusal(tampering, own) : [`the good plan ended with ${code}: ${err}`];
  } finally {
    await own.close();
  }
}

async function refusal({ told, codes, apply }: Tampering, site: PlanSite): Promise<readonly string[]> {
  const before = await site.writes();
  const { code, err } = await apply(site);
  const after = await site.writes();
  return [
    ...(codes.includes(code) ? [] : [`accepted: it ended with ${code}: ${err}`]),
    ...(told.test(err) ? [] : [`it is not told as ${told}: ${err}`]),
    ...(/CLI_INTERNAL|^\s+at \S+ \(/m.test(err) ? [`a bug: ${err}`] : []),
    ...(after === before ? [] : [`accepted: ${after - before} writes`]),
  ];
}
