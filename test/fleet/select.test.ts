// Selecting workspaces by name and label.

import { describe, expect, test } from "vitest";
import type { FleetWorkspace } from "../../src/fleet/model/fleet.ts";
import { selectWorkspaces } from "../../src/fleet/selection.ts";

const workspace = (name: string, labels: Record<string, string>): FleetWorkspace => ({
  name,
  spec: ".",
  host: "h",
  variables: {},
  environment: {},
  labels,
  timeoutMs: 1000,
});

const ALL = [
  workspace("ads", { env: "prod", team: "ads" }),
  workspace("lab", { env: "test" }),
  workspace("web", { env: "prod", team: "web", legacy: "yes" }),
];

const selected = (selectors: readonly string[], names: readonly string[] = []) =>
  selectWorkspaces(ALL, names, selectors).map(({ name }) => name);

describe("a selection", () => {
  test.each([
    [["env=prod"], ["ads", "web"]],
    [["env==prod", "team!=web"], ["ads"]],
    [["team"], ["ads", "web"]],
    [["!team"], ["lab"]],
    [["team!=web"], ["ads", "lab"]],
    [["team notin (ads)"], ["lab", "web"]],
    [["env in (test, dev)"], ["lab"]],
    [["team notin (ads),env=prod"], ["web"]],
    [["env=prod,!legacy"], ["ads"]],
    [[], ["ads", "lab", "web"]],
  ])("with %j contains %j", (selectors, expected) => {
    expect(selected(selectors)).toEqual(expected);
  });

  test("of names and labels contains what matches both", () => {
    expect(selected(["env=prod"], ["ads", "lab"])).toEqual(["ads"]);
  });

  test.each([
    [["env=="], [], '"env==" is not a valid label selector'],
    [["env in ()"], [], '"env in ()" is not a valid label selector'],
    [["constructor"], [], "no workspace of the fleet matches the selection"],
    [["toString in (prod)"], [], "no workspace of the fleet matches the selection"],
    [["env in prod"], [], '"env in prod" is not a valid label selector'],
    [["env=dev"], [], "no workspace of the fleet matches the selection"],
    [[], ["adz"], 'the fleet has no workspace "adz"'],
  ])("with selectors %j and names %j is refused", (selectors, names, message) => {
    expect(() => selected(selectors, names)).toThrow(message);
  });
});
