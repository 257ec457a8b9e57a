// The pull request that accepts drift: its branch, its text, and the APIs of the platforms.

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { acceptedDrift, branchOf, type Proposing, propose } from "../../ci/lib/accept.ts";
import { readSettings } from "../../ci/lib/settings.ts";
import { CodeHost } from "./code-host/code-host.ts";
import { PLATFORMS } from "./code-host/platforms.ts";
import { argumentsIn, basic, startGitServer } from "./runners/git-server.ts";

let host: CodeHost;
beforeEach(async () => {
  host = await CodeHost.start();
});
afterEach(() => host.close());

describe.each(PLATFORMS)("the pull request of $name", (platform) => {
  test("is found by its branch, updated, and closed, and others, such as one of a fork, are not changed", async () => {
    const pulls = platform.pullRequests(host);
    const request = {
      branch: "workspace-drift-prod",
      base: "main",
      title: "Accept drift: prod",
      body: "one",
    };
    host.propose({ branch: "other", base: "main", title: "x", body: "x" });
    expect(await pulls.find(request.branch)).toBeUndefined();
    await pulls.create(request);
    const id = (await pulls.find(request.branch)) ?? "";
    await pulls.update(id, { ...request, base: "release", title: "Accept drift: prod (team)", body: "two" });
    expect(host.proposals.map(({ base, title, body, open }) => [base, title, body, open])).toEqual([
      ["main", "x", "x", true],
      ["release", "Accept drift: prod (team)", "two", true],
    ]);
    await pulls.close(id);
    expect(host.proposals.map(({ open }) => open)).toEqual([true, false]);
    expect(await pulls.find(request.branch)).toBeUndefined();
  });

  test("names the missing right when the token may not open one", async () => {
    host.faults.push({ match: /^POST /, status: 403, times: 9 });
    const pulls = platform.pullRequests(host);
    await expect(pulls.create({ branch: "b", base: "main", title: "t", body: "x" })).rejects.toThrow(
      /needs the right/,
    );
  });
});

const PUSH_TOKEN = "push token%2F";

test.each([
  ["github", basic("x-access-token", PUSH_TOKEN)],
  ["gitlab", basic("oauth2", PUSH_TOKEN)],
  ["azure", `Bearer ${PUSH_TOKEN}`],
] as const)(
  "the branch is pushed to %s with the token, which no argument of a process contains, the git settings of the job, and the file that a link leads to",
  async (platform, authorization) => {
    const folder = mkdtempSync(join(tmpdir(), "accept-"));
    const token = PUSH_TOKEN;
    const server = await startGitServer(folder, authorization);
    const git = (cwd: string, ...args: readonly string[]) => {
      const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
      return spawnSync("git", [...identity, ...args], { cwd, encoding: "utf8" }).stdout.trim();
    };
    try {
      const [bare, cwd, trace] = ["infra.git", "checkout", "trace.json"].map((name) =>
        join(folder, name),
      ) as [string, string, string];
      git(folder, "init", "--quiet", "--bare", "--initial-branch=main", bare);
      git(bare, "config", "http.receivepack", "true");
      git(folder, "clone", "--quiet", bare, cwd);
      writeFileSync(join(cwd, "main.yaml"), "old\n");
      symlinkSync("main.yaml", join(cwd, "workspace.yaml"));
      git(cwd, "add", "--all");
      git(cwd, "commit", "--quiet", "--message", "first");
      git(cwd, "push", "--quiet", "origin", "HEAD:main");
      // The platform's own credential in the URL is not used.
      const { port } = new URL(server.url);
      const url = `http://job:secret@git.invalid:${port}/infra.git`;
      git(cwd, "remote", "set-url", "origin", url);
      writeFileSync(join(cwd, "workspace.yaml"), "new\n");
      writeFileSync(join(cwd, "other.txt"), "not a file of the spec\n");
      const env = {
        ...{ PATH: process.env.PATH, HOME: folder, GIT_TRACE2_EVENT: trace, GIT_TRACE2_REDACT: "0" },
        ...{ GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "http.curloptResolve" },
        GIT_CONFIG_VALUE_0: `git.invalid:${port}:127.0.0.1`,
      };
      const pulls = (
        PLATFORMS.find(({ name }) => name.toLowerCase() === platform) ?? PLATFORMS[0]
      )?.pullRequests(host);
      const proposing = {
        ...{ cwd, env, platform, token, base: "main", body: "x" },
        subject: { target: "prod", folder: "." },
        accepted: { report: "x", files: ["workspace.yaml"] },
      };
      if (pulls === undefined) throw new Error("no platform");
      expect(await propose(pulls, proposing)).toBe("opened");
      expect(git(bare, "show", "workspace-drift-prod:workspace.yaml")).toBe("main.yaml");
      expect(git(bare, "show", "workspace-drift-prod:main.yaml")).toBe("new");
      expect(git(bare, "diff", "--name-only", "main", "workspace-drift-prod")).toBe("main.yaml");
      const words = argumentsIn(trace);
      expect(words.some((text) => text.includes("push"))).toBe(true);
      const secrets = [token, authorization.replace(/^\w+ /, "")];
      expect(words.filter((text) => secrets.some((secret) => text.includes(secret)))).toEqual([]);
      await expect(propose(pulls, { ...proposing, base: undefined })).rejects.toThrow(
        "needs a run of a branch",
      );
    } finally {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test.each([
  ["prod", ".", "workspace-drift-prod"],
  ["prod", "specs/a", "workspace-drift-specs.2fa+prod"],
  ["a..b~^:?*[\\ x", ".", "workspace-drift-a.2e.2eb.7e.5e.3a.3f.2a.5b.5c.20x"],
])("the branch of the target %j in %s is %s", (target, folder, branch) => {
  expect(branchOf({ target, folder })).toBe(branch);
});

test.each([
  [
    { target: "a/b", folder: "." },
    { target: "b", folder: "a" },
  ],
  [
    { target: "b/c", folder: "a" },
    { target: "c", folder: "a/b" },
  ],
  [
    { target: "/b", folder: "." },
    { target: "\u02fb", folder: "." },
  ],
  [
    { target: "a+b", folder: "." },
    { target: "b", folder: "a" },
  ],
])("the branches of %j and %j differ", (one, other) => {
  expect(branchOf(one)).not.toBe(branchOf(other));
});

test("the text of the pull request shows invisible characters of live values as escapes", () => {
  const accepted = acceptedDrift(
    JSON.stringify({
      accepted: [
        {
          address: "pools.a",
          what: "changed",
          fields: [{ path: ["custom_tags", "k\n\u202e"], before: "a\u200b", after: "\u2066x" }],
        },
      ],
      without_drift: ["pools.b\u200d"],
      files: [{ path: "w.yaml" }],
      refused: [{ message: "pools.c\u202e: refused", hint: "write \u200b by hand" }],
    }),
  );
  expect(accepted?.report).toContain('pools.a custom_tags["k\\n\\u202e"]: "a\\u200b" → "\\u2066x"\n```');
  expect(accepted?.report).toContain("pools.b\\u200d");
  expect(accepted?.report).toContain("pools.c\\u202e: refused; write \\u200b by hand");
});

test.each(PLATFORMS)(
  "a run of $name that can accept nothing closes the pull request, whose text says why",
  async (platform) => {
    const pulls = platform.pullRequests(host);
    const branch = branchOf({ target: "prod", folder: "team" });
    await pulls.create({ branch, base: "main", title: "Accept drift: prod", body: "old" });
    const refused = [{ message: "pools.a: it is sensitive", hint: "apply" }];
    const accepted = acceptedDrift(JSON.stringify({ accepted: [], files: [], refused }));
    if (accepted === undefined) throw new Error("not an answer");
    const proposing: Proposing = {
      ...{ cwd: ".", env: {}, platform: "github" as const, token: "t", base: "main", body: accepted.report },
      ...{ subject: { target: "prod", folder: "team" }, accepted },
    };
    expect(await propose(pulls, proposing)).toBe("closed");
    expect(host.proposals.map(({ title }) => title)).toEqual(["Accept drift: prod (team)"]);
    expect(host.proposals.map(({ body, open }) => [body, open])).toEqual([
      [
        "None of the drift that is left can be accepted.\n\nNot accepted:\n\n```text\npools.a: it is sensitive; apply\n```\n",
        false,
      ],
    ]);
    expect(await propose(pulls, proposing)).toBe("nothing to propose");
  },
);

test("the text of the pull request lists what is accepted, and what is not and why, inside fences", () => {
  const answer = {
    accepted: [
      {
        address: "pools.a",
        what: "changed",
        fields: [
          { path: ["max_capacity"], before: 10, after: "```\n@everyone", at: { file: "w.yaml", line: 2 } },
        ],
      },
      { address: "jobs.old", what: "deleted", fields: [] },
    ],
    files: [{ path: "w.yaml" }],
    refused: [{ message: "pools.b: max_capacity comes from an expression", hint: "change it by hand" }],
  };
  const accepted = acceptedDrift(JSON.stringify(answer));
  expect(accepted?.files).toEqual(["w.yaml"]);
  expect(accepted?.report.split("\n")).toEqual(
    expect.arrayContaining([
      "````text",
      'pools.a max_capacity: 10 → "```\\n@everyone" (w.yaml:2)',
      "jobs.old: deleted",
      "Not accepted:",
      "pools.b: max_capacity comes from an expression; change it by hand",
    ]),
  );
  expect(acceptedDrift("error")).toBeUndefined();
});

test("the text of the pull request says that the spec has every live value already, when no file changes", () => {
  const accepted = [
    { address: "pools.a", what: "changed", fields: [] },
    { address: "jobs.old", what: "deleted", fields: [] },
  ];
  expect(acceptedDrift(JSON.stringify({ accepted, files: [], refused: [] }))?.report).toBe(
    "No drift is left to accept.\n\nThe spec has this drift already, and the next apply records it:\n\n```text\npools.a\njobs.old\n```\n",
  );
});

test("the text of the pull request separates what the spec has already from what it declares", () => {
  const fields = [{ path: ["max_capacity"], before: 10, after: 9, at: { file: "w.yaml", line: 2 } }];
  const accepted = [
    { address: "pools.a", what: "changed", fields },
    { address: "pools.b", what: "changed", fields: [] },
    { address: "notebooks./n", what: "changed", fields: [], content: "n.py" },
  ];
  const report = acceptedDrift(
    JSON.stringify({ accepted, files: [{ path: "w.yaml" }], refused: [] }),
  )?.report;
  expect(report).toContain(
    "```text\npools.a max_capacity: 10 → 9 (w.yaml:2)\nnotebooks./n: content → n.py\n```\n",
  );
  expect(report).toContain(
    "The spec has this drift already, and the next apply records it:\n\n```text\npools.b\n```\n",
  );
});

test("the text of the pull request says what else changes before the accepted values, so that a cut text has it", () => {
  const message = "the target prod also changes: its next plan deletes pools.p, which it no longer declares";
  const accepted = acceptedDrift(
    JSON.stringify({
      accepted: [{ address: "pools.p", what: "deleted", fields: [] }],
      notes: [
        { code: "DRIFT_ACCEPTED_SHARED", message },
        { code: "DRIFT_NOT_ACCEPTED", message: "groups.g still refers to users.u", hint: "check the name" },
      ],
      files: [{ path: "w.yaml" }],
      refused: [],
    }),
  );
  expect(accepted?.report).toContain(
    `Before you merge:\n\n\`\`\`text\n${message}\ngroups.g still refers to users.u; check the name\n\`\`\`\n\n\`\`\`text\npools.p: deleted\n`,
  );
});

test("the text of the pull request lists the addresses that have no drift", () => {
  const accepted = acceptedDrift(
    JSON.stringify({ accepted: [], without_drift: ["pools.a", "pools.b"], files: [], refused: [] }),
  );
  expect(accepted).toEqual({
    report: "No drift is left to accept.\n\nNo drift at:\n\n```text\npools.a\npools.b\n```\n",
    files: [],
  });
});

test("an address that begins with a dash is refused, and without addresses all drift is accepted", () => {
  const addresses = (WORKSPACE_CI_ADDRESSES: string) =>
    readSettings({ WORKSPACE_CI_COMMAND: "accept", WORKSPACE_CI_ADDRESSES }).addresses;
  expect(() => addresses("pools.a\n--shared")).toThrow('address "--shared" begins with a dash');
  expect([addresses(""), addresses("pools.a\n jobs.*\n")]).toEqual([["*"], ["pools.a", "jobs.*"]]);
});

test("addresses are separated by commas in an input that is one line", () => {
  const addresses = (WORKSPACE_CI_ADDRESSES: string) =>
    readSettings({ WORKSPACE_CI_COMMAND: "accept", WORKSPACE_CI_ADDRESSES }).addresses;
  expect(addresses("pools.a, jobs.*,notebooks./Shared/my notes ,")).toEqual([
    ...["pools.a", "jobs.*", "notebooks./Shared/my notes"],
  ]);
  expect(addresses("pools.a, b\njobs.*")).toEqual(["pools.a, b", "jobs.*"]);
  expect(() => addresses("pools.a, --shared")).toThrow('address "--shared" begins with a dash');
});
