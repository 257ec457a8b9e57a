// A plan, drift, and an outcome in which nothing is empty and every text and number occurs once, so that a form that leaves something out shows it.

import { addressOf, remoteId } from "../../src/core/address.ts";
import { type Diagnostic, error, warning } from "../../src/core/diagnostic.ts";
import { type Change, type ContentDiff, changeKey } from "../../src/planner/model/change.ts";
import type { ApplyOutcome, ChangeOutcome, Plan } from "../../src/planner/model/plan.ts";
import { create, noop, remove, replace, secret, update } from "./plans.ts";

const told = (number: number) => ({
  cause: `cause ${number} from the service`,
  usedAt: [{ file: "workspace.yaml", line: 90 + number, column: 5 }],
  hint: `do ${number} next`,
  at: { file: `team-${number}.yaml`, line: number, column: 7 },
});

const content: ContentDiff = {
  lines: ["@@ -1,1 +1,1 @@", "-print(4101)", "+print(4102)"],
  added: 1,
  removed: 1,
};

const nested: Change = {
  ...update,
  address: addressOf("pools", "nested"),
  name: "other-name",
  cause: "spec",
  content,
  reasons: ["rule 51 asks for it"],
  consequences: ["61 runs stop"],
  diffs: [
    { path: ["limits", "low"], before: 2101, after: 2102, cause: "drift", replaces: false },
    { path: ["limits", "high"], before: 2103, after: 2104, cause: "both", replaces: false },
  ],
  steps: [{ operation: "resize" }],
} as Change;

const later: Change = {
  ...create,
  address: addressOf("pools", "later"),
  name: "later",
  after: { node_type_id: "${pools.new.id}" },
  unresolved: [{ path: ["node_type_id"], parts: [] }],
} as Change;

const found: Change = {
  ...noop,
  address: addressOf("secrets", "etl/unknown-key"),
  kind: "secrets",
  name: "etl/unknown-key",
  action: "report",
  fingerprint: "f",
} as Change;

const old: Change = {
  ...remove,
  address: addressOf("pools", "aside"),
  id: remoteId("id-aside"),
  deposed: true,
} as Change;
const adopted: Change = {
  ...noop,
  address: addressOf("pools", "taken"),
  name: "taken",
  action: "adopt",
  fingerprint: "f",
} as Change;

export const richPlan: Plan = {
  host: "https://rich.example.com",
  modes: ["untrusted"],
  part: { planned: 977, total: 3301 },
  split: {
    base: "origin/rich",
    changes: Object.fromEntries(
      [secret, create, later, update, nested, replace, remove, old, adopted].map((change) => [
        changeKey(change),
        {
          origin: change === update || change === later ? "pending" : "caused",
          fields:
            change === nested
              ? [
                  { path: ["limits", "low"], origin: "pending" },
                  { path: ["limits", "high"], origin: "caused" },
                ]
              : [],
        },
      ]),
    ),
    resolved: [
      { change: { ...remove, address: addressOf("pools", "healed"), name: "healed" } },
      { change: update, fields: [["max_capacity"]] },
    ],
    pendingErrors: [],
  },
  changes: [secret, create, later, update, nested, replace, remove, old, adopted, noop, found],
  drift: [
    {
      address: addressOf("pools", "same"),
      kind: "pools",
      name: "same",
      what: "changed",
      diffs: [{ path: ["max_capacity"], before: 3101, after: 3102, cause: "drift", replaces: false }],
    },
    { address: addressOf("pools", "vanished"), kind: "pools", name: "vanished", what: "deleted", diffs: [] },
    { address: addressOf("pools", "surprise"), kind: "pools", name: "surprise", what: "appeared", diffs: [] },
  ],
  unmanaged: [
    { kind: "pools", name: "theirs", id: "9001" },
    { kind: "secrets", name: "other/password", id: "9002" },
  ],
  guards: [
    { diagnostic: error("GUARD_DATA_LOSS", "data would be lost", told(11)), addresses: [remove.address] },
    {
      diagnostic: warning("GUARD_LOCKOUT", "somebody may be locked out", told(12)),
      addresses: [old.address],
    },
  ],
  diagnostics: [
    error("PLAN_IMMUTABLE", "this cannot change", told(13)),
    warning("PLAN_UNREADABLE", "that could not be read", told(14)),
  ],
};

/** Findings about the run around the plan. */
export const richNotes: readonly Diagnostic[] = [warning("STATE_KEY", "the key lies open", told(15))];

const change = (
  name: string,
  result: ChangeOutcome["result"],
  rest: Partial<ChangeOutcome> = {},
): ChangeOutcome => ({
  address: addressOf("pools", name),
  kind: "pools",
  action: "create",
  result,
  elapsedMs: 1200,
  ...rest,
});

export const richOutcome: ApplyOutcome = {
  changes: [
    change("made", "applied", { id: "id-made" }),
    change("refused", "failed", { diagnostic: error("API_REFUSED", "no room left", told(21)) }),
    change("lost", "unknown", { diagnostic: error("API_UNKNOWN_OUTCOME", "no answer came", told(22)) }),
    change("moved", "skipped", { diagnostic: error("PLAN_LIVE_MOVED", "it moved meanwhile", told(23)) }),
    change("waiting", "blocked", {
      blockedBy: addressOf("pools", "refused"),
      diagnostic: error(
        "APPLY_BLOCKED",
        "pools.waiting is blocked because pools.refused was not applied",
        told(24),
      ),
    }),
    change("stopped", "skipped", {
      diagnostic: warning(
        "APPLY_INTERRUPTED",
        "pools.stopped was not started because the run was stopped",
        told(25),
      ),
    }),
  ],
  diagnostics: [error("STATE_IO", "the state was not written", told(26))],
  interrupted: true,
  elapsedMs: 5000,
};
