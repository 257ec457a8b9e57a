// `drift accept` in files with a sensitive value in plain text: it may stay where it is, and is never written.

import { describe, expect, test } from "vitest";
import { applied } from "./applied-users.ts";

const VALUE = "Qwer7890Zed";
const ONE_LINE = `variables: { key: { type: string, sensitive: true, default: ${VALUE} }, name: { type: string, default: Same } }
`;
const USERS = `users:
  ada@example.com: { displayName: "\${var.name}" }
  bo@example.com: { externalId: "\${var.key}" }
`;

describe("a line that already contains a sensitive value", () => {
  test("is edited if the accepted value is another one", async () => {
    const { run, rename, file } = await applied(ONE_LINE + USERS);
    await rename("ada", "New");
    const { code, all } = await run("drift", "accept", "*");
    expect([code, all]).toEqual([0, expect.not.stringContaining(VALUE)]);
    expect(file()).toBe(ONE_LINE.replace("Same", "New") + USERS);
  });

  test("stays if the accepted value contains the sensitive one", async () => {
    const { run, rename, file } = await applied(ONE_LINE + USERS);
    await rename("ada", `x ${VALUE}`);
    const { code, all } = await run("drift", "accept", "*");
    expect([code, all]).toEqual([1, expect.stringContaining("error DRIFT_NOT_ACCEPTED: ")]);
    expect(all).not.toContain(VALUE);
    expect(file()).toBe(ONE_LINE + USERS);
  });
});
