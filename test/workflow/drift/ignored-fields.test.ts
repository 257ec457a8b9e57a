// What `drift` says about fields that `lifecycle.ignore_changes` leaves out, through the real program and a service on loopback.

import { describe, expect, test } from "vitest";
import { applied } from "./applied-users.ts";

const SPEC = `users:
  ada@example.com: { displayName: Ada, lifecycle: { ignore_changes: [displayName, entitlements] } }
  bo@example.com: { displayName: Bo }
`;

describe("drift with ignore_changes", () => {
  test("counts the fields that it does not compare in text and JSON", async () => {
    const { run, rename } = await applied(SPEC);
    await rename("ada", "Countess");
    const text = await run("drift");
    expect([text.code, text.all]).toEqual([
      0,
      expect.stringContaining(
        "No drift. The workspace matches the last apply. 2 fields are not compared (ignore_changes).",
      ),
    ]);
    expect((await run("drift", "-o", "json")).all).toContain('"ignored_fields": 2');
    expect((await run("drift", "-o", "markdown")).all).toContain("2 fields are not compared");
  });

  test("counts no field of resources that --only leaves out", async () => {
    const { run } = await applied(SPEC);
    expect((await run("drift", "--only", "users.bo@example.com")).all).not.toContain("not compared");
  });
});
