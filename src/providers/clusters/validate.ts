// Checks cluster attributes beyond the schema: combinations of fields, and values that a pool decides.

import { isObject, type Json } from "../../core/json.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Problem } from "../../resource/planning.ts";
import { OWN_IN_POOL } from "./fields.ts";

export function clusterProblems(values: Values, under: readonly string[] = []): readonly Problem[] {
  return [
    ...sizeProblems(values, under),
    ...nodeProblems(values, under),
    ...terminationProblems(values, under),
    ...scriptProblems(values, under),
    ...inheritedProblems(values, under),
  ];
}

function sizeProblems(values: Values, under: readonly string[]): readonly Problem[] {
  const { num_workers: workers, autoscale } = values;
  if (workers === undefined && autoscale === undefined)
    return [
      combination(under, "num_workers or autoscale is required", "to run only a driver, set num_workers: 0"),
    ];
  if (workers !== undefined && autoscale !== undefined)
    return [combination([...under, "num_workers"], "num_workers and autoscale cannot be used together")];
  if (!isObject(autoscale)) return [];
  const { min_workers: min, max_workers: max } = autoscale;
  if (typeof min !== "number" || typeof max !== "number" || max > min) return [];
  const message = `max_workers (${max}) must be more than min_workers (${min})`;
  return [combination([...under, "autoscale", "max_workers"], message)];
}

function nodeProblems(values: Values, under: readonly string[]): readonly Problem[] {
  if (values.node_type_id !== undefined || values.instance_pool_id !== undefined) return [];
  return [
    {
      path: under,
      code: "SPEC_MISSING_FIELD",
      message: "node_type_id is required, or instance_pool_id to inherit it from a pool",
    },
  ];
}

function terminationProblems(values: Values, under: readonly string[]): readonly Problem[] {
  const minutes = values.autotermination_minutes;
  if (typeof minutes !== "number" || minutes === 0 || minutes >= 10) return [];
  return [
    {
      path: [...under, "autotermination_minutes"],
      code: "SPEC_VALUE",
      message: `autotermination_minutes is ${minutes}; the allowed values are 0 (never) and 10 to 10000`,
    },
  ];
}

function scriptProblems(values: Values, under: readonly string[]): readonly Problem[] {
  const scripts = Array.isArray(values.init_scripts) ? values.init_scripts : [];
  return scripts.flatMap((script: Json, at): Problem[] =>
    isObject(script) && Object.keys(script).length !== 1
      ? [combination([...under, "init_scripts", at], "an init script has one location, and only one")]
      : [],
  );
}

/** A pool decides these for its members, and a service may refuse them next to a pool (facts 4.2), so they are never sent. */
const INHERITED = {
  node_type_id: "node_type_id",
  driver_node_type_id: "node_type_id",
  enable_elastic_disk: "enable_elastic_disk",
  azure_attributes: "azure_attributes",
  aws_attributes: "aws_attributes",
  gcp_attributes: "gcp_attributes",
} as const;

function inheritedProblems(values: Values, under: readonly string[]): readonly Problem[] {
  if (values.instance_pool_id === undefined) return [];
  return Object.entries(INHERITED).flatMap(([field, ofPool]): Problem[] =>
    decidedByPool(field, values[field]).map((inside) => {
      const path = [...under, ...inside];
      const [name] = inside.slice(-1);
      const hint = `remove ${name}, or set ${ofPool === name ? "it" : ofPool} on the pool`;
      const found = combination(path, `${path.join(".")} has no effect next to instance_pool_id`, hint);
      return { severity: "warning", ...found };
    }),
  );
}

function decidedByPool(field: string, value: Json | undefined): readonly (readonly string[])[] {
  if (value === undefined) return [];
  if (!isObject(value) || value[OWN_IN_POOL] === undefined) return [[field]];
  return Object.keys(value).flatMap((name) => (name === OWN_IN_POOL ? [] : [[field, name]]));
}

function combination(path: readonly (string | number)[], message: string, hint?: string): Problem {
  return { path, code: "SPEC_COMBINATION", message, ...(hint === undefined ? {} : { hint }) };
}
