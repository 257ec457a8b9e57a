// `drift --since last` after an acknowledgement ended, or the spec had the value meanwhile, through the real program and a service on loopback.

import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const TOKEN = "admin-token";
const SPEC = `users: { ada@example.com: { displayName: Ada }, bo@example.com: { displayName: Bo } }\n`;
const UNTIL = Date.UTC(2999, 0, 1, 12);
const ADA = "users.ada@example.com";

let server: RunningServer | undefined;
afterEach(() => {
  vi.useRealTimers();
  return server?.close();
});

/** A service after an apply of two users. Only dates are fake: waits and time limits are real. */
async function applied() {
  vi.useFakeTimers({ toFake: ["Date"], now: UNTIL - 60_000 });
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  const { url } = server;
  const folder = folderWith(SPEC);
  const state = mkdtempSync(join(tmpdir(), "acknowledgement-"));
  const env = {
    WORKSPACE_HOST: url,
    WORKSPACE_STATE: state,
    WORKSPACE_TOKEN: TOKEN,
    WORKSPACE_USER: "grace",
  };
  const run = async (line: string) => {
    const context = contextWith(env, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  expect((await run("apply --auto-approve")).code).toBe(0);
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const users = `${url}/api/2.0/preview/scim/v2/Users`;
  const list = (await (await fetch(users, { headers })).json()) as {
    readonly Resources: readonly { readonly id: string; readonly userName: string }[];
  };
  /** Changes fields of a user outside of the program. */
  const change = async (name: string, value: Readonly<Record<string, unknown>>) => {
    const id = list.Resources.find(({ userName }) => userName === `${name}@example.com`)?.id;
    const schemas = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"];
    const operations = Object.entries(value).map(([path, value]) => ({ op: "replace", path, value }));
    const body = JSON.stringify({ schemas, Operations: operations });
    expect((await fetch(`${users}/${id}`, { method: "PATCH", headers, body })).status).toBeLessThan(300);
  };
  const acknowledge = async (location: string) =>
    expect(await run(`drift acknowledge ${location} --until 2999-01-01T12:00Z --reason test`)).toMatchObject({
      code: 0,
    });
  /** The exit code of `drift --since last`, and the status of its differences. */
  const sinceLast = async (options = "") => {
    const { code, out } = await run(`drift --since last${options}`);
    return [code, /Differences: (.*)\./.exec(out)?.[1]];
  };
  const end = () => vi.setSystemTime(UNTIL);
  return { run, change, acknowledge, sinceLast, end, folder };
}

const NEW = [2, "1 new, 0 reported before, 0 acknowledged"];
const REPORTED = [0, "0 new, 1 reported before, 0 acknowledged"];
const ACKNOWLEDGED = [0, "0 new, 0 reported before, 1 acknowledged"];

test("drift is new once when its acknowledgement ends at its time, also in metrics", async () => {
  const { run, change, acknowledge, sinceLast, end, folder } = await applied();
  await change("ada", { displayName: "Countess" });
  await acknowledge(ADA);
  expect(await sinceLast()).toEqual(ACKNOWLEDGED);
  expect(await sinceLast()).toEqual(ACKNOWLEDGED);
  end();
  await run(`drift --metrics ${join(folder, "drift.prom")}`);
  const metrics = readFileSync(join(folder, "drift.prom"), "utf8");
  expect(metrics).toMatch(/workspace_differences\{.*status="new".*\} 1/);
  expect(metrics).not.toMatch(/status="(reported|acknowledged)"/);
  expect(await sinceLast()).toEqual(NEW);
  expect(await sinceLast()).toEqual(REPORTED);
});

test("drift that was reported before its acknowledgement is new when that ends", async () => {
  const { change, acknowledge, sinceLast, end } = await applied();
  await change("ada", { displayName: "Countess" });
  expect(await sinceLast()).toEqual(NEW);
  await acknowledge(`${ADA}.displayName`);
  end();
  expect(await sinceLast()).toEqual(NEW);
  expect(await sinceLast()).toEqual(REPORTED);
});

test("drift is new once when its acknowledgement is removed", async () => {
  const { run, change, acknowledge, sinceLast } = await applied();
  await change("ada", { displayName: "Countess" });
  expect(await sinceLast()).toEqual(NEW);
  await acknowledge(ADA);
  expect(await sinceLast()).toEqual(ACKNOWLEDGED);
  expect((await run(`drift acknowledge --remove ${ADA}`)).code).toBe(0);
  expect(await sinceLast()).toEqual(NEW);
  expect(await sinceLast()).toEqual(REPORTED);
});

test("drift is new when the value returns that an ended acknowledgement accepted", async () => {
  const { change, acknowledge, sinceLast } = await applied();
  await change("ada", { displayName: "Countess" });
  await acknowledge(ADA);
  expect(await sinceLast()).toEqual(ACKNOWLEDGED);
  await change("ada", { displayName: "Lady" });
  expect(await sinceLast()).toEqual(NEW);
  await change("ada", { displayName: "Countess" });
  expect(await sinceLast()).toEqual(NEW);
  expect(await sinceLast()).toEqual(REPORTED);
});

test("drift that was reported is new again if the spec had its value meanwhile", async () => {
  const { change, sinceLast, folder } = await applied();
  const write = (text: string) => writeFileSync(join(folder, "workspace.yaml"), text);
  await change("ada", { displayName: "Countess" });
  expect(await sinceLast()).toEqual(NEW);
  write(SPEC.replace("displayName: Ada", "displayName: Countess"));
  expect((await sinceLast())[0]).toBe(0);
  write(SPEC);
  expect(await sinceLast()).toEqual(NEW);
  expect(await sinceLast()).toEqual(REPORTED);
});

test("the other differences of the resource stay reported when the acknowledgement of one ends", async () => {
  const { change, acknowledge, sinceLast, end } = await applied();
  await change("ada", { displayName: "Countess", active: false });
  await acknowledge(`${ADA}.displayName`);
  expect(await sinceLast()).toEqual([2, "1 new, 0 reported before, 1 acknowledged"]);
  expect(await sinceLast()).toEqual([0, "0 new, 1 reported before, 1 acknowledged"]);
  end();
  expect(await sinceLast()).toEqual([2, "1 new, 1 reported before, 0 acknowledged"]);
  expect(await sinceLast()).toEqual([0, "0 new, 2 reported before, 0 acknowledged"]);
});

test("drift is new when its acknowledgement ends also if runs with --only compared other addresses", async () => {
  const { change, acknowledge, sinceLast, end } = await applied();
  await change("ada", { displayName: "Countess" });
  await change("bo", { displayName: "Duke" });
  expect(await sinceLast()).toEqual([2, "2 new, 0 reported before, 0 acknowledged"]);
  await acknowledge(ADA);
  const onlyBo = " --only users.bo@example.com";
  expect(await sinceLast(onlyBo)).toEqual(REPORTED);
  end();
  expect(await sinceLast(onlyBo)).toEqual(REPORTED);
  expect(await sinceLast()).toEqual([2, "1 new, 1 reported before, 0 acknowledged"]);
  expect(await sinceLast()).toEqual([0, "0 new, 2 reported before, 0 acknowledged"]);
});
