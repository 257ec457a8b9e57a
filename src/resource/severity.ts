// The severity of a difference, as a field or its kind declares it.

import { isObject, type Json } from "../core/json.ts";
import { type FieldSchema, memberSchema, SEVERITIES, type Severity } from "./field-schema.ts";
import type { Kind } from "./kind.ts";
import type { FieldDiff } from "./planning.ts";
import { schemaInside, tableSchema } from "./walk.ts";

type Rated = Pick<Kind, "fields" | "severity">;

export function isAtLeast(severity: Severity, least: Severity): boolean {
  return SEVERITIES.indexOf(severity) <= SEVERITIES.indexOf(least);
}

export function mostSevere(all: readonly Severity[]): Severity | undefined {
  return SEVERITIES.find((severity) => all.includes(severity));
}

export function severityOfObject({ severity = "other" }: Rated): Severity {
  return severity;
}

/** Of one difference: the innermost field that names a severity counts; of an object that comes or goes, its most severe member. */
export function severityOfDiff(provider: Rated, { path, before, after }: FieldDiff): Severity {
  let schema = tableSchema(provider.fields);
  let severity = severityOfObject(provider);
  for (const key of path) {
    schema = schemaInside(schema, key);
    severity = schema.severity ?? severity;
  }
  const sides = [before, after].filter((side) => side !== undefined);
  return mostSevere(sides.flatMap((side) => ratings(schema, side, severity))) ?? severity;
}

function ratings(schema: FieldSchema, value: Json, from: Severity): readonly Severity[] {
  const own = schema.severity ?? from;
  if (!isObject(value)) return [own];
  const inside = Object.entries(value).flatMap(([key, member]) =>
    ratings(memberSchema(schema, key), member, own),
  );
  return inside.length === 0 ? [own] : inside;
}
