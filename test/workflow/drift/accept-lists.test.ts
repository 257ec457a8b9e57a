// `drift accept` of lists with comments, through the real program and a service on loopback.

import { expect, test } from "vitest";
import { applied } from "./applied-users.ts";

test("the comment above a member that leaves is removed, when another member comes", async () => {
  const spec = `users: { ada@example.com: {}, bo@example.com: {}, cy@example.com: {} }
groups:
  data:
    members:
      users:
        # the boss
        - ada@example.com
        # the deputy
        - bo@example.com
`;
  const { run, leave, enter, file } = await applied(spec);
  await leave("data", "bo");
  await enter("data", "cy");
  expect(await run("drift", "accept", "*")).toMatchObject({ code: 0 });
  expect(file()).toBe(spec.replace("        # the deputy\n        - bo@", "        - cy@"));
  await leave("data", "ada");
  await leave("data", "cy");
  await enter("data", "bo");
  expect(await run("drift", "accept", "*")).toMatchObject({ code: 0 });
  expect(file()).toContain("      users:\n        - bo@example.com\n");
});
