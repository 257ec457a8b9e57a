// A law for every kind: as long as nothing moved outside, a plan without any network is the plan with one.

import { describe, expect, test } from "vitest";
import { makePlan } from "../../src/planner/make-plan.ts";
import { recordedLive } from "../../src/planner/mode/offline.ts";
import { markUntrusted, redactForUntrusted } from "../../src/planner/mode/untrusted.ts";
import { registry } from "../../src/providers/index.ts";
import { secretField } from "../../src/resource/kind.ts";
import type { Spec } from "../../src/spec/model/spec.ts";
import { doing, type Site } from "../engine/site.ts";
import { POLICY, siteOf } from "./sample-site.ts";
import { type Sample, samples } from "./samples.ts";

async function applied(sample: Sample): Promise<Site> {
  const site = await siteOf(sample);
  const { outcome } = await site.drive(site.process().apply(await site.spec(POLICY + sample.spec)));
  expect(outcome.diagnostics).toEqual([]);
  return site;
}

async function offline(site: Site, spec: Spec) {
  const state = await site.state();
  return makePlan({
    registry,
    host: state.host,
    spec,
    live: recordedLive(registry, state),
    state,
    partial: true,
  });
}

describe.each(samples)("$kind", (sample) => {
  test("an applied spec has an empty offline plan without drift", async () => {
    const site = await applied(sample);
    const plan = await offline(site, await site.spec(POLICY + sample.spec));
    expect(doing(plan)).toEqual([]);
    expect(plan.drift).toEqual([]);
    expect(plan.diagnostics).toEqual([]);
  });

  test("a changed spec plans offline to the same changes as with the workspace", async () => {
    const site = await applied(sample);
    const spec = await site.spec(POLICY + sample.changed);
    const plan = await site.drive(site.process().plan(spec));
    expect(doing(await offline(site, spec))).toEqual(doing(plan));
  });

  test("an applied spec also has an empty untrusted plan, which compares its secrets", async () => {
    const site = await applied(sample);
    const spec = await site.spec(POLICY + sample.spec);
    const state = await site.state();
    const shield = redactForUntrusted({ registry, spec, state }, recordedLive(registry, state));
    const input = { registry, host: state.host, spec: shield.spec, live: shield.live, state, partial: true };
    const isSecret = ({ kind }: { readonly kind: string }) => secretField(registry.get(kind)) !== undefined;
    const secrets = [...spec.resources.values()].filter(isSecret).map(({ address }) => `compare ${address}`);
    expect(doing(markUntrusted(makePlan(input), shield.notes)).toSorted()).toEqual(secrets.toSorted());
  });
});
