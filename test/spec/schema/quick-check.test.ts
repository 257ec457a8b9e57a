// The look that spares the validator: whatever it is sure of, the validator takes.

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { parse } from "yaml";
import type { Json } from "../../../src/core/json.ts";
import { withValueAt } from "../../../src/core/pointer.ts";
import { registry } from "../../../src/providers/index.ts";
import { SourceText } from "../../../src/spec/model/source.ts";
import { listAt, mapAt, type SpecNode, scalarAt } from "../../../src/spec/model/tree.ts";
import { schemaOfKind } from "../../../src/spec/schema/json-schema.ts";
import type { JsonSchema } from "../../../src/spec/schema/keywords.ts";
import { quickCheck } from "../../../src/spec/schema/quick-check.ts";
import { ajvForSpecs } from "../../../src/spec/schema/validate.ts";
import { sampleOf } from "../../sample-size.ts";

const AT = { source: new SourceText("workspace.yaml", ""), start: 0, end: 0 };
const WHOLE = parse(readFileSync(new URL("../whole.yaml", import.meta.url), "utf8")) as Record<string, Json>;

function nodeOf(value: Json): SpecNode {
  if (Array.isArray(value)) return listAt(AT, value.map(nodeOf));
  if (value === null || typeof value !== "object") return scalarAt(AT, value as string);
  const entries = Object.entries(value).map(([key, one]) => [key, { key: AT, value: nodeOf(one) }] as const);
  return mapAt(AT, new Map(entries));
}

const kinds = registry.kinds
  .filter(({ nested, kind }) => nested === undefined && WHOLE[kind] !== undefined)
  .map((provider) => {
    const schema = schemaOfKind(provider).schema();
    const examples = Object.values(WHOLE[provider.kind] as Record<string, Json>).map((one) =>
      withoutNested(one),
    );
    const validate = ajvForSpecs().compile(schema);
    return {
      kind: provider.kind,
      examples,
      sure: quickCheck(schema),
      valid: (value: Json) => validate(value),
    };
  });

function withoutNested(resource: Json): Json {
  const children = registry.kinds.flatMap(({ nested }) => (nested === undefined ? [] : [nested.under]));
  return children.reduce<Json>((value, name) => withValueAt(value, [name], undefined) ?? {}, resource ?? {});
}

describe.each(kinds)("$kind", ({ examples, sure, valid }) => {
  it("of the example of a team need no validator", () => {
    const passing = examples.filter((one) => valid(one));
    expect(passing.length).toBeGreaterThan(0);
    expect(passing.map((one) => sure(nodeOf(one)))).toEqual(passing.map(() => true));
  });

  it("that are damaged are never taken where the validator refuses them", () => {
    const example = fc.constantFrom(...examples);
    const damage = fc.array(fc.tuple(fc.nat(), odd), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(example, damage, (one, damages) => {
        const broken = damages.reduce((value, [where, put]) => damaged(value, where, put), one);
        if (sure(nodeOf(broken))) expect(valid(broken)).toBe(true);
      }),
      { numRuns: sampleOf(400) },
    );
  });
});

const odd: fc.Arbitrary<Json | undefined> = fc.oneof(
  fc.constantFrom<Json | undefined>(undefined, null, "", 0, -1, 1.5, 1e15, true, [], {}, "READ", "\u{1f600}"),
  fc.constantFrom<Json>("${var.x}", "$${x}", "${pools.a.instance_pool_id}", "x".repeat(300), ["a", "a"], [1]),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);

/** Replaces (or removes) one of the values of another, or adds it under a new key. */
function damaged(value: Json, where: number, put: Json | undefined): Json {
  const places = placesIn(value, []);
  const place = places[where % places.length] ?? [];
  return withValueAt(value, where % 7 === 0 ? [...place, "odd"] : place, put) ?? {};
}

function placesIn(value: Json, here: readonly (string | number)[]): (readonly (string | number)[])[] {
  if (value === null || typeof value !== "object") return [here];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [here, ...entries.flatMap(([key, one]) => placesIn(one as Json, [...here, key]))];
}

test.each<[JsonSchema, Json]>([
  [{ type: "integer", exclusiveMinimum: 1 }, 5],
  [{ oneOf: [{ type: "string" }] }, "a"],
  [{ $ref: "#/elsewhere" }, "a"],
  [{ if: { minLength: 3 }, else: { type: "string" } }, "abc"],
])("%j is a schema of which it is sure of nothing", (schema, value) => {
  expect(quickCheck(schema)(nodeOf(value))).toBe(false);
});

test("a length is counted in characters, not in halves of them", () => {
  expect(quickCheck({ maxLength: 1 })(nodeOf("\u{1f600}"))).toBe(true);
  expect(quickCheck({ minLength: 2 })(nodeOf("\u{1f600}"))).toBe(false);
});

test("a number too large to be exact is left to the validator", () => {
  expect(quickCheck({ type: "integer" })(scalarAt(AT, 9_007_199_254_740_993n))).toBe(false);
});
