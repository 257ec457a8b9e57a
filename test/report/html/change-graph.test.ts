// The drawing of what changes need: columns by need, a bound, and the list.

import { describe, expect, test } from "vitest";
import { type Address, addressOf } from "../../../src/core/address.ts";
import { registry as everyKind } from "../../../src/providers/index.ts";
import { layeredLayout } from "../../../src/report/html/change-graph.ts";
import { planHtml } from "../../../src/report/html/plan-html.ts";
import { planView } from "../../../src/report/view/plan-view.ts";
import { planOf, update, viewOf } from "../plans.ts";
import { largePlan } from "./sample-plans.ts";

describe("the layout of a graph", () => {
  test("each node is to the right of everything that it needs, and no two share a place", () => {
    const arrows = [
      { from: 1, to: 0 },
      { from: 2, to: 1 },
      { from: 3, to: 0 },
      { from: 2, to: 0 },
    ];
    const layout = layeredLayout(4, arrows, 100);
    const column = (node: number) => layout?.nodes[node]?.column ?? Number.NaN;
    for (const { from, to } of arrows) expect(column(from)).toBeGreaterThan(column(to));
    const places = layout?.nodes.map((spot) => `${spot.column} ${spot.row}`) ?? [];
    expect(new Set(places).size).toBe(4);
  });

  test("an arrow over several columns passes between their nodes", () => {
    const layout = layeredLayout(
      3,
      [
        { from: 1, to: 0 },
        { from: 2, to: 1 },
        { from: 2, to: 0 },
      ],
      100,
    );
    expect(layout?.routes[2]?.map(({ column }) => column)).toEqual([2, 1, 0]);
    expect(layout?.routes[2]?.[1]?.row).not.toBe(layout?.nodes[1]?.row);
  });

  test("there is none for a cycle, or beyond the bound", () => {
    expect(
      layeredLayout(
        2,
        [
          { from: 0, to: 1 },
          { from: 1, to: 0 },
        ],
        100,
      ),
    ).toBeUndefined();
    expect(layeredLayout(3, [{ from: 1, to: 0 }], 2)).toBeUndefined();
  });
});

describe("the dependencies of a plan's changes", () => {
  test("a small graph is drawn and listed", () => {
    const page = planHtml(viewOf(largePlan(20)));
    expect(page.match(/<rect /g)).toHaveLength(20);
    expect(page.match(/depends on <a /g)).toHaveLength(18);
    expect(page).toContain("Dependencies: 20 changes, 18 dependencies");
  });

  test("a large graph is drawn by kind and module, with links to the filtered changes and the number of dependencies", () => {
    const resource = (kind: string, name: string, needs: readonly Address[] = []) => ({
      ...update,
      ...{ kind, name, address: addressOf(kind, name), dependsOn: needs },
    });
    const changes = Array.from({ length: 60 }, (_, at) => {
      const prefix = at % 2 === 0 ? "" : "team/ads/";
      const pool = resource("pools", `${prefix}p-${at}`);
      return [pool, resource("clusters", `${prefix}c-${at}`, [pool.address])];
    }).flat();
    const page = planHtml(planView(planOf(changes), everyKind));
    expect(page.match(/<rect /g)).toHaveLength(4);
    expect(page).toContain(">30 pools in team</text>");
    expect(page).toContain('href="#?kind=clusters&amp;search=team%2F"');
    expect(page.match(/<text class="count" [^>]*>30<\/text>/g)).toHaveLength(2);
    expect(page.match(/depends on <a /g)).toHaveLength(60);
  });

  test("the list of a large graph says how many dependencies it leaves out", () => {
    const page = planHtml(viewOf(largePlan(1_000)));
    expect(page).toContain(">990 pools</text>");
    expect(page.match(/depends on <a /g)).toHaveLength(500);
    expect(page).toContain("… and 390 more; each change lists its own dependencies.");
  });

  test("changes that need nothing of one another have no section", () => {
    expect(planHtml(viewOf(planOf([update])))).not.toContain("Dependencies:");
  });
});
