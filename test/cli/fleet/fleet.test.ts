// `workspace fleet` against two emulated workspaces and one that does not answer.

import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";

const TOKENS = { ADS_TOKEN: "token-of-ads", WEB_TOKEN: "token-of-web" };

let ads: RunningServer;
let web: RunningServer;
let folder: string;

beforeAll(async () => {
  ads = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKENS.ADS_TOKEN });
  web = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKENS.WEB_TOKEN });
  folder = mkdtempSync(join(tmpdir(), "fleet-"));
  mkdirSync(join(folder, "spec"));
  writeFileSync(join(folder, "spec/workspace.yaml"), "groups: { eng: {} }\n");
  writeFileSync(
    join(folder, "fleet.yaml"),
    `defaults: { spec: spec }
workspaces:
  ads: { host: "${ads.url}", environment: { WORKSPACE_TOKEN: ADS_TOKEN }, labels: { env: prod } }
  web: { host: "${web.url}", environment: { WORKSPACE_TOKEN: WEB_TOKEN }, labels: { env: prod } }
  gone: { host: "http://127.0.0.1:1", environment: { WORKSPACE_TOKEN: WEB_TOKEN }, labels: { env: test } }
`,
  );
});
afterAll(async () => {
  await ads.close();
  await web.close();
});

async function fleet(line: string, env: Readonly<Record<string, string>> = TOKENS, place = folder) {
  const context = contextWith(env, place);
  const code = await runProgram(context, ["fleet", ...line.split(" ")]);
  return { code, out: context.out(), err: context.err() };
}

describe("workspace fleet", () => {
  test("list shows each workspace without contacting it", async () => {
    const { code, out } = await fleet("list", {});
    expect(code).toBe(0);
    expect(out.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "WORKSPACE",
      "ads",
      "gone",
      "web",
      "",
    ]);
  });

  test("list shows no value of a variable that a spec does not declare as open, or whose name is that of a credential", async () => {
    const other = mkdtempSync(join(tmpdir(), "fleet-variables-"));
    for (const name of ["spec", "broken"]) mkdirSync(join(other, name));
    const declared =
      "variables: { env: {}, url: {}, login: { sensitive: true }, hidden: { sensitive: 1 }, db_password: {} }\n";
    writeFileSync(join(other, "spec/workspace.yaml"), "include: [more.yaml]\ngroups: { eng: {} }\n");
    writeFileSync(join(other, "spec/more.yaml"), declared);
    writeFileSync(join(other, "broken/workspace.yaml"), "variables: { env: {}\n");
    const variables =
      '{ env: prod, url: "u:VALUE-1@h", login: "VALUE-1", hidden: "VALUE-2", db_password: "VALUE-3", lost: "VALUE-4" }';
    writeFileSync(
      join(other, "fleet.yaml"),
      `defaults: { host: embedded, variables: ${variables} }
workspaces: { a: { spec: spec }, b: { spec: spec/workspace.yaml, variables: { env: test } }, c: { spec: broken }, d: { spec: absent } }
`,
    );
    for (const form of ["text", "json"])
      expect((await fleet(`list -o ${form}`, {}, other)).out).not.toContain("VALUE");
    const { workspaces } = JSON.parse((await fleet("list -o json", {}, other)).out);
    const hidden = "(sensitive)";
    const others = { url: hidden, login: hidden, hidden, db_password: hidden, lost: hidden };
    expect(workspaces.map(({ variables }: { readonly variables: object }) => variables)).toEqual([
      { env: "prod", ...others },
      { env: "test", ...others },
      { env: hidden, ...others },
      { env: hidden, ...others },
    ]);
  });

  test("plan, apply, and drift run on the selected workspaces, each with its own credentials and state", async () => {
    expect((await fleet("plan -l env=prod")).code).toBe(2);
    const applied = await fleet("apply --auto-approve -l env=prod --waves 1,rest");
    expect(applied).toMatchObject({ code: 0 });
    expect(applied.err).toContain('Wave "wave 1": 1 of 2 workspaces.');
    expect(await fleet("plan -l env=prod")).toMatchObject({ code: 0 });
    expect(await fleet("drift ads web")).toMatchObject({ code: 0 });
  });

  test("an ordinary variable whose name contains KEY or SECRET changes no status and no message", async () => {
    const other = mkdtempSync(join(tmpdir(), "fleet-words-"));
    mkdirSync(join(other, "spec"));
    const pool = "node_type_id: Standard_DS3_v2, max_capacity: 9, min_idle_instances";
    const write = (idle: number): void =>
      writeFileSync(join(other, "spec/workspace.yaml"), `pools: { analytics-pool: { ${pool}: ${idle} } }\n`);
    writeFileSync(join(other, "fleet.yaml"), "workspaces: { a: { spec: spec, host: embedded } }\n");
    const env = {
      KEY_MODE: "changes",
      API_KEY: "failed",
      SECRET_SCOPE: "analytics",
      CREDENTIAL_KEY: "analytics-pool",
    };
    write(1);
    const planned = await fleet("plan -o json", env, other);
    expect(planned).toMatchObject({ code: 2, out: expect.stringContaining('"status":"changes"') });
    write(20);
    const failed = await fleet("plan -o json", env, other);
    expect(failed).toMatchObject({ code: 1, out: expect.stringContaining('"status":"failed"') });
    expect(failed.out).toContain("pools.(sensitive): min_idle_instances (20)");
    const { CREDENTIAL_KEY: _, ...settings } = env;
    expect((await fleet("plan -o json", settings, other)).out).toContain(
      "pools.analytics-pool: min_idle_instances",
    );
  });

  test("run says that no workspace is due", async () => {
    expect(await fleet("run")).toMatchObject({ code: 0, out: "No workspace is due.\n" });
  });

  test("a workspace that does not answer fails alone, and a wave with it stops the apply", async () => {
    const { code, out } = await fleet("apply --auto-approve --waves 2,rest");
    expect(code).toBe(1);
    expect(out).toContain("gone: failed");
    expect(out).toContain('Stopped because wave "wave 1" failed. Not started: 1 (web).');
  });

  test.each([[{}], [{ WEB_TOKEN: "" }]])(
    "a variable that is not set is an error of its workspace: %j",
    async (more) => {
      const { code, out } = await fleet("plan web", { ADS_TOKEN: TOKENS.ADS_TOKEN, ...more });
      expect(code).toBe(1);
      expect(out).toContain("web: failed in 0.0 s: the environment variable WEB_TOKEN is not set");
    },
  );

  test("the token of one workspace is not in the environment of another, and in no result", async () => {
    writeFileSync(
      join(folder, "leak.yaml"),
      `workspaces: { web: { host: "${web.url}", spec: spec, environment: { WORKSPACE_TOKEN: WEB_TOKEN } } }\n`,
    );
    const { code, out } = await fleet("plan --fleet leak.yaml", { WORKSPACE_TOKEN: TOKENS.WEB_TOKEN });
    expect(code).toBe(1);
    expect(out).toContain("WEB_TOKEN is not set");
    const kept = readFileSync(join(folder, ".workspace/fleet/results.jsonl"), "utf8");
    for (const token of Object.values(TOKENS)) expect(kept).not.toContain(token);
  });

  test("a run that timed out ends its requests, and sends no other", async () => {
    const closed: Promise<unknown>[] = [];
    const silent = createServer((socket) => {
      closed.push(once(socket, "close"));
      socket.on("error", () => undefined).resume();
    });
    await once(silent.listen(0, "127.0.0.1"), "listening");
    const { port } = silent.address() as AddressInfo;
    writeFileSync(
      join(folder, "silent.yaml"),
      `workspaces: { silent: { host: "http://127.0.0.1:${port}", spec: spec, timeout: 8s, environment: { WORKSPACE_TOKEN: WEB_TOKEN } } }\n`,
    );
    const { code, out } = await fleet("plan --fleet silent.yaml");
    expect(code).toBe(1);
    expect(out).toContain("silent: timed out in 8.");
    const connections = closed.length;
    await Promise.all(closed);
    expect(connections).toBeGreaterThan(0);
    expect(closed).toHaveLength(connections);
    silent.close();
  });

  test("plan and apply say of how many resources they revert acknowledged drift", async () => {
    const other = mkdtempSync(join(tmpdir(), "fleet-acknowledged-"));
    const host = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKENS.WEB_TOKEN });
    const pool = "pools: { p: { node_type_id: Standard_DS3_v2, max_capacity: 10 } }\n";
    writeFileSync(join(other, "workspace.yaml"), pool);
    const entry = `host: "${host.url}", environment: { WORKSPACE_TOKEN: WEB_TOKEN }`;
    writeFileSync(join(other, "fleet.yaml"), `workspaces: { web: { ${entry} } }\n`);
    const run = async (words: readonly string[]) => {
      const env = { WORKSPACE_HOST: host.url, WORKSPACE_TOKEN: TOKENS.WEB_TOKEN };
      const context = contextWith(env, other);
      expect(await runProgram(context, words)).toBe(0);
      return context.out();
    };
    expect((await fleet("apply --auto-approve", TOKENS, other)).code).toBe(0);
    const pools = JSON.parse(await run(["api", "instance-pools/list"]));
    const { instance_pool_id: id } = pools.instance_pools[0];
    const edited = `instance_pool_id=${id} instance_pool_name=p node_type_id=Standard_DS3_v2 max_capacity=99`;
    await run(["api", "instance-pools/edit", ...edited.split(" ")]);
    const acknowledged = ["--state", ".workspace/fleet/web", "pools.p", "--until", "5d", "--reason", "test"];
    await run(["drift", "acknowledge", ...acknowledged]);
    const line = "(1 update, reverts acknowledged drift of 1 resource)";
    expect((await fleet("plan", TOKENS, other)).out).toContain(line);
    const { out } = await fleet("apply --auto-approve -o json", TOKENS, other);
    expect(JSON.parse(out)).toMatchObject({ counts: { update: 1 }, reverted: 1, wrote: true });
    await host.close();
  }, 60_000);

  test("an apply that timed out records what it changed", async () => {
    const other = mkdtempSync(join(tmpdir(), "fleet-slow-"));
    const slow = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKENS.WEB_TOKEN });
    await fetch(`${slow.url}/__emulator/faults`, {
      method: "PUT",
      headers: { authorization: `Bearer ${TOKENS.WEB_TOKEN}` },
      body: JSON.stringify({ rules: [{ method: "POST", path: "/api/*", fate: "slow", delay_ms: 500 }] }),
    });
    const groups = Array.from({ length: 40 }, (_, at) => `g${at}: {}`).join(", ");
    writeFileSync(join(other, "workspace.yaml"), `groups: { ${groups} }\n`);
    const entry = `host: "${slow.url}", timeout: 7s, environment: { WORKSPACE_TOKEN: WEB_TOKEN }`;
    writeFileSync(join(other, "fleet.yaml"), `workspaces: { slow: { ${entry} } }\n`);
    const env = { ...TOKENS, WORKSPACE_PARALLELISM: "1" };
    const { code, out } = await fleet("apply --auto-approve -o json", env, other);
    expect(code).toBe(1);
    const result = JSON.parse(out);
    expect(result).toMatchObject({ status: "timeout", counts: { create: expect.any(Number) } });
    expect(result.diagnostics[0].code).toBe("FLEET_TIMEOUT");
    const log = (await fleet("logs slow", env, other)).out;
    expect(log).toMatch(/ not started, because the run was stopped: \d+ changes\n/);
    expect(log).not.toContain("skipped groups.");
    await slow.close();
  }, 30_000);

  test("the rules of WORKSPACE_RULES block every workspace", async () => {
    const other = mkdtempSync(join(tmpdir(), "fleet-rules-"));
    for (const name of ["strict", "fleet/spec"]) mkdirSync(join(other, name), { recursive: true });
    const rule = (assert: string) => `rules: [{ name: none, assert: "${assert}", message: no }]\n`;
    writeFileSync(join(other, "strict/rules.yaml"), rule("plan.summary.create == 0"));
    writeFileSync(join(other, "fleet/spec/workspace.yaml"), "groups: { ruled: {} }\n");
    const entry = `spec: spec, host: "${ads.url}"`;
    writeFileSync(
      join(other, "fleet/fleet.yaml"),
      `workspaces:
  ads: { ${entry}, environment: { WORKSPACE_TOKEN: ADS_TOKEN } }
`,
    );
    const env = { ...TOKENS, WORKSPACE_RULES: "strict" };
    const { code, out } = await fleet("plan --fleet fleet/fleet.yaml", env, other);
    expect(out).toContain("ads: blocked");
    expect(code).toBe(3);
  });

  test("the caller's authorities and profiles are those of every run", async () => {
    const { out } = await fleet("plan ads", { ...TOKENS, WORKSPACE_CA_FILE: "no-such.pem" });
    expect(out).toContain("no-such.pem");
  });

  test.each([
    ["host: https://evil.example", "the host evil.example is not permitted"],
    ["host: http://a.corp.example", "the host http://a.corp.example is not permitted"],
    ["host: https://corp.example.evil.example", "the host corp.example.evil.example is not permitted"],
    [
      "host: https://a.corp.example, state: 'postgres://db.evil.example/x'",
      "the host db.evil.example of the state is not permitted",
    ],
    [
      "host: https://a.corp.example, state: 'postgres://db.corp.example/x?host=db.evil.example'",
      "the host db.evil.example of the state is not permitted",
    ],
    [
      "host: https://a.corp.example, state: ../elsewhere",
      "a state outside the folder of the fleet file is not permitted",
    ],
    ["host: 'https://a b'", "the host is not a valid https:// or http:// URL"],
  ])("WORKSPACE_FLEET_HOSTS refuses a workspace with %s before a request", async (fields, message) => {
    const other = mkdtempSync(join(tmpdir(), "fleet-hosts-"));
    cpSync(join(folder, "spec"), join(other, "spec"), { recursive: true });
    writeFileSync(
      join(other, "fleet.yaml"),
      `workspaces: { a: { spec: spec, ${fields}, environment: { WORKSPACE_TOKEN: ADS_TOKEN } } }\n`,
    );
    const env = { ...TOKENS, WORKSPACE_FLEET_HOSTS: "*.corp.example, other.example" };
    for (const command of ["validate", "plan"]) {
      const { code, out } = await fleet(command, env, other);
      expect(code).toBe(1);
      expect(out).toMatch(/^a: failed in /);
      expect(out).toContain(` s: ${message}`);
    }
  });

  test("WORKSPACE_FLEET_HOSTS permits the hosts that it names", async () => {
    const hosts = `${ads.url} db.corp.example`;
    expect((await fleet("plan ads", { ...TOKENS, WORKSPACE_FLEET_HOSTS: hosts })).out).not.toContain(
      "permitted",
    );
    expect((await fleet("plan web", { ...TOKENS, WORKSPACE_FLEET_HOSTS: hosts })).out).toContain(
      "is not permitted",
    );
  });

  test("a result that cannot be recorded stops no other workspace, and is an error at the end", async () => {
    const other = mkdtempSync(join(tmpdir(), "fleet-full-"));
    cpSync(join(folder, "spec"), join(other, "spec"), { recursive: true });
    cpSync(join(folder, "fleet.yaml"), join(other, "fleet.yaml"));
    mkdirSync(join(other, ".workspace/fleet/results.jsonl"), { recursive: true });
    const { code, out, err } = await fleet("plan ads web --parallelism 1", TOKENS, other);
    expect(code).toBe(1);
    expect(out).toContain("2 of 2 workspaces");
    expect(err).toContain(
      "2 results could not be recorded.\nerror CLI_FILE: the results of the fleet cannot be written",
    );
  });

  test("lines of the result file that are not results are left out of every report", async () => {
    const other = mkdtempSync(join(tmpdir(), "fleet-edited-"));
    cpSync(join(folder, "fleet.yaml"), join(other, "fleet.yaml"));
    mkdirSync(join(other, ".workspace/fleet"), { recursive: true });
    const edited = {
      ...{ workspace: "ads", command: "drift", startedAt: 1000, durationMs: 5, exitCode: "<b>" },
      counts: { "<img src=x>": 1, create: 2 },
      drift: { security: '1\nevil{a="b"} 1', cost: 3 },
      diagnostics: [{ severity: "error", code: "<script>", message: 1 }, null],
    };
    writeFileSync(
      join(other, ".workspace/fleet/results.jsonl"),
      [
        "null",
        "{}",
        "[1]",
        JSON.stringify({ ...edited, status: "changes" }),
        JSON.stringify({ ...edited, status: "x" }),
      ].join("\n"),
    );
    for (const format of ["text", "json", "markdown", "html", "metrics"]) {
      const { code, out } = await fleet(`report -o ${format} ads`, TOKENS, other);
      expect(code).toBe(0);
      expect(out).not.toMatch(/<img|evil/);
      expect(out).toMatch(/3 cost|"cost": 3|severity="cost"} 3/);
    }
  });

  test("a spec path that the system refuses is an error of its workspace only", async () => {
    const other = mkdtempSync(join(tmpdir(), "fleet-paths-"));
    cpSync(join(folder, "spec"), join(other, "spec"), { recursive: true });
    symlinkSync("loop", join(other, "loop"));
    const entry = (spec: string) => `{ spec: ${spec}, host: "${web.url}" }`;
    writeFileSync(
      join(other, "fleet.yaml"),
      `workspaces:\n  a: ${entry('"a\\0b"')}\n  b: ${entry("loop")}\n  c: ${entry("spec")}\n`,
    );
    const { code, out } = await fleet("validate --parallelism 1", {}, other);
    expect(code).toBe(1);
    expect(out).toMatch(/^a: failed in .*: the spec cannot be read$/m);
    expect(out).toMatch(/^b: failed in .*: the spec cannot be read$/m);
    expect(out).toMatch(/^c: ok in /m);
  });

  test("a fleet file that is not a regular file is refused", async () => {
    const { code, err } = await fleet("list --fleet /dev/zero");
    expect(code).toBe(1);
    expect(err).toContain("/dev/zero is not a regular file");
  });

  test("a blocked wave stops the apply with the exit code of a guard", async () => {
    const other = mkdtempSync(join(tmpdir(), "fleet-blocked-"));
    mkdirSync(join(other, "spec"));
    cpSync(join(folder, "fleet.yaml"), join(other, "fleet.yaml"));
    writeFileSync(
      join(other, "spec/workspace.yaml"),
      'rules: [{ name: none, kinds: [groups], assert: "plan.summary.create == 0", message: no }]\ngroups: { blocked: {} }\n',
    );
    const { code, out } = await fleet("apply ads web --auto-approve --waves 1,rest", TOKENS, other);
    expect(out).toContain("ads: blocked");
    expect(out).toContain('Stopped because wave "wave 1" failed. Not started: 1 (web).');
    expect(code).toBe(3);
  });

  test("apply fails when --auto-approve is missing", async () => {
    const { code, err } = await fleet("apply");
    expect(code).toBe(1);
    expect(err).toContain("CLI_CONFIRMATION");
  });

  test.each(["text", "json", "markdown", "html", "metrics"])(
    "report as %s names every workspace",
    async (format) => {
      const { code, out } = await fleet(`report -o ${format}`);
      expect(code).toBe(0);
      for (const name of ["ads", "gone", "web"]) expect(out).toContain(name);
    },
  );

  test("report writes a page and the JSON next to it, which the page watches", async () => {
    const { code, out } = await fleet("report -o html=fleet.html -o json=fleet.json -o markdown");
    expect([code, out.includes("| workspace | status |")]).toEqual([0, true]);
    const { made_at } = JSON.parse(readFileSync(join(folder, "fleet.json"), "utf8"));
    const page = readFileSync(join(folder, "fleet.html"), "utf8");
    expect(page).toContain(`data-results="fleet.json" data-made="${made_at}"`);
    const { out: alone } = await fleet("report -o html");
    expect(alone).not.toContain("data-results");
  });

  test("report writes its files again with --every, which needs a file for each format", async () => {
    const { code, err } = await fleet("report -o html --every 1m");
    expect([code, err.includes("--every needs a file for each format")]).toEqual([1, true]);
    const context = contextWith(TOKENS, folder);
    const running = runProgram(context, "fleet report -o json=again.json --every 1s".split(" "));
    const madeAt = () => JSON.parse(readFileSync(join(folder, "again.json"), "utf8")).made_at as string;
    await expect.poll(() => existsSync(join(folder, "again.json")), { timeout: 20_000 }).toBe(true);
    const first = madeAt();
    await expect.poll(madeAt, { timeout: 20_000 }).not.toBe(first);
    context.signals.receive("SIGINT");
    expect(await running).toBe(130);
  }, 60_000);
});
