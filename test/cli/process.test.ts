// The program as a real process: start, output, signals, kills, a reader that closes the pipe.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningServer, startEmulator } from "../../src/emulator/server.ts";
import { BIN, folderWith, start } from "./program.ts";

const TOKEN = "process-token";
const POOLS = `pools:\n${Array.from({ length: 12 }, (_, at) => `  p${at}: { node_type_id: Standard_DS3_v2 }\n`).join("")}`;

let server: RunningServer;
beforeAll(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
});
afterAll(() => server.close());
beforeEach(() => control("POST", "reset"));

const env = () => ({ WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN });

async function control(method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${server.url}/__emulator/${path}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBe(200);
  return answer.json();
}

const slowCreates = (delay_ms: number) =>
  control("PUT", "faults", { rules: [{ path: "/api/2.0/instance-pools/create", fate: "slow", delay_ms }] });

/** Waits until so many creates have arrived. */
async function creates(number: number): Promise<void> {
  for (;;) {
    const { requests } = (await control("GET", "requests")) as { requests: { path: string }[] };
    if (requests.filter((one) => one.path.endsWith("/instance-pools/create")).length >= number) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function poolNames(): Promise<readonly string[]> {
  const answer = await fetch(`${server.url}/api/2.0/instance-pools/list`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const { instance_pools = [] } = (await answer.json()) as {
    instance_pools?: { instance_pool_name: string }[];
  };
  return instance_pools.map((pool) => pool.instance_pool_name).sort();
}

const wanted = Array.from({ length: 12 }, (_, at) => `p${at}`).sort();
const options = ["--auto-approve", "--parallelism", "2"];

describe("the program as a process", () => {
  test("ends with an error when its folder was deleted", () => {
    const folder = folderWith("");
    const inside = `cd "$0" && rm -r "$0" && exec "$1" "$2" plan`;
    const { status, stderr } = spawnSync("sh", ["-c", inside, folder, process.execPath, BIN], {
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringContaining("error CLI_FILE: the current folder was deleted"),
    ]);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  test("--version prints the version of package.json", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    const ended = await start(["--version"], { cwd: folderWith("") }).ended;
    expect(ended).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s during an apply finishes what is in flight, saves, and exits %i", async (signal, code) => {
    const cwd = folderWith(POOLS);
    await slowCreates(150);
    const run = start(["apply", ...options], { cwd, env: env() });
    await creates(3);
    run.child.kill(signal);
    const ended = await run.ended;
    expect(ended.code).toBe(code);
    expect(ended.stdout).toMatch(/Stopped after .*skipped/);
    const made = await poolNames();
    expect(made.length).toBeLessThan(12);
    await control("DELETE", "faults");
    const listed = await start(["state", "list"], { cwd }).ended;
    expect(
      listed.stdout
        .trim()
        .split("\n")
        .map((line) => line.slice("pools.".length))
        .sort(),
    ).toEqual(made);
    expect((await start(["apply", ...options], { cwd, env: env() }).ended).code).toBe(0);
    expect(await poolNames()).toEqual(wanted);
  });

  test("a signal ends a run that waits for a file system", async () => {
    const cwd = folderWith(POOLS);
    const script =
      'const { runInProcess } = await import(process.argv[1]); import("node:fs").then((fs) => fs.promises.readFile("hangs")); await runInProcess(["emulator", "--token", "t"]);';
    spawnSync("mkfifo", [join(cwd, "hangs")]);
    const source = join(import.meta.dirname, "../../src/cli/process.ts");
    const child = spawn(process.execPath, ["--input-type=module", "-e", script, source], { cwd });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const ended = new Promise((resolve) => child.on("close", (...how) => resolve(how)));
    child.kill("SIGTERM");
    expect(await ended).toEqual([null, "SIGTERM"]);
  });

  test("a second Ctrl-C ends the run at once, and the next run finishes", async () => {
    const cwd = folderWith(POOLS);
    await slowCreates(5_000);
    const run = start(["apply", ...options], { cwd, env: env() });
    await creates(1);
    run.child.kill("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 600));
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    await control("DELETE", "faults");
    expect((await start(["apply", ...options], { cwd, env: env() }).ended).code).toBe(0);
    expect(await poolNames()).toEqual(wanted);
  });

  test("SIGKILL in the middle of an apply loses nothing: the next run finishes, and its plan is empty", async () => {
    const cwd = folderWith(POOLS);
    await slowCreates(100);
    const run = start(["apply", ...options], { cwd, env: env() });
    await creates(5);
    run.child.kill("SIGKILL");
    expect((await run.ended).signal).toBe("SIGKILL");
    await control("DELETE", "faults");
    const next = await start(["apply", ...options], { cwd, env: env() }).ended;
    expect(next).toMatchObject({ code: 0 });
    expect(await poolNames()).toEqual(wanted);
    expect((await start(["plan", "--detailed-exitcode"], { cwd, env: env() }).ended).code).toBe(0);
  });

  test("a reader that closes the pipe does not end an apply", async () => {
    const cwd = folderWith(POOLS);
    const run = start(["apply", ...options, "--output", "json"], { cwd, env: env() });
    run.child.stdout?.destroy();
    expect((await run.ended).code).toBe(0);
    expect(await poolNames()).toEqual(wanted);
  });

  test("the emulator prints its URL, serves, and ends with the signal's code", async () => {
    const run = start(["emulator", "--port", "0", "--token", "t"], { cwd: folderWith("") });
    const url = await new Promise<string>((resolve) =>
      run.child.stdout?.once("data", (data: Buffer) => resolve(data.toString().trim())),
    );
    const answer = await fetch(`${url}/api/2.0/clusters/list`, { headers: { authorization: "Bearer t" } });
    expect(answer.status).toBe(200);
    run.child.kill("SIGTERM");
    expect(await run.ended).toMatchObject({ code: 143, stderr: "" });
  });

  test("no output shows a stack trace, whatever ends the run", async () => {
    const cwd = folderWith("pools: [");
    for (const words of [
      ["plan"],
      ["apply", "nothing.plan"],
      ["state", "show", "x"],
      ["plan", "--host", "embedded", "--state", "workspace.yaml"],
    ]) {
      const { stdout, stderr, code } = await start(words, { cwd }).ended;
      expect(code).toBe(1);
      expect(stdout + stderr).not.toMatch(/^\s+at .*(file:|node:|\.ts:)/m);
    }
  });
});

/** A Node before 24 on this machine, for the launcher. */
const older = ["/usr/bin/node", "/usr/local/bin/node"].find((path) => {
  if (!existsSync(path)) return false;
  const major = Number(/^v(\d+)/.exec(spawnSync(path, ["--version"], { encoding: "utf8" }).stdout)?.[1]);
  return major >= 20 && major < 24;
});

describe.skipIf(older === undefined)("on an older Node", () => {
  test("the program runs on the Node that npm installed, with its arguments, output and exit code", async () => {
    const cwd = folderWith("groups: { a: {} }\n");
    expect(await start(["validate"], { cwd, node: older ?? "" }).ended).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect((await start(["validate", "--nonsense"], { cwd, node: older ?? "" }).ended).code).toBe(1);
  });

  test("one Ctrl-C reaches the program once", async () => {
    const cwd = folderWith(POOLS);
    await slowCreates(150);
    const run = start(["apply", ...options], { cwd, env: env(), node: older ?? "" });
    await creates(2);
    run.child.kill("SIGINT");
    const ended = await run.ended;
    expect(ended.code).toBe(130);
    expect(ended.stdout).toMatch(/Stopped after/);
    await control("DELETE", "faults");
  });

  test("the program ends with its launcher", async () => {
    const run = start(["emulator", "--token", "t"], { cwd: folderWith(""), node: older ?? "" });
    const url = await new Promise<string>((resolve) =>
      run.child.stdout?.once("data", (data: Buffer) => resolve(data.toString().trim())),
    );
    run.child.kill("SIGKILL");
    await run.ended;
    await expect
      .poll(
        () =>
          fetch(url).then(
            () => "alive",
            () => "gone",
          ),
        { timeout: 5_000 },
      )
      .toBe("gone");
  });

  test("a long wait before a retry is reported, and a signal ends it", async () => {
    const cwd = folderWith(POOLS);
    const path = "/api/2.0/instance-pools/list";
    await control("PUT", "faults", { rules: [{ path, fate: "status", status: 429, retry_after: 60 }] });
    const { child, ended } = start(["plan"], { cwd, env: env() });
    await new Promise((resolve) => child.stderr?.once("data", resolve));
    child.kill("SIGINT");
    expect(await ended).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/^instance-pools\/list answered 429; retry 1 in 6\d s\n/),
    });
  });

  test("many short waits before retries are reported", async () => {
    const cwd = folderWith(POOLS);
    const path = "/api/2.0/instance-pools/list";
    await control("PUT", "faults", { rules: [{ path, fate: "status", status: 429, retry_after: 0 }] });
    const { child, ended } = start(["plan"], { cwd, env: env() });
    await new Promise((resolve) => child.stderr?.once("data", resolve));
    child.kill("SIGINT");
    expect(await ended).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/^instance-pools\/list answered 429; retry 5 in 1 s\n/),
    });
    await control("DELETE", "faults");
  });

  test("after a saved plan was applied, no later plan asks who the caller is", async () => {
    const cwd = folderWith("scopes: { etl: { acls: { users: READ } } }\n");
    await start(["plan", "--out", "first.plan"], { cwd, env: env() }).ended;
    expect((await start(["apply", "first.plan"], { cwd, env: env() }).ended).code).toBe(0);
    await control("DELETE", "requests");
    expect((await start(["plan", "--detailed-exitcode"], { cwd, env: env() }).ended).code).toBe(0);
    const { requests } = (await control("GET", "requests")) as { requests: { path: string }[] };
    expect(requests.map((one) => one.path).filter((path) => path.endsWith("/Me"))).toEqual([]);
  });
});

test("the launcher is a file that can be run", () => {
  expect(readFileSync(BIN, "utf8").startsWith("#!/usr/bin/env node")).toBe(true);
});
