// Small plans of every action, over a registry of two kinds, for the renderers' tests.

import { addressOf, remoteId } from "../../src/core/address.ts";
import { error } from "../../src/core/diagnostic.ts";
import type { Change } from "../../src/planner/model/change.ts";
import type { Plan } from "../../src/planner/model/plan.ts";
import type { RunInfo } from "../../src/report/text/run-info.ts";
import { planView } from "../../src/report/view/plan-view.ts";
import type { FieldTable } from "../../src/resource/field-schema.ts";
import { type Provider, registryOf } from "../../src/resource/kind.ts";

const never = () => Promise.reject(new Error("no renderer calls a verb"));

const pools: FieldTable = {
  node_type_id: { type: "string", onChange: "replace", description: "Machine type." },
  max_capacity: { type: "integer", default: 10 },
  tags: { type: "object", additionalProperties: { type: "string" } },
  versions: { type: "array", list: "set", items: { type: "string" } },
  tasks: {
    type: "array",
    list: { key: "name" },
    items: { type: "object", properties: { name: { type: "string" } } },
  },
};
const secrets: FieldTable = { value: { type: "string", sensitive: true, writeOnly: true } };

function kind(name: string, fields: FieldTable): Provider {
  return {
    kind: name,
    singular: name,
    description: `${name}.`,
    fields,
    nameField: name === "pools" ? "name" : undefined,
    unique: true,
    idAttribute: "id",
    creationRecovery: "client-named",
    replaceStrategy: "create-first",

    planning: {},

    operations: {
      list: never,
      read: never,
      create: never,
      update: never,
      delete: never,
    },
  };
}

export const registry = registryOf([kind("pools", pools), kind("secrets", secrets)]);

const common = (kind: string, name: string) => ({
  address: addressOf(kind, name),
  kind,
  name,
  cause: "spec" as const,
  reasons: [],
  consequences: [],
  dependsOn: [],
});
const existing = (before = {}) => ({
  id: remoteId(`id-${Object.keys(before).length}`),
  before,
  fingerprint: "f",
});

export const create: Change = {
  ...common("pools", "new"),
  action: "create",
  after: { node_type_id: "small", max_capacity: 20, tags: { team: "data" } },
  unresolved: [],
};

export const secret: Change = {
  ...common("secrets", "etl/password"),
  action: "create",
  after: { value: "0123456789abcdef" },
  unresolved: [],
};

export const update: Change = {
  ...common("pools", "shared"),
  ...existing({ max_capacity: 10, node_type_id: "small", versions: ["a", "b"] }),
  action: "update",
  cause: "both",
  after: { max_capacity: 50, node_type_id: "small", versions: ["b", "c"] },
  unresolved: [],
  diffs: [
    { path: ["max_capacity"], before: 10, after: 50, cause: "both", replaces: false },
    { path: ["versions"], before: ["a", "b"], after: ["b", "c"], cause: "drift", replaces: false },
  ],
  steps: [{ operation: "edit" }],
  consequences: ["2 running clusters restart"],
};

const because = {
  path: ["node_type_id"],
  before: "small",
  after: "large",
  cause: "spec",
  replaces: true,
} as const;

export const replace: Change = {
  ...common("pools", "old"),
  ...existing({ node_type_id: "small" }),
  action: "replace",
  after: { node_type_id: "large" },
  unresolved: [],
  diffs: [because],
  because: [because],
  replacing: "create-first",
  removeAfter: [],
  reasons: ["node_type_id cannot be changed in place"],
};

export const remove: Change = { ...common("pools", "gone"), ...existing(), action: "delete" };
export const noop: Change = {
  ...common("pools", "same"),
  ...existing(),
  action: "noop",
  after: {},
  unresolved: [],
};

export function planOf(changes: readonly Change[], rest: Partial<Plan> = {}): Plan {
  return {
    host: "https://ws.example.com",
    changes,
    drift: [],
    unmanaged: [],
    guards: [],
    diagnostics: [],
    ...rest,
  };
}

export const INFO: RunInfo = {
  toolVersion: "1.2.3",
  host: "https://ws.example.com",
  target: "prod",
  commit: "fedcba98".repeat(5),
  madeAt: "2026-11-22T08:00:00Z",
  runUrl: "https://ci.example.com/runs/7",
  repositoryUrl: "https://git.example.com/team/data",
  spec: "workspace.yaml",
  checkout: { root: "/repo", cwd: "/repo/prod" },
  modes: [],
};

/** The data of the reports. */
export const viewOf = (plan: Plan) => planView(plan, registry);

export const everything = planOf([secret, create, update, replace, remove, noop], {
  drift: [
    {
      address: addressOf("pools", "same"),
      kind: "pools",
      name: "same",
      what: "changed",
      diffs: [{ path: ["max_capacity"], before: 7, after: 5, cause: "drift", replaces: false }],
    },
  ],
  unmanaged: [{ kind: "pools", name: "theirs", id: "9" }],
  guards: [
    {
      diagnostic: error("GUARD_PREVENT_DESTROY", "pools.gone would be deleted, but prevent_destroy is set", {
        hint: "take it away",
      }),
      addresses: [addressOf("pools", "gone")],
    },
  ],
});
