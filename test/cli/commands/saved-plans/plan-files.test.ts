// Saved plans through the real `apply FILE`: whatever was changed in one, it is refused and nothing is written.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sampleFrom } from "../../../sample-size.ts";
import { PlanSite } from "./plan-site.ts";
import { met, type Tampering, tamperingsOf } from "./tampered-plans.ts";

let site: PlanSite;
beforeAll(async () => {
  site = await PlanSite.open();
});
afterAll(() => site.close());

const CLAIMS: Readonly<Record<Tampering["about"], string>> = {
  leaf: "with any leaf changed or taken out",
  text: "that is cut anywhere, empty, or something else",
  place: "for another host or state, or that brings its own spec, state and key along",
  time: "that has expired, was made before the spec changed, or was applied already",
};

describe("a saved plan", () => {
  test.for(Object.entries(CLAIMS).map(([about, claim]) => ({ about, claim })))(
    "$claim is refused by apply, and nothing is written",
    { timeout: 120_000 },
    async ({ about }) => {
      const all = tamperingsOf(site.plan).filter((one) => one.about === about);
      const tamperings = about === "leaf" ? sampleFrom(all) : all;
      const wrong: string[] = [];
      for (const one of tamperings)
        wrong.push(...(await met(one, site)).map((what) => `${one.name}: ${what}`));
      expect(all.length).toBeGreaterThan(about === "leaf" ? 100 : 2);
      expect(wrong).toEqual([]);
    },
  );

  test("that was not edited is applied", async () => {
    expect(await site.apply(site.plan)).toMatchObject({ code: 0 });
  });
});
