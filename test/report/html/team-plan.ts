// A plan of a data team over the real kinds, of any size: updates that repeat, access and cost changes, deletions, drift,
// side effects, and secrets without values, in the proportions of a real workspace.

import { addressOf, remoteId } from "../../../src/core/address.ts";
import { error, warning } from "../../../src/core/diagnostic.ts";
import type { Json } from "../../../src/core/json.ts";
import type { Change, ContentDiff } from "../../../src/planner/model/change.ts";
import type { Drift, Plan } from "../../../src/planner/model/plan.ts";
import { registry } from "../../../src/providers/index.ts";
import { driftView } from "../../../src/report/view/drift-view.ts";
import { planView } from "../../../src/report/view/plan-view.ts";

type Field = readonly [path: readonly string[], before: Json | undefined, after: Json | undefined];

const common = (kind: string, name: string, consequences: readonly string[] = []) => ({
  address: addressOf(kind, name),
  kind,
  name,
  cause: "spec" as const,
  reasons: [],
  consequences,
  dependsOn: [],
});

const existing = (number: number) => ({
  id: remoteId(`0${number}-${(number * 7919) % 100_000}-pool`),
  before: {},
  fingerprint: "f",
});

function update(
  kind: string,
  name: string,
  number: number,
  fields: readonly Field[],
  consequences?: readonly string[],
): Change {
  const diffs = fields.map(([path, before, after]) => ({
    path,
    before,
    after,
    cause: "spec" as const,
    replaces: false,
  }));
  return {
    ...common(kind, name, consequences),
    ...existing(number),
    action: "update",
    after: {},
    unresolved: [],
    diffs: diffs as never,
    steps: [{ operation: "edit" }],
  };
}

const create = (kind: string, name: string, after: Readonly<Record<string, Json>>): Change => ({
  ...common(kind, name),
  action: "create",
  after,
  unresolved: [],
});

const remove = (kind: string, name: string, number: number, consequences: readonly string[]): Change => ({
  ...common(kind, name, consequences),
  ...existing(number),
  action: "delete",
});

const content: ContentDiff = {
  lines: [
    "@@ -1,3 +1,3 @@",
    " import spark",
    "-frame = read('raw')",
    "+frame = read('bronze')",
    " frame.show()",
  ],
  added: 1,
  removed: 1,
};

const TEAMS = ["ads", "billing", "core", "data", "events", "fraud", "growth"];
const RESTARTS = "the cluster is running and restarts to apply the changes";
const STOPS = "1 active run on it stops";
const MAILS = "its run history is no longer available";

/** The change with this number. */
function changeAt(number: number): Change {
  const team = TEAMS[number % TEAMS.length] ?? "ads";
  const name = `${team}-${number}`;
  const version: Field = [["spark_version"], "6.4.x-scala2.11", "7.3.x-scala2.12"];
  switch (number % 20) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return update("clusters", name, number, [version], number % 3 === 0 ? [RESTARTS, STOPS] : [RESTARTS]);
    case 5:
    case 6:
      return update("jobs", name, number, [[["new_cluster", "spark_version"], version[1], version[2]]]);
    case 7:
      return update("clusters", name, number, [[["num_workers"], 2 + (number % 7), 10 + (number % 9)]]);
    case 8:
      return update("pools", name, number, [[["min_idle_instances"], 0, number % 11]]);
    case 9:
      return update("acls", `${team}/people-${number}@example.com`, number, [
        [["permission"], "READ", "WRITE"],
      ]);
    case 10:
      return update("groups", name, number, [
        [
          ["members", "users"],
          [`ada-${number}@example.com`],
          [`ada-${number}@example.com`, `bob-${number}@example.com`],
        ],
      ]);
    case 11:
    case 12:
      return create("directories", `/Shared/${team}/${number}`, {});
    case 13:
      return create("secrets", `${team}/token-${number}`, { value: "0123456789abcdef0123456789abcdef" });
    case 14:
      return {
        ...update("notebooks", `/Shared/${team}/etl-${number}`, number, [[["content"], "a", "b"]]),
        content,
      } as Change;
    case 15:
      return create("jobs", name, {
        name,
        max_retries: number % 4,
        existing_cluster_id: `\${clusters.${team}.cluster_id}`,
      });
    case 16:
      return {
        ...update("jobs", name, number, [[["timeout_seconds"], 3600, 7200]]),
        cause: "both",
      } as Change;
    case 17:
      return update("pools", name, number, [[["custom_tags", "team"], team, `${team}-platform`]]);
    case 18:
      return number % 100 === 18
        ? remove("clusters", name, number, ["the cluster is running and is permanently deleted", STOPS])
        : update("jobs", name, number, [[["max_retries"], 1, 3]]);
    default:
      return number % 60 === 19
        ? remove("jobs", name, number, [MAILS])
        : update("clusters", name, number, [[["autotermination_minutes"], 120, 30]], [RESTARTS]);
  }
}

function driftAt(number: number): Drift {
  const address = addressOf("jobs", `${TEAMS[number % TEAMS.length]}-${number * 20 + 16}`);
  const diff = {
    path: ["timeout_seconds"],
    before: 3600,
    after: 1800,
    cause: "drift",
    replaces: false,
  } as const;
  return {
    address,
    kind: "jobs",
    name: `job ${number}`,
    what: "changed",
    diffs: [diff],
    origin: { creator: "ada@example.com" },
  };
}

/** `guarded`: a guard refuses the plan. */
export function teamPlan(size: number, guarded = false): Plan {
  const changes = Array.from({ length: size }, (_, at) => changeAt(size < 20 ? at * 3 + 4 : at));
  const secrets = changes.filter(({ kind, action }) => kind === "secrets" && action === "create");
  return {
    host: "https://adb-1234567890123456.7.azuredatabricks.net",
    changes,
    drift: Array.from({ length: Math.ceil(size / 40) }, (_, at) => driftAt(at)),
    unmanaged: Array.from({ length: Math.ceil(size / 30) }, (_, at) => ({
      kind: "clusters",
      name: `adhoc-${at}`,
      id: `${at}`,
    })),
    guards: guarded
      ? [
          {
            diagnostic: error("GUARD_MAX_DELETES", "the plan deletes 7 of 60 objects (limit: 5)", {
              hint: "check for a missing file or target, or raise policy.max_deletes if you intend these deletions",
            }),
            addresses: changes.filter(({ action }) => action === "delete").map(({ address }) => address),
          },
        ]
      : [],
    diagnostics: secrets.map(({ address }, at) =>
      warning(
        "SPEC_SECRET_UNSET",
        `the value of ${address} is unknown: the environment variable TOKEN_${at} is not set`,
        {
          address,
          hint: `set TOKEN_${at} where apply runs; apply writes the secret if it differs`,
          at: { file: "secrets.yaml", line: at + 2, column: 7 },
        },
      ),
    ),
  };
}

export const teamView = (size: number, guarded?: boolean) =>
  planView(teamPlan(size, guarded), registry, {
    places: (address) => ({ file: "workspace.yaml", line: 10 + address.length, column: 3 }),
  });

export const teamDrift = (size: number) => driftView(teamPlan(size), 1, registry);
