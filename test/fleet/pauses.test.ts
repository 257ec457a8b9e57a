import { expect, test } from "vitest";
import { isPauseOf } from "../../src/fleet/database/pauses.ts";

test("a pause is found by the labels and the command that it was made for", () => {
  const pause = { workspaces: [], select: ["env=prod", "team=ml"], command: "apply" } as const;
  const wanted = (select: readonly string[], command?: "apply" | "drift") =>
    isPauseOf(pause, { select, ...(command === undefined ? {} : { command }) });
  expect(wanted([])).toBe(true);
  expect(wanted(["team=ml", "env=prod"])).toBe(true);
  expect(wanted(["env=prod"])).toBe(false);
  expect([wanted([], "apply"), wanted([], "drift")]).toEqual([true, false]);
});
