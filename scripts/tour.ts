// The tour (`npm start`): plans and applies a spec, changes the workspace outside it, and reverts the drift. Exits
// with 0 only if all steps succeed.

import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { styleText } from "node:util";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TOKEN = "tour-token";

const folder = mkdtempSync(join(tmpdir(), "workspace-tour-"));
cpSync(join(ROOT, "examples/quickstart"), folder, {
  recursive: true,
  filter: (path) => !path.includes(".workspace"),
});
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  DB_PASSWORD: "not-a-real-secret",
  WORKSPACE_TOKEN: TOKEN,
};
for (const name of [
  "WORKSPACE_HOST",
  "WORKSPACE_PROFILE",
  "WORKSPACE_STATE",
  "WORKSPACE_TARGET",
  "WORKSPACE_FILE",
])
  delete environment[name];

let emulator: ChildProcess | undefined;
try {
  await tour();
  say(
    "\nTo do the same in your own folder, copy examples/quickstart and pass --host embedded, or the URL of your workspace.",
  );
} catch (problem) {
  process.stderr.write(
    `\nThe tour failed: ${problem instanceof Error ? problem.message : String(problem)}\n`,
  );
  process.exitCode = 1;
} finally {
  emulator?.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function tour(): Promise<void> {
  chapter("The embedded workspace is served on this machine");
  const url = await serve();
  environment.WORKSPACE_HOST = url;
  say(`  export WORKSPACE_HOST=${url} WORKSPACE_TOKEN=${TOKEN} DB_PASSWORD=…`);

  chapter("The spec is checked; that needs no workspace");
  await run("validate", 0);
  chapter("Plan: every resource is new");
  await run("plan --detailed-exitcode --out first.plan", 2);
  chapter("Apply exactly that plan");
  await run("apply first.plan", 0);

  chapter("Another user changes the workspace through its API");
  const pool = await poolId(url);
  const edit = {
    instance_pool_id: pool,
    instance_pool_name: "shared",
    node_type_id: "Standard_DS3_v2",
    min_idle_instances: 1,
    max_capacity: 5,
  };
  await behindOurBack(url, "instance-pools/edit", edit);
  await behindOurBack(url, "secrets/acls/delete", { scope: "etl", principal: "data-eng" });

  chapter("Drift shows the change and sends no write (exit code 2 means drift)");
  await run("drift", 2);
  chapter("The plan reverts the change");
  await run("plan --detailed-exitcode -o text -o html=plan.html", 2);
  await run("apply --auto-approve", 0);
  chapter("Nothing is left to do");
  await run("plan --detailed-exitcode", 0);
  chapter("That plan as a page for a browser");
  const path = join(mkdtempSync(join(tmpdir(), "workspace-page-")), "plan.html");
  cpSync(join(folder, "plan.html"), path);
  say(`  ${path}`);
}

/** Starts the emulator over the embedded workspace's data; its URL once it is ready. */
async function serve(): Promise<string> {
  const words = ["emulator", "--port", "0", "--data", ".workspace/embedded"];
  command(`${words.join(" ")} &`);
  const child = cli(words, ["ignore", "pipe", "inherit"]);
  emulator = child;
  const { stdout } = child;
  if (stdout === null) throw new Error("the emulator has no output");
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: stdout }).once("line", resolve);
    child.once("exit", (code) => reject(new Error(`the emulator ended with ${code}`)));
  });
  say(`  ${url}`);
  return url;
}

/** Runs a command as a user would, with its real output. Rejects when it does not exit as expected. */
async function run(line: string, expected: number): Promise<void> {
  command(line);
  const child = cli(line.split(" "), "inherit");
  const code = await new Promise<number | null>((resolve) => child.once("exit", resolve));
  if (code !== expected) throw new Error(`workspace ${line}: exit ${code}, expected ${expected}`);
}

function cli(words: readonly string[], stdio: "inherit" | ["ignore", "pipe", "inherit"]): ChildProcess {
  return spawn(process.execPath, [join(ROOT, "bin/workspace.js"), ...words], {
    cwd: folder,
    env: environment,
    stdio,
  });
}

async function poolId(url: string): Promise<string> {
  const { instance_pools } = (await call(url, "GET", "instance-pools/list")) as {
    instance_pools: { instance_pool_id: string }[];
  };
  const [pool] = instance_pools;
  if (pool === undefined) throw new Error("the workspace has no pool");
  return pool.instance_pool_id;
}

async function behindOurBack(url: string, operation: string, body: object): Promise<void> {
  say(
    `\n$ ${styleText("bold", `curl -X POST $WORKSPACE_HOST/api/2.0/${operation}`)} -H "Authorization: Bearer $WORKSPACE_TOKEN" -d '${JSON.stringify(body)}'`,
  );
  say(JSON.stringify(await call(url, "POST", operation, body)));
}

async function call(url: string, method: string, operation: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${url}/api/2.0/${operation}`, {
    method,
    headers: { authorization: `Bearer ${TOKEN}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${operation} answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
}

function chapter(title: string): void {
  say(`\n${styleText("cyan", `── ${title} ──`)}`);
}

function command(line: string): void {
  say(`\n$ ${styleText("bold", `workspace ${line}`)}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
