// The command that a report names as the next step, pasted into a shell.

import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { nextOfDrift } from "../../../src/report/view/next-step.ts";

const NAMES = ["prod`$(echo executed >&2)`eu", "`'$(echo executed >&2)'", "back\\slash` \\x60", "it's `it`"];

function commandFor(target: string): string {
  const view = { drift: [{ open: "new" }] } as never;
  const info = { command: "drift", host: "h", at: "", version: "0", target } as never;
  const [, command = ""] = (nextOfDrift(view, info) ?? "").split("`");
  return command;
}

test.each(NAMES)("passes the whole target, also with backticks: %s", (target) => {
  const script = `workspace() { printf '%s\\n' "$@"; }; ${commandFor(target)}`;
  const { stdout, stderr } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect([stdout, stderr]).toEqual([`apply\n--target\n${target}\n`, ""]);
});

test.each(NAMES)("executes no part of a target in another shell: %s", (target) => {
  const { stderr } = spawnSync("sh", ["-c", `workspace() { :; }; ${commandFor(target)}`], {
    encoding: "utf8",
  });
  expect(stderr).toBe("");
});

describe("the next steps of drift", () => {
  const item = (address: string, more: object = {}) => ({
    open: "security",
    isInSpec: false,
    address,
    ...more,
  });
  const secret = (key: string) => item(`secrets.s/${key}`, { isKept: true });
  const steps = (...drift: readonly object[]) => nextOfDrift({ drift } as never, undefined);

  test("are to apply, to accept, and to acknowledge", () => {
    expect(steps(item("pools.p"))).toBe(
      "to undo drift, run `workspace apply`; to keep a change, `workspace drift accept ADDRESS`; to keep it for a time, `workspace drift acknowledge ADDRESS --until DATE --reason TEXT`",
    );
  });

  test("of a secret that appeared are to declare it, to delete it, and to acknowledge it, because no plan deletes it", () => {
    expect(steps(secret("extra"))).toBe(
      "declare secrets.s/extra, or delete it in the workspace: no plan does; to keep it for a time, `workspace drift acknowledge ADDRESS --until DATE --reason TEXT`",
    );
    expect(steps(secret("a"), secret("b"), item("pools.p"))).toMatch(
      /^to undo drift, run .*; to keep a change, .*; declare the 2 secrets that appeared, or delete them in the workspace: no plan does; to keep/,
    );
  });

  test("of drift that the spec already has are to record it, with no word of undo or accept", () => {
    const accepted = (name: string) => item(`pools.${name}`, { isInSpec: true, open: undefined });
    expect(steps(accepted("p"))).toBe("the spec already has pools.p: to record it, run `workspace apply`");
    expect(steps(accepted("p"), accepted("q"), item("pools.r"))).toMatch(
      /^to undo drift, .*; to keep it for a time, .*; the spec already has 2 of these resources: to record them, run `workspace apply --only pools.p --only pools.q`$/,
    );
    const acknowledged = item("pools.r", { open: undefined });
    expect(steps(accepted("p"), acknowledged)).toBe(
      "the spec already has pools.p: to record it, run `workspace apply --only pools.p`",
    );
    expect(steps(...["a", "b", "c", "d"].map(accepted), acknowledged)).toBe(
      "the spec already has 4 of these resources: to record them, run `workspace apply --only ADDRESS`",
    );
  });
});
