// Groups that contain each other in one spec, and the other way round in the next, also where both are replaced.

import fc from "fast-check";
import { expect, test } from "vitest";
import { doing, results, Site } from "../../engine/site.ts";
import { sampleOf } from "../../sample-size.ts";

const POLICY = "policy: { max_deletes: 100%, on_immutable_change: replace }\n";
const KEYS = ["a", "b", "c", "d"] as const;

/** A group that contains groups behind it in the order; its name changes with its version. */
interface Group {
  readonly key: string;
  readonly version: number;
  readonly contains: readonly boolean[];
}

const hierarchies: fc.Arbitrary<readonly Group[]> = fc
  .record({
    order: fc.shuffledSubarray([...KEYS], { minLength: 2 }),
    versions: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 4, maxLength: 4 }),
    edges: fc.array(fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }), { minLength: 4, maxLength: 4 }),
  })
  .map(({ order, versions, edges }) =>
    order.map((key, at) => ({ key, version: versions[at] ?? 1, contains: edges[at] ?? [] })),
  );

const nameOf = ({ key, version }: Group): string => `${key}${version}`;

function yamlOf(groups: readonly Group[]): string {
  const lines = groups.map((group, at) => {
    const inner = groups.slice(at + 1).filter((_, to) => group.contains[to] === true);
    return `  ${group.key}: { displayName: ${nameOf(group)}, members: { groups: [${inner.map(nameOf).join(", ")}] } }\n`;
  });
  return `${POLICY}groups:\n${lines.join("")}`;
}

test("any hierarchy of groups becomes any other in one apply", async () => {
  await fc.assert(
    fc.asyncProperty(hierarchies, hierarchies, async (before, after) => {
      const site = await Site.start();
      try {
        for (const groups of [before, after]) {
          const { outcome } = await site.drive(site.process().apply(await site.spec(yamlOf(groups))));
          expect(outcome.diagnostics).toEqual([]);
          expect(results(outcome).filter((one) => !one.startsWith("applied "))).toEqual([]);
        }
        const plan = await site.drive(site.process().plan(await site.spec(yamlOf(after))));
        expect(doing(plan)).toEqual([]);
        expect(plan.drift).toEqual([]);
      } finally {
        site.close();
      }
    }),
    { numRuns: sampleOf(40) },
  );
});
