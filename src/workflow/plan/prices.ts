// Reads the list of prices: of --prices or WORKSPACE_PRICES, or prices.yaml next to the spec.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileFailure } from "../../config/files.ts";
import { type Failure, failureOf, thrownText } from "../../core/diagnostic.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import type { Price, Prices } from "../../planner/model/plan-cost.ts";
import { yaml } from "../../spec/yaml/lexical-limits.ts";
import { assertNotInTree, shownPath } from "../invocation/checkout.ts";
import type { Invocation } from "../invocation/invocation.ts";

const LARGEST_FILE = 4 << 20;

/** Undefined without a file. Throws Failure with PLAN_PRICES for a file that is not a list of prices. */
export function readPrices(invocation: Invocation): Prices | undefined {
  const { cwd, onPathRead } = invocation;
  const pricesFile = invocation.pricesFile ?? pricesNextTo(invocation);
  if (pricesFile === undefined) return undefined;
  assertNotInTree(invocation, pricesFile, "PLAN_PRICES", "prices file");
  const shown = shownPath(cwd, pricesFile);
  onPathRead?.(pricesFile);
  let text: string;
  try {
    text = readRegularFile(pricesFile, LARGEST_FILE).toString("utf8");
  } catch (problem) {
    throw fileFailure(`the prices file ${shown} cannot be read`, problem);
  }
  return pricesIn(text, shown);
}

/** An untrusted checkout could make a change look cheap. */
function pricesNextTo({ file, untrusted, onPathRead }: Invocation): string | undefined {
  const path = join(dirname(file), "prices.yaml");
  if (untrusted) return undefined;
  if (existsSync(path)) return path;
  onPathRead?.(path);
  return undefined;
}

function pricesIn(text: string, shown: string): Prices {
  const refuse = (problem: string, cause?: string): Failure =>
    failureOf("PLAN_PRICES", `${shown}: ${problem}`, {
      cause,
      hint: "the form is in schemas/prices.schema.json",
    });
  let document: unknown;
  try {
    document = yaml().parse(text, { maxAliasCount: 0 });
  } catch (problem) {
    throw refuse("it is not valid YAML", thrownText(problem));
  }
  if (!isMap(document)) throw refuse("it is not a map");
  const unknown = Object.keys(document).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined)
    throw refuse(`${JSON.stringify(unknown)} is not a member; use one of ${MEMBERS.join(", ")}`);
  const { currency } = document;
  if (typeof currency !== "string" || !/^\S{1,10}$/.test(currency))
    throw refuse("currency must be a string such as USD");
  const mapAt = (name: string): readonly (readonly [string, unknown])[] => {
    const value = document[name] ?? {};
    if (!isMap(value)) throw refuse(`${name} is not a map`);
    return Object.entries(value);
  };
  const pricesAt = (name: string): Prices["node_types"] =>
    Object.fromEntries(
      mapAt(name).map(([key, value]) => [key, priceIn(value, () => refuse(wrongPrice(name, key)))]),
    );
  const rates = mapAt("dbu_rates").map(([kind, rate]) => {
    if (!KINDS.includes(kind)) throw refuse(`dbu_rates has ${JSON.stringify(kind)}; use ${KINDS.join(", ")}`);
    if (!isAmount(rate)) throw refuse(wrongPrice("dbu_rates", kind));
    return [kind, rate] as const;
  });
  return {
    currency,
    node_types: pricesAt("node_types"),
    warehouse_sizes: pricesAt("warehouse_sizes"),
    dbu_rates: Object.fromEntries(rates),
  };
}

const MEMBERS = ["currency", "node_types", "warehouse_sizes", "dbu_rates"];
const KINDS = ["all_purpose", "jobs", "sql"];

const wrongPrice = (list: string, key: string): string =>
  `${list}: ${JSON.stringify(key)} needs a number of at least 0`;

function priceIn(value: unknown, refuse: () => Failure): Price {
  if (isAmount(value)) return { per_hour: value };
  if (!isMap(value)) throw refuse();
  const { per_hour, dbu_per_hour, ...rest } = value;
  if (!isAmount(per_hour) || Object.keys(rest).length > 0) throw refuse();
  if (dbu_per_hour !== undefined && !isAmount(dbu_per_hour)) throw refuse();
  return { per_hour, dbu_per_hour };
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
