// The sections policy and lifecycle: defaults, and what is refused.

import { describe, expect, it } from "vitest";
import { load } from "../folder.ts";

const POOL = "pools: { p: { node_type_id: x } }\n";

const DEFAULTS = {
  on_immutable_change: "error",
  on_immutable_change_by_kind: {},
  max_deletes: { share: 0.3 },
  authoritative: [],
  duplicate_names: "error",
};

describe("the policy", () => {
  it.each<[string, object]>([
    ["", {}],
    ["policy:\n", {}],
    ["policy: {}\n", {}],
    ["policy: { on_immutable_change: error }\n", {}],
    ["policy: { on_immutable_change: replace }\n", { on_immutable_change: "replace" }],
    [
      "policy: { on_immutable_change: { users: replace, pools: error } }\n",
      { on_immutable_change_by_kind: { users: "replace", pools: "error" } },
    ],
    ["policy: { on_immutable_change: { default: replace } }\n", { on_immutable_change: "replace" }],
    ["policy: { max_deletes: 7 }\n", { max_deletes: { count: 7 } }],
    ["policy: { max_deletes: 0% }\n", { max_deletes: { share: 0 } }],
    ["policy: { max_deletes: 100% }\n", { max_deletes: { share: 1 } }],
    ["policy: { authoritative: [users, groups] }\n", { authoritative: ["users", "groups"] }],
    ["policy: { duplicate_names: error }\n", {}],
    ["policy: { duplicate_names: allow }\n", { duplicate_names: "allow" }],
  ])("%j is read", async (section, change) => {
    const { spec, told } = await load(section + POOL);
    expect(told).toEqual([]);
    expect(spec?.policy).toEqual({ ...DEFAULTS, ...change });
  });
});

describe("the lifecycle", () => {
  const lifecycle = (text: string) => load(`pools: { p: { node_type_id: x, lifecycle: ${text} } }\n`);

  it.each<[string, object]>([
    ["{}", {}],
    ["{ prevent_destroy: true }", { prevent_destroy: true }],
    ["{ prevent_destroy: false }", {}],
    ["{ on_immutable_change: replace }", { on_immutable_change: "replace" }],
    ["{ on_immutable_change: error }", { on_immutable_change: "error" }],
    ["{ ignore_changes: [] }", {}],
    ["{ ignore_changes: [custom_tags] }", { ignore_changes: ["custom_tags"] }],
  ])("%j is read", async (text, change) => {
    const { resource, told } = await lifecycle(text);
    expect(told).toEqual([]);
    expect(resource("pools.p").lifecycle).toEqual({
      prevent_destroy: false,
      ignore_changes: [],
      ...change,
    });
  });

  it.each([
    ["node_typ_id", 'did you mean "node_type_id"?'],
    ["zzzzzzzzzz", "write a field, or a dotted path such as members.users"],
  ])("refuses to ignore %s, with a hint", async (field, hint) => {
    const { diagnostics } = await lifecycle(`{ ignore_changes: [${field}] }`);
    expect(diagnostics).toMatchObject([
      {
        code: "SPEC_UNKNOWN_FIELD",
        message: `pools.p: ignore_changes contains "${field}", which is not a field of pools`,
        address: "pools.p",
        at: { line: 1, column: 62 },
        hint,
      },
    ]);
  });

  it("reports an empty entry and a number once each", async () => {
    expect((await lifecycle("{ ignore_changes: ['', 3] }")).told).toHaveLength(2);
  });
});
