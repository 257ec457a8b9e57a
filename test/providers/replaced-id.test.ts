// The side effect of a new ID: a line in each replacement of a pool, cluster, or job, in every format of a plan.

import { describe, expect, test } from "vitest";
import { addressOf, remoteId } from "../../src/core/address.ts";
import { makePlan } from "../../src/planner/make-plan.ts";
import type { Change } from "../../src/planner/model/change.ts";
import { registry } from "../../src/providers/index.ts";
import { PLAN_FORMATS } from "../../src/report/formats.ts";
import { colorsFor } from "../../src/report/text/terminal.ts";
import { planView } from "../../src/report/view/plan-view.ts";
import { emptyState } from "../../src/state/format/fold.ts";
import { INFO } from "../report/plans.ts";
import { lookAt, planned } from "./workspace.ts";

const lost = (what: string) =>
  `the new ${what} has a new ID; the access list and references to the old ID outside the spec are lost`;

const KINDS = [
  ["pools", "pool"],
  ["clusters", "cluster"],
  ["jobs", "job"],
] as const;

describe.each(KINDS)("a replacement of %s", (kind, what) => {
  const provider = registry.get(kind);
  const live = { id: remoteId("1"), name: "shared", values: {}, facts: {} };

  test("says once that the access list and references to the ID are lost", () => {
    const change = planned(provider, "replace", live, {});
    const sentences = provider.planning.consequences?.(change, lookAt({ activeRuns: [] })) ?? [];
    expect(sentences.filter((sentence) => sentence.includes("ID"))).toEqual([lost(what)]);
  });

  test.each(["update", "delete"] as const)("is not confused with a change that is an %s", (action) => {
    const change = planned(provider, action, live, {});
    const sentences = provider.planning.consequences?.(change, lookAt({ activeRuns: [] })) ?? [];
    expect(sentences).not.toContain(lost(what));
  });
});

describe("a plan that replaces a pool", () => {
  const replaced: Change = {
    action: "replace",
    address: addressOf("pools", "shared"),
    kind: "pools",
    name: "shared",
    cause: "spec",
    reasons: [],
    consequences: [lost("pool")],
    dependsOn: [],
    id: remoteId("p-1"),
    before: { node_type_id: "a" },
    after: { node_type_id: "b" },
    unresolved: [],
    fingerprint: "f",
    diffs: [{ path: ["node_type_id"], before: "a", after: "b", cause: "spec", replaces: true }],
    because: [{ path: ["node_type_id"], before: "a", after: "b", cause: "spec", replaces: true }],
    replacing: "rename-aside",
    removeAfter: [],
  };
  const empty = makePlan({
    registry,
    host: "https://ws.example.com",
    spec: {
      files: [],
      resources: new Map(),
      policy: {
        on_immutable_change: "replace",
        on_immutable_change_by_kind: {},
        max_deletes: { share: 1 },
        authoritative: [],
        duplicate_names: "error",
      },
    },
    live: new Map(),
    state: emptyState("l"),
  });
  const view = planView({ ...empty, changes: [replaced] }, registry);

  // GitLab's report of a plan has counts only.
  test.each(Object.keys(PLAN_FORMATS).filter((name) => name !== "gitlab"))(
    "%s has the line",
    async (name) => {
      const render = await PLAN_FORMATS[name as keyof typeof PLAN_FORMATS]();
      expect(render(view, INFO, colorsFor(false), true).text).toContain("the new pool has a new ID");
    },
  );
});
