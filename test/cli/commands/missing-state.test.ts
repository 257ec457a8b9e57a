// Commands that meet a missing state: drift fails, plan and apply refuse duplicates and warn about folders that CI deletes.

import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "missing-token";
const FORMS = ["text", "json", "markdown", "html", "junit"] as const;
const GROUPS = "groups: { g: {} }\n";

let server: RunningServer;
beforeEach(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterEach(() => server.close());

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly all: string;
}

async function run(cwd: string, line: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const context = contextWith({ WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN, ...env }, cwd);
  const code = await runProgram(context, line.split(" "));
  const [out, err] = [context.out(), context.err()];
  return { code, out, err, all: `${out}${err}` };
}

/** A folder whose spec was applied. */
async function applied(spec: string): Promise<string> {
  const folder = folderWith(spec);
  expect(await run(folder, "apply --auto-approve")).toMatchObject({ code: 0 });
  return folder;
}

const loseState = (folder: string): void => rmSync(join(folder, ".workspace"), { recursive: true });

describe("a plan without a state, where the workspace has what the spec declares", () => {
  const TEAM = `groups: { g: {}, h: {} }
clusters: { c: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 } }
`;

  test.each(["plan", "plan --offline", "plan -o markdown", "apply --auto-approve"])(
    "says first that the state is empty, and what to check: %s",
    async (line) => {
      const folder = await applied(TEAM);
      const { code, err, all } = await run(folder, `${line} --state elsewhere`);
      if (line === "plan --offline") {
        expect(all).not.toContain("STATE_NOT_FOUND");
        return;
      }
      expect(code).toBe(1);
      expect(err).toMatch(
        /^Read \d+ objects of \d kinds\.\nwarning STATE_NOT_FOUND: no state exists at \S+elsewhere, but the workspace has 3 of the 3 declared resources\n {2}hint: check --state, WORKSPACE_STATE, and --target first/,
      );
      expect(all).toContain("pass --adopt");
    },
  );

  test("is not reported with --adopt, for a new spec, or with a state", async () => {
    const folder = await applied(TEAM);
    expect((await run(folder, "plan --adopt --state elsewhere")).all).not.toContain("STATE_NOT_FOUND");
    expect((await run(folder, "plan")).all).not.toContain("STATE_NOT_FOUND");
    writeFileSync(join(folder, "workspace.yaml"), "groups: { g: {}, x: {} }\n");
    expect((await run(folder, "plan --state elsewhere")).all).not.toContain("STATE_NOT_FOUND");
  });
});

describe("drift without a state", () => {
  test.each(FORMS)("fails as %s, and names the location and the way on", async (form) => {
    const folder = await applied(GROUPS);
    loseState(folder);
    const { code, out, err } = await run(folder, `drift -o ${form}`);
    expect(code).toBe(1);
    expect(err).toContain(join(folder, ".workspace", "default"));
    expect(err).toMatch(/hint: .*--state/);
    for (const text of form === "text" ? [err] : [out, err]) expect(text).toContain("STATE_NOT_FOUND");
    expect(out).not.toMatch(/No drift/);
  });

  test.each([
    ["elsewhere", /elsewhere/],
    ["workspace:/Shared/.states/typo", /workspace:\/Shared\/\.states\/typo/],
  ])("fails when WORKSPACE_STATE=%s does not exist", async (place, named) => {
    const folder = await applied(GROUPS);
    const { code, err } = await run(folder, "drift", { WORKSPACE_STATE: place });
    expect([code, err]).toEqual([1, expect.stringContaining("STATE_NOT_FOUND")]);
    expect(err).toMatch(named);
  });

  test("fails after a plan was saved, because a key alone is not a state", async () => {
    const folder = folderWith(GROUPS);
    expect(await run(folder, "plan --out first.plan")).toMatchObject({ code: 0 });
    expect(await run(folder, "drift")).toMatchObject({
      code: 1,
      err: expect.stringContaining("STATE_NOT_FOUND"),
    });
  });

  test("fails after an apply was refused, because nothing was recorded", async () => {
    const folder = folderWith(GROUPS);
    expect(await run(folder, "apply --no-input")).toMatchObject({ code: 1 });
    expect(await run(folder, "drift")).toMatchObject({
      code: 1,
      err: expect.stringContaining("STATE_NOT_FOUND"),
    });
  });
});

describe("without a state", () => {
  test.each([
    "destroy --auto-approve",
    "plan --destroy",
    "plan --destroy --offline",
    "state pull",
    "state pull --out copy.json",
    "state migrate elsewhere",
    "state rekey",
  ])("`%s` fails, names the location, and does not write a state or a copy", async (line) => {
    const folder = await applied(GROUPS);
    const place = join(folder, "typo");
    const key: Record<string, string> = line === "state rekey" ? { WORKSPACE_STATE_KEY: "a".repeat(64) } : {};
    const { code, err } = await run(folder, `${line} --state ${place}`, key);
    expect([code, err]).toEqual([1, expect.stringContaining(`STATE_NOT_FOUND: no state exists at ${place}`)]);
    const written = [place, join(folder, "elsewhere")].flatMap((at) =>
      existsSync(at) ? readdirSync(at) : [],
    );
    expect(written.filter((name) => name.startsWith("state"))).toEqual([]);
    expect(existsSync(join(folder, "copy.json"))).toBe(false);
  });

  test.each(["state list", "state list -o json", "history", "history -o json"])(
    "`%s` succeeds and says that no state exists at the location",
    async (line) => {
      const folder = await applied(GROUPS);
      const place = join(folder, "typo");
      const { code, err } = await run(folder, `${line} --state ${place}`);
      expect([code, err]).toEqual([0, `No state exists at ${place}.\n`]);
      expect((await run(folder, line)).err).toBe("");
    },
  );

  test("a state of which only the lock and earlier versions are left is damaged", async () => {
    const folder = await applied(GROUPS);
    writeFileSync(join(folder, "workspace.yaml"), "groups: { g: {}, h: {} }\n");
    expect((await run(folder, "apply --auto-approve")).code).toBe(0);
    for (const name of ["state.json", "journal.jsonl"]) rmSync(join(folder, ".workspace/default", name));
    for (const line of ["plan", "apply --auto-approve", "drift", "destroy --auto-approve"]) {
      const { code, err } = await run(folder, line);
      expect([line, code, err]).toEqual([line, 1, expect.stringContaining("STATE_CORRUPT")]);
    }
    expect((await run(folder, "state restore 1")).code).toBe(0);
    expect((await run(folder, "plan --adopt")).out).toMatch(/adopt +groups\.h/);
  });
});

describe("drift of a state that manages nothing", () => {
  test.each(FORMS)("succeeds as %s and says so", async (form) => {
    const folder = await applied(GROUPS);
    expect(await run(folder, "destroy --auto-approve")).toMatchObject({ code: 0 });
    const { code, out } = await run(folder, `drift -o ${form}`);
    expect(code).toBe(0);
    if (form === "json") expect(JSON.parse(out)).toMatchObject({ managed_resources: 0, drift: [] });
    else expect(out).toContain("The state manages no resources");
  });

  test("counts the resources of a state that manages some", async () => {
    const folder = await applied(GROUPS);
    const { code, out } = await run(folder, "drift -o json");
    expect([code, JSON.parse(out).managed_resources]).toEqual([0, 1]);
    expect((await run(folder, "drift")).out).not.toContain("manages no resources");
  });
});

const CLUSTER = "{ spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }";
const NEW = CLUSTER.replace("{", "{ autotermination_minutes: 60,");
const TWINS = `
clusters: { k: ${NEW} }
jobs: { a: { new_cluster: ${CLUSTER}, notebook_task: { notebook_path: /Shared/n } } }
`;

async function named(path: string, list: string): Promise<number> {
  const answer = await fetch(`${server.url}/api/2.0/${path}`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const found = ((await answer.json()) as Record<string, readonly unknown[] | undefined>)[list];
  return found?.length ?? 0;
}
const counts = async () => [await named("clusters/list", "clusters"), await named("jobs/list", "jobs")];

describe("a lost state", () => {
  test.each(FORMS)("blocks a plan that would duplicate clusters and jobs, as %s", async (form) => {
    const folder = await applied(TWINS);
    loseState(folder);
    const { code, out, err } = await run(folder, `plan -o ${form}`);
    expect(code).toBe(3);
    for (const text of form === "text" ? [out] : [out, err]) {
      expect(text).toContain("GUARD_DUPLICATE_NAME");
      expect(text).toMatch(/workspace import clusters\.k \S+/);
      expect(text).toMatch(/workspace import jobs\.a \d+/);
      expect(text).toMatch(/created by admin\S+example.com/);
    }
  });

  test.each(["text", "json", "markdown", "junit"])(
    "blocks an apply as %s, and sends nothing",
    async (form) => {
      const folder = await applied(TWINS);
      loseState(folder);
      for (let n = 0; n < 2; n++) {
        const { code, all } = await run(folder, `apply --auto-approve -o ${form}`);
        expect([code, all]).toEqual([3, expect.stringContaining("GUARD_DUPLICATE_NAME")]);
      }
      expect(await counts()).toEqual([1, 1]);
    },
  );

  test("is repaired by --adopt, and by the import commands that the plan prints", async () => {
    const folder = await applied(TWINS);
    loseState(folder);
    expect(await run(folder, "apply --auto-approve --adopt")).toMatchObject({ code: 0 });
    expect((await run(folder, "plan --detailed-exitcode")).code).toBe(0);
    loseState(folder);
    const { out } = await run(folder, "plan");
    const commands = [...out.matchAll(/`workspace (import \S+ \S+)`/g)].map(([, words = ""]) => words);
    expect(commands).toHaveLength(2);
    for (const words of commands) expect((await run(folder, words)).code).toBe(0);
    expect((await run(folder, "plan --detailed-exitcode")).code).toBe(0);
    expect(await counts()).toEqual([1, 1]);
  });

  test("duplicates when --allow-duplicates or the policy says so, and warns in every format", async () => {
    const folder = await applied(TWINS);
    for (const form of FORMS) {
      loseState(folder);
      const { code, out } = await run(folder, `plan --allow-duplicates -o ${form}`);
      expect([code, out]).toEqual([0, expect.stringContaining("PLAN_DUPLICATE_NAME")]);
      expect((await run(folder, "plan --out allowed.plan --allow-duplicates")).code).toBe(0);
    }
    expect((await run(folder, "apply allowed.plan")).code).toBe(0);
    expect(await counts()).toEqual([2, 2]);
    const other = folderWith(`policy: { duplicate_names: allow }\n${TWINS}`);
    expect((await run(other, "apply --auto-approve")).code).toBe(0);
    expect(await counts()).toEqual([3, 3]);
  });
});

describe("an existing state with unmanaged objects of the same name", () => {
  test.each(FORMS)("makes a plan warn as %s", async (form) => {
    await applied(TWINS);
    const folder = await applied(GROUPS.replace("g:", "other:"));
    writeFileSync(join(folder, "workspace.yaml"), `${GROUPS.replace("g:", "other:")}${TWINS}`);
    const { code, out } = await run(folder, `plan -o ${form}`);
    expect(code).toBe(0);
    expect(out).toContain("PLAN_DUPLICATE_NAME");
    expect(out).toMatch(/workspace import jobs\.a \d+/);
    expect(out).toMatch(/created by admin\S+example.com/);
  });

  test.each(["text", "json", "markdown", "junit"])("makes an apply warn as %s, and create", async (form) => {
    await applied(TWINS);
    const folder = await applied(GROUPS.replace("g:", "other:"));
    writeFileSync(join(folder, "workspace.yaml"), `${GROUPS.replace("g:", "other:")}${TWINS}`);
    const { code, out } = await run(folder, `apply --auto-approve -o ${form}`);
    expect([code, out]).toEqual([0, expect.stringContaining("PLAN_DUPLICATE_NAME")]);
    expect(await counts()).toEqual([2, 2]);
  });
});

describe("a saved plan that creates a job", () => {
  test.each([
    ["no state exists", false],
    ["a state exists", true],
  ])("is stale when an object with that name appeared since, and %s", async (_, exists) => {
    const folder = exists ? await applied(GROUPS) : folderWith("");
    writeFileSync(join(folder, "workspace.yaml"), `${GROUPS}${TWINS}`);
    expect((await run(folder, "plan --out saved.plan")).code).toBe(0);
    await applied(TWINS);
    const { code, err } = await run(folder, "apply saved.plan");
    expect([code, err]).toEqual([4, expect.stringContaining("PLAN_LIVE_MOVED")]);
    expect(await counts()).toEqual([1, 1]);
  });
});

const JOB = {
  name: "new",
  new_cluster: { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 },
  notebook_task: { notebook_path: "/Shared/n" },
};

describe("drift of an authoritative kind", () => {
  test.each(FORMS.flatMap((form) => [[form, "before"] as const, [form, "after"] as const]))(
    "contains a new job as %s when the kind became authoritative %s the last apply",
    async (form, when) => {
      const policy = "policy: { authoritative: [jobs] }\n";
      const folder = await applied(when === "before" ? `${policy}${TWINS}` : TWINS);
      writeFileSync(join(folder, "workspace.yaml"), `${policy}${TWINS}`);
      expect((await run(folder, "drift")).code).toBe(0);
      const answer = await fetch(`${server.url}/api/2.0/jobs/create`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify(JOB),
      });
      expect(answer.ok).toBe(true);
      const { code, out } = await run(folder, `drift -o ${form}`);
      expect(code).toBe(2);
      expect(out).toContain("jobs.new");
      expect(out).toContain("appeared");
    },
  );
});

describe("a damaged state", () => {
  const damage = (folder: string): void =>
    writeFileSync(join(folder, ".workspace", "default", "state.json"), "not a state");

  test("without an earlier version is not said to be restorable, and the list of versions fails", async () => {
    const folder = await applied(GROUPS);
    damage(folder);
    const { code, err } = await run(folder, "plan");
    expect([code, err]).toEqual([1, expect.stringContaining("STATE_CORRUPT")]);
    expect(err).toContain("hint: no earlier version is kept; to recover the state, see docs/state.md#");
    expect(err).not.toContain("workspace state restore");
    expect(await run(folder, "state restore")).toMatchObject({
      code: 1,
      out: "No earlier version is kept.\n",
    });
    expect((await run(folder, "state restore -o json")).code).toBe(1);
  });

  test("with an earlier version is restored from it", async () => {
    const folder = await applied(GROUPS);
    writeFileSync(join(folder, "workspace.yaml"), "groups: { g: {}, h: {} }\n");
    expect((await run(folder, "apply --auto-approve")).code).toBe(0);
    damage(folder);
    expect((await run(folder, "plan")).err).toContain("run `workspace state restore`");
    expect((await run(folder, "state restore")).code).toBe(0);
    expect((await run(folder, "state restore 1")).code).toBe(0);
  });
});
