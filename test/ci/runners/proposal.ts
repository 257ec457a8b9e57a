// The life of the pull request that accepts drift, the same on every platform.

import { expect } from "vitest";
import { type Site, type StepResult, specOf } from "./pipeline.ts";

const BRANCH = "workspace-drift-default";

/** `run`: one run of the job that accepts drift. The spec of the default branch declares a capacity of 10. */
export async function expectProposal(site: Site, run: () => Promise<StepResult>): Promise<void> {
  const committed = (): string => `${site.git(site.origin, "show", `${BRANCH}:workspace.yaml`)}\n`;
  site.commit({ "workspace.yaml": specOf(10) }, "refs/heads/main");
  await site.changePool(33);
  const opened = await run();
  expect({ code: opened.code, output: opened.output }).toMatchObject({ code: 0 });
  expect(opened.output).toContain("Pull request: opened.");
  expect(opened.output).not.toContain("api-token");
  expect(site.host.proposals).toMatchObject([
    { branch: BRANCH, base: "main", title: "Accept drift: default", open: true },
  ]);
  expect(site.host.proposals[0]?.body).toContain("pools.shared /max_capacity: 10 → 33 (workspace.yaml:2)");
  expect(committed()).toBe(specOf(33));
  expect(site.git(site.origin, "diff", "--name-only", "main", BRANCH)).toBe("workspace.yaml");
  await site.changePool(34);
  expect((await run()).output).toContain("Pull request: updated.");
  expect(committed()).toBe(specOf(34));
  expect(site.host.proposals[0]?.body).toContain("10 → 34");
  await site.changePool(10);
  expect((await run()).output).toContain("Pull request: closed.");
  expect(site.host.proposals.map(({ open }) => open)).toEqual([false]);
}
