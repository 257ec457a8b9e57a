// A fleet on a queue, from the command line: enqueue, a worker that a signal ends, results, and no secret in any table.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../../cli/context.ts";
import { fleetUrl, openFleet, server } from "./fleet-server.ts";
import { holderNamed, resultOf } from "./workspaces.ts";

const SECRETS = {
  ADS_TOKEN: "token-of-ads-7f3a",
  WEB_TOKEN: "token-of-web-91bc",
  APP_PASSWORD: "password-in-a-secret-55d0",
};

let emulators: readonly RunningServer[] = [];
let folder: string;

beforeAll(async () => {
  const start = (token: string) => startEmulator({ port: 0, dataDir: ":memory:", token });
  emulators = [await start(SECRETS.ADS_TOKEN), await start(SECRETS.WEB_TOKEN)];
  folder = mkdtempSync(join(tmpdir(), "fleet-queue-"));
  mkdirSync(join(folder, "spec"));
  writeFileSync(
    join(folder, "spec/workspace.yaml"),
    "groups: { eng: {} }\nscopes: { app: { secrets: { password: { env: APP_PASSWORD } } } }\n",
  );
  const entry = (at: number, token: string) =>
    `{ host: "${emulators[at]?.url}", environment: { WORKSPACE_TOKEN: ${token} }, schedule: "0 6 * * *" }`;
  writeFileSync(
    join(folder, "fleet.yaml"),
    `defaults: { spec: spec, timeout: 30s }
workspaces:
  ads: ${entry(0, "ADS_TOKEN")}
  web: ${entry(1, "WEB_TOKEN")}
  gone: { host: "http://127.0.0.1:1", environment: { WORKSPACE_TOKEN: WEB_TOKEN } }
`,
  );
});
afterAll(async () => {
  for (const emulator of emulators) await emulator.close();
  server?.stop();
});

const env = { ...SECRETS, WORKSPACE_FLEET_DATABASE: fleetUrl("cli") };

async function fleet(words: readonly string[], variables: Readonly<Record<string, string>> = env) {
  const context = contextWith(variables, folder);
  const code = await runProgram(context, ["fleet", ...words]);
  return { code, out: context.out(), err: context.err() };
}

/** Runs a worker until `until` is in its output, then asks it to end. */
async function work(until: readonly string[]) {
  const context = contextWith(env, folder);
  const ended = runProgram(context, ["fleet", "worker"]);
  while (!until.every((text) => context.out().includes(text)))
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 20))]);
  context.signals.receive("SIGTERM");
  return { code: await ended, out: context.out(), err: context.err() };
}

describe.skipIf(server === undefined)("a fleet with a database", () => {
  test("runs what is enqueued, shows its results, and keeps every secret out of every table", async () => {
    expect(await fleet(["enqueue", "apply", "ads", "web", "--auto-approve"])).toMatchObject({
      code: 0,
      out: "Enqueued: 2 of 2.\n",
    });
    const worker = await work(["ads: changes", "web: changes"]);
    expect(worker.code).toBe(143);
    expect(worker.err).toContain("Finishing the running jobs.");
    expect(await fleet(["enqueue", "drift", "ads"])).toMatchObject({ code: 0 });
    const again = await fleet(["enqueue", "drift", "ads"]);
    expect(again).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Enqueued: 0 of 1\.\nads: drift is already queued since .* \(job /),
    });
    expect(await fleet(["enqueue", "plan", "ads"])).toMatchObject({
      code: 1,
      out: expect.stringContaining("ads: not enqueued, because drift is queued since"),
    });
    expect(await fleet(["schedule"])).toMatchObject({
      out: "Schedules: 2 added, 0 changed, 0 removed, 0 unchanged.\n",
    });
    expect((await fleet(["apply", "gone", "--auto-approve"])).out).toContain("gone: failed");
    await fleet(["enqueue", "apply", "gone", "--auto-approve"]);
    const { results, database } = await openFleet("cli");
    await database.query("update cli_jobs.job set retry_limit = 0 where data ->> 'workspace' = 'gone'", []);
    await work(["ads: ok", "gone: failed"]);
    const dead = await fleet(["dead-letters"]);
    expect(dead.out).toContain("gone");
    expect(dead.out).toContain("API_UNREACHABLE");
    for (const command of ["drift", "apply"] as const) {
      expect((await fleet(["dead-letters"])).out).toContain("gone");
      await results.add(resultOf("gone", "ok", { command }));
    }
    expect((await fleet(["dead-letters"])).out).toBe("No job failed at every attempt.\n");
    await results.add(resultOf("gone", "failed", { command: "apply" }));
    expect((await fleet(["dead-letters", "--retry"])).out).toBe("Requeued: 0 of 0.\n");
    expect((await fleet(["dead-letters", "--remove", "ads"])).code).toBe(1);
    expect((await fleet(["dead-letters", "--remove", "gone"])).out).toBe("Removed: 1.\n");
    expect((await fleet(["dead-letters", "--remove"])).out).toBe("Removed: 0.\n");
    await results.close();
    const status = await fleet(["status"]);
    expect(status.out).toMatch(/^ads +ok/m);
    expect(status.out).toMatch(/^gone +failed/m);
    const text = await tablesText("cli");
    expect(text).toContain("ads");
    for (const secret of Object.values(SECRETS)) expect(text).not.toContain(secret);
  }, 60_000);

  test("a run that another process keeps from beginning fails, and leaves the last result", async () => {
    const { leases, results } = await openFleet("held");
    await results.add(resultOf("ads", "changes"));
    const lease = await leases.acquire("ads", holderNamed("other"), 0);
    const variables = { ...SECRETS, WORKSPACE_FLEET_DATABASE: fleetUrl("held") };
    const refused = await fleet(["drift", "ads"], variables);
    expect(refused).toMatchObject({ code: 1, out: expect.stringContaining("other already runs ads") });
    const recorded = (await results.recent(2, ["ads"])).get("ads") ?? [];
    expect(recorded.map(({ status }) => status)).toEqual(["changes"]);
    if ("release" in lease) await lease.release();
    await results.close();
  });

  test("shows its status to a role that cannot create tables: before they exist, and while they are older", async () => {
    const { database } = await openFleet("watched");
    await database.script([
      "create role watcher login",
      "grant usage on schema watched to watcher",
      "grant select on all tables in schema watched to watcher",
      "delete from watched.format where version > 1",
    ]);
    await database.close();
    for (const schema of ["unborn", "watched"]) {
      const variables = { ...SECRETS, WORKSPACE_FLEET_DATABASE: fleetUrl(schema, "watcher") };
      const { code, out } = await fleet(["status"], variables);
      expect(code).toBe(0);
      expect(out).toContain("3 workspaces, 0 failed, 0 blocked, 0 with drift, 3 never run.");
    }
  });

  test("needs its variable, and names it", async () => {
    const { code, err } = await fleet(["worker"], SECRETS);
    expect(code).toBe(1);
    expect(err).toContain("WORKSPACE_FLEET_DATABASE is not set");
  });

  test("reports an unusable database without its password", async () => {
    const url = "postgres://ops:hunter2-secret@127.0.0.1:1/fleet";
    for (const words of [["worker"], ["enqueue", "drift"], ["status"], ["drift"], ["schedule"]]) {
      const { code, out, err } = await fleet(words, { ...SECRETS, WORKSPACE_FLEET_DATABASE: url });
      expect(code).toBe(1);
      expect(err).toContain("FLEET_DATABASE");
      expect(out + err).not.toContain("hunter2");
    }
  });
});

/** Every row of both schemas as text. */
async function tablesText(schema: string): Promise<string> {
  const { database } = await openFleet(schema);
  const { rows } = await database.query(
    `select table_schema || '.' || table_name as name from information_schema.tables
     where table_schema in ($1, $2) and table_type = 'BASE TABLE'`,
    [schema, `${schema}_jobs`],
  );
  const texts = await Promise.all(
    rows.map(async ({ name }) => {
      const found = await database.query(
        `select string_agg(t::text, E'\\n') as text from ${String(name)} t`,
        [],
      );
      return `${String(name)}\n${String(found.rows[0]?.text ?? "")}`;
    }),
  );
  await database.close();
  return texts.join("\n");
}
