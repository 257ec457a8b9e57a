// A law for every kind: the values after a change in a plan's JSON are the live values after its apply.

import jsonPatch from "fast-json-patch";
import { describe, expect, test } from "vitest";
import { isObject, type Json, type JsonObject } from "../../src/core/json.ts";
import { isSameValue, normalForm } from "../../src/planner/diff/normalize.ts";
import type { Plan } from "../../src/planner/model/plan.ts";
import { registry } from "../../src/providers/index.ts";
import { planJson } from "../../src/report/format/plan-json.ts";
import { planView } from "../../src/report/view/plan-view.ts";
import { run } from "../report/run.ts";
import { POLICY, siteOf } from "./sample-site.ts";
import { samples } from "./samples.ts";

interface ShownPlan {
  readonly address: string;
  readonly action: string;
  readonly change: {
    readonly before: JsonObject | null;
    readonly after: JsonObject | null;
    readonly after_unknown: JsonObject;
    readonly patch: readonly jsonPatch.Operation[];
  };
}

function shownOf(plan: Plan): readonly ShownPlan[] {
  return planJson(planView(plan, registry), run).resource_changes as readonly ShownPlan[];
}

/** A value without the places that only an apply can tell. */
function known(value: Json | undefined, unknown: Json | undefined): Json | undefined {
  if (unknown === true) return undefined;
  if (Array.isArray(value) && Array.isArray(unknown))
    return value.map((item, at) => known(item, unknown[at]) ?? null);
  if (!isObject(value) || !isObject(unknown)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      const kept = known(member, unknown[key]);
      return kept === undefined ? [] : [[key, kept]];
    }),
  );
}

function patched({ before, patch }: ShownPlan["change"]): JsonObject {
  return jsonPatch.applyPatch(
    structuredClone(before) as object,
    structuredClone(patch) as jsonPatch.Operation[],
  ).newDocument as JsonObject;
}

/** The planned values of an address, compared with the live ones after the apply. */
function mistakes(said: ShownPlan, live: ShownPlan): readonly string[] {
  const { fields } = registry.of(said.address as Parameters<typeof registry.of>[0]);
  const [after, found] = [said.change.after ?? {}, live.change.before ?? {}];
  return [...new Set([...Object.keys(after), ...Object.keys(found)])].flatMap((key) => {
    const schema = fields[key] ?? {};
    if (schema.writeOnly === true || schema.readOnly === true || schema.whenAbsent === "unmanaged") return [];
    const unknown = said.change.after_unknown[key];
    const [a, b] = [known(after[key], unknown), known(found[key], unknown)];
    if (isSameValue(schema, a, b) || isSameValue(schema, a ?? schema.default, b ?? schema.default)) return [];
    return [`${said.address} ${key}: ${JSON.stringify(normalForm(schema, a))} became ${JSON.stringify(b)}`];
  });
}

describe.each(samples)("$kind", (sample) => {
  test("after the apply, the live values equal `after`, and the patch turns `before` into `after`", async () => {
    const site = await siteOf(sample);
    for (const yaml of [sample.spec, sample.changed, sample.spec]) {
      const spec = await site.spec(POLICY + yaml);
      const { plan } = await site.drive(site.process().apply(spec));
      const live = shownOf(await site.drive(site.process().plan(spec)));
      for (const said of shownOf(plan)) {
        const now = live.find((one) => one.address === said.address);
        if (now !== undefined) expect(mistakes(said, now)).toEqual([]);
        const { before, after, after_unknown } = said.change;
        if (before !== null && after !== null)
          expect(known(patched(said.change), after_unknown)).toEqual(known(after, after_unknown));
        if (said.action === "noop") expect(after).toEqual(before);
      }
    }
  });
});
