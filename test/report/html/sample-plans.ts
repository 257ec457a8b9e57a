// Plans for pages in a browser: one with everything that a page shows, and one of any size.

import { type Address, addressOf } from "../../../src/core/address.ts";
import { warning } from "../../../src/core/diagnostic.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { Plan } from "../../../src/planner/model/plan.ts";
import { create, everything, planOf, remove, update } from "../plans.ts";

const content = {
  lines: [
    "@@ -3,7 +3,8 @@",
    " import spark",
    " ",
    "-frame = spark.read.table('raw')",
    "-frame.show()",
    "+frame = spark.read.table('bronze')",
    "+frame = frame.where('day > 3')",
    "+frame.show(20)",
    " ",
    " frame.write.saveAsTable('silver')",
    "-exit(0)",
    "@@ -40,2 +41,3 @@",
    " done()",
    "+log('<script>alert(1)</script>')",
  ],
  added: 4,
  removed: 3,
};

const named = (name: string, change: Change, needs: readonly Address[] = []): Change => ({
  ...change,
  address: addressOf(change.kind, name),
  name,
  dependsOn: needs,
});
const pool = (name: string) => addressOf("pools", name);

/** Every kind of part: guards, findings, effects, drift, contents, unmanaged objects, and dependencies over three columns. */
export const fullPlan: Plan = {
  ...everything,
  changes: [
    ...everything.changes,
    named("base", create),
    named("etl", create, [pool("base")]),
    named("nightly-report-of-the-whole-company-with-a-long-name", create, [pool("etl"), pool("base")]),
    { ...named("notebook", update, [pool("etl")]), content } as Change,
  ],
  unmanaged: [{ kind: "pools", name: "theirs", id: "9" }],
  diagnostics: [
    warning("PLAN_MODE", "the plan was made offline", {
      hint: "run `workspace plan` with a connection",
      at: { file: "workspace.yaml", line: 3, column: 5, frame: "> 3 | pools:" },
    }),
  ],
  modes: ["offline"],
};

/** Chains of ten, so that there are dependencies as well; each tenth change is an update, each hundredth a delete. */
export function largePlan(size: number): Plan {
  return planOf(
    Array.from({ length: size }, (_, n) => {
      const needs = n % 10 === 0 ? [] : [pool(`pool-${n - 1}`)];
      if (n % 100 === 99) return named(`pool-${n}`, remove);
      return named(`pool-${n}`, n % 10 === 5 ? update : create, needs);
    }),
  );
}
