// A fleet with every status, drift that comes and goes, and hostile names, for the tests of its reports and its picture.

import { error } from "../../../src/core/diagnostic.ts";
import type { WorkspaceResult } from "../../../src/fleet/model/result.ts";
import { fleetView } from "../../../src/fleet/report/fleet-view.ts";
import { workspaceNamed } from "../queue/workspaces.ts";

export const NOW = Date.parse("2026-03-14T09:30:00Z");
const HOUR = 3_600_000;

const drifted = (
  workspace: string,
  hoursAgo: number,
  count: number,
  more: Partial<WorkspaceResult> = {},
) => ({
  workspace,
  command: "drift" as const,
  status: count === 0 ? ("ok" as const) : ("changes" as const),
  startedAt: NOW - hoursAgo * HOUR,
  durationMs: 1_400,
  counts: {},
  drift: count === 0 ? {} : { security: 1, ...(count > 1 ? { cost: count - 1 } : {}) },
  diagnostics: [],
  ...more,
});

const history = (name: string, counts: readonly number[]): readonly WorkspaceResult[] =>
  counts.map((count, at) => drifted(name, 3 + at * 24, count));

const diagnostics = [
  error("API_UNREACHABLE", "cannot connect to <b>https://ml-prod.example</b>", { cause: "ECONNREFUSED" }),
];

const RESULTS: readonly (readonly [string, readonly WorkspaceResult[]])[] = [
  ["ads-prod", history("ads-prod", [4, 3, 3, 1, 0, 0, 2, 0])],
  ["ads-test", history("ads-test", [0, 0, 1, 2, 0])],
  [
    "bi-prod",
    [
      drifted("bi-prod", 1, 0, { command: "plan", status: "blocked", counts: { delete: 12 } }),
      ...history("bi-prod", [0, 1, 0]),
    ],
  ],
  [
    "ml-prod",
    [
      drifted("ml-prod", 2, 0, { status: "failed", diagnostics }),
      drifted("ml-prod", 8, 0, { status: "failed", diagnostics }),
      ...history("ml-prod", [2, 2, 1, 1, 0, 0]),
    ],
  ],
  [
    "ml-test",
    [
      drifted("ml-test", 5, 0, {
        status: "timeout",
        diagnostics: [error("FLEET_TIMEOUT", "the run did not end within 600 s")],
      }),
    ],
  ],
  [
    "web-prod",
    [
      drifted("web-prod", 1, 0, { command: "plan", status: "changes", counts: { create: 3, update: 1 } }),
      ...history("web-prod", [0, 5, 6, 4]),
    ],
  ],
  ["new", []],
];

export const FLEET_VIEW = fleetView(
  {
    workspaces: RESULTS.map(([name]) =>
      workspaceNamed(name, {
        labels: { env: name.endsWith("prod") ? "prod" : "test", team: name.split("-")[0] ?? "" },
      }),
    ),
  },
  new Map(RESULTS),
  NOW,
);
