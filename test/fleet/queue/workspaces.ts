// A workspace of a fleet for tests.

import type { FleetWorkspace } from "../../../src/fleet/model/fleet.ts";

export const workspaceNamed = (name: string, more: Partial<FleetWorkspace> = {}): FleetWorkspace => ({
  name,
  spec: ".",
  variables: {},
  environment: {},
  labels: {},
  timeoutMs: 10_000,
  ...more,
});
