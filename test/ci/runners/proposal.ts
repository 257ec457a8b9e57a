// The life of the pull request that accepts drift, the same on every platform: its branch is pushed to a Git server that checks the token.

import { dirname } from "node:path";
import { expect } from "vitest";
import { TOKEN } from "../code-host/code-host.ts";
import { startGitServer } from "./git-server.ts";
import { type Site, type StepResult, specOf } from "./pipeline.ts";

const BRANCH = "workspace-drift-default";

/** How a platform pushes: the header that it requires, and the user in the address of origin that its runner leaves. */
export interface PushStyle {
  readonly authorization: string;
  readonly user?: string;
}

/** `run`: one run of the job that accepts drift. The spec of the default branch declares a capacity of 10. */
export async function expectProposal(
  site: Site,
  { authorization, user }: PushStyle,
  run: () => Promise<StepResult>,
): Promise<void> {
  const committed = (): string => `${site.git(site.origin, "show", `${BRANCH}:workspace.yaml`)}\n`;
  const origin = (url: string): string =>
    `${user === undefined ? url : url.replace("//", `//${user}@`)}/origin.git`;
  const folder = dirname(site.origin);
  const server = await startGitServer(folder, authorization);
  const refusing = await startGitServer(folder, "Bearer of-another-user");
  try {
    site.git(site.origin, "config", "http.receivepack", "true");
    site.commit({ "workspace.yaml": specOf(10) }, "refs/heads/main");
    site.checkoutConfig = { "remote.origin.url": origin(server.url) };
    await site.changePool(33);
    const opened = await run();
    expect({ code: opened.code, output: opened.output }).toMatchObject({ code: 0 });
    expect(opened.output).toContain("Pull request: opened.");
    expect(opened.output).not.toContain(TOKEN);
    expect(site.host.proposals).toMatchObject([
      { branch: BRANCH, base: "main", title: "Accept drift: default", open: true },
    ]);
    expect(site.host.proposals[0]?.body).toContain("pools.shared max_capacity: 10 → 33 (workspace.yaml:2)");
    expect(committed()).toBe(specOf(33));
    expect(site.git(site.origin, "diff", "--name-only", "main", BRANCH)).toBe("workspace.yaml");
    await site.changePool(34);
    expect((await run()).output).toContain("Pull request: updated.");
    expect(committed()).toBe(specOf(34));
    expect(site.host.proposals[0]?.body).toContain("10 → 34");
    // Some checkouts keep the credential of the platform.
    const kept = `http.${server.url}/.extraheader`;
    site.checkoutConfig = { ...site.checkoutConfig, [kept]: "AUTHORIZATION: basic b2xkOnRva2Vu" };
    await site.changePool(35);
    const again = await run();
    expect({ code: again.code, output: again.output }).toMatchObject({ code: 0 });
    expect(committed()).toBe(specOf(35));
    const pushes = server.requests().filter((request) => request.startsWith("POST "));
    expect(pushes).toEqual(pushes.map(() => `POST /origin.git/git-receive-pack ${authorization}`));
    expect(pushes.length).toBeGreaterThanOrEqual(3);
    site.checkoutConfig = { "remote.origin.url": origin(refusing.url) };
    await site.changePool(36);
    const refused = await run();
    expect(refused.code).toBe(1);
    expect(refused.output).toContain("error: git push failed");
    expect(refused.output).not.toContain(TOKEN);
    expect(refused.output).not.toContain("Pull request:");
    expect(committed()).toBe(specOf(35));
    await site.changePool(10);
    expect((await run()).output).toContain("Pull request: closed.");
    expect(site.host.proposals.map(({ open }) => open)).toEqual([false]);
  } finally {
    server.close();
    refusing.close();
  }
}
