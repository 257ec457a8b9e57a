// Hostile names through the real commands: in the spec, in the workspace, and in what a service says when it refuses.

import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../src/emulator/server.ts";
import { contextWith } from "./context.ts";
import { folderWith } from "./program.ts";

const TOKEN = "hostile-token";

/** Everything at once: C0, C1, CSI, OSC, bidi, zero width, tags, commands of CI services, markup, mentions, a line that poses as a change. */
const EVIL =
  "a\u0007\u001b[2J\u001b]0;t\u0007\u009b31m\u202e\u2066\u200b\u{e0041}\u2028::error::x##[group]y##vso[z]`</details>@all\r\n  - DELETE pools.x";
/** As YAML and JSON write it, without a raw character that YAML forbids. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
const QUOTED = quoted(EVIL);
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

const SPEC = `
users:
  ada@example.com: { displayName: ${QUOTED} }
groups:
  g: { displayName: ${QUOTED}, members: { users: [ada@example.com] } }
pools:
  p: { instance_pool_name: ${quoted(EVIL.slice(0, 90))}, node_type_id: Standard_DS3_v2, custom_tags: { team: ${QUOTED} } }
clusters:
  ${QUOTED}: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, spark_conf: { ${QUOTED}: ${QUOTED} } }
jobs:
  j:
    name: ${QUOTED}
    new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }
    notebook_task: { notebook_path: ${quoted(`/Shared/${EVIL.replaceAll("/", "_")}`)} , base_parameters: { ${QUOTED}: ${QUOTED} } }
    email_notifications: { on_failure: [ada@example.com] }
directories:
  ${quoted(`/Shared/d${EVIL.replaceAll("/", "_")}`)}: {}
notebooks:
  ${quoted(`/Shared/${EVIL.replaceAll("/", "_")}`)}: { source: n.py }
`;

let server: RunningServer;
let refusing: Server;
let cwd: string;
/** What a terminal is told on purpose: colours, and the moves of the board that shows progress. */
const ESC = "\u001b";
const DRAWING = new RegExp(`${ESC}\\[(?:[\\d;]*m|\\d*[AGK]|\\?25[hl]|\\?202[56][hl])`, "g");

const leaks: string[] = [];
let runs = 0;
let shown = "";

beforeAll(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  refusing = createServer((_request, response) => {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error_code: EVIL, message: EVIL, detail: EVIL, scimType: EVIL }));
  });
  await new Promise<void>((resolve) => refusing.listen(0, "127.0.0.1", resolve));
  cwd = folderWith(SPEC);
  writeFileSync(join(cwd, "n.py"), `print(1)\n# ${EVIL}\n`);
});
afterAll(async () => {
  await server.close();
  await new Promise((resolve) => refusing.close(resolve));
});

async function api(path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${server.url}/api/2.0/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return (await answer.json()) as Record<string, unknown>;
}

async function run(
  words: readonly string[],
  host = server.url,
  folder = cwd,
  terminal = false,
): Promise<number> {
  const env = { WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN, WORKSPACE_PARALLELISM: "2" };
  const context = contextWith(env, folder, terminal);
  const code = await runProgram(context, words);
  check(`${words.join(" ")} (stdout)`, context.out(), terminal);
  check(`${words.join(" ")} (stderr)`, context.err(), terminal);
  runs += 1;
  shown ||= /.*\\u202e.*/.exec(context.out())?.[0] ?? "";
  return code;
}

function check(at: string, text: string, terminal = false): void {
  const bare = text.replace(terminal ? DRAWING : /\n/g, "").replaceAll("\n", "");
  const hidden = HIDDEN.exec(bare);
  if (hidden !== null)
    leaks.push(
      `${at}: hidden ${JSON.stringify(bare.slice(Math.max(0, hidden.index - 60), hidden.index + 20))}`,
    );
  const told = /.{0,40}(::error|##\w*\[).{0,10}/.exec(text);
  if (told !== null) leaks.push(`${at}: command ${JSON.stringify(told[0])}`);
  if (/^ {0,4}- DELETE pools\.x/m.test(text)) leaks.push(`${at}: a line poses as a change`);
  if (/CLI_INTERNAL|^\s+at \S+ \(/m.test(text)) leaks.push(`${at}: ${text}`);
  if (
    at.includes("markdown") &&
    /(?<!`[^\n]*)(<\/details>@|@all)/.test(text.replace(/^```[\s\S]*?^```/gm, ""))
  )
    leaks.push(`${at}: markup`);
}

const FORMS = ["text", "json", "markdown"] as const;

/** Things that nobody declared, under names as bad as the service takes. */
async function strangers(): Promise<void> {
  await api("preview/scim/v2/Users", {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    userName: "eve@example.com",
    displayName: EVIL,
  });
  await api("preview/scim/v2/Groups", {
    displayName: `${EVIL}2`,
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
  });
  await api("instance-pools/create", {
    instance_pool_name: EVIL.slice(0, 80),
    node_type_id: "Standard_DS3_v2",
  });
  await api("clusters/create", {
    cluster_name: EVIL,
    spark_version: "6.4.x-scala2.11",
    node_type_id: "Standard_DS3_v2",
    num_workers: 1,
    custom_tags: { t: EVIL },
  });
  const task = {
    new_cluster: { spark_version: "6.4.x-scala2.11", node_type_id: "Standard_DS3_v2", num_workers: 1 },
    notebook_task: { notebook_path: `/Shared/${EVIL.replaceAll("/", "_")}` },
  };
  const job = await api("jobs/create", { name: EVIL, ...task });
  await api("jobs/run-now", { job_id: job.job_id, notebook_params: { [EVIL]: EVIL } });
  await api("jobs/runs/submit", { run_name: EVIL, ...task });
}

/** Ends every run under way, with a result or an error as bad as can be. */
async function endRuns(state: string): Promise<void> {
  const { runs: active = [] } = (await api("jobs/runs/list?active_only=true")) as {
    runs?: { run_id: number }[];
  };
  for (const { run_id } of active)
    await fetch(`${server.url}/__emulator/runs`, {
      method: "POST",
      body: JSON.stringify({
        run_id,
        result_state: state,
        ...(state === "FAILED" ? { error: EVIL } : { result: EVIL }),
      }),
    });
}

describe("hostile names through the program", () => {
  test("nothing hidden, no command of a CI service and no forged line leaves through any command", async () => {
    expect(await run(["validate"])).toBe(0);
    await run(["validate", "--output", "json"]);
    for (const form of FORMS) expect(await run(["plan", "--output", form])).toBe(0);
    for (const form of FORMS) await run(["drift", "--output", form]);
    expect(await run(["plan", "--untrusted"])).toBe(0);
    expect(await run(["plan", "--offline"])).toBe(0);
    expect(await run(["apply", "--auto-approve", "--output", "text"])).toBe(0);
    for (const form of ["json", "dot", "mermaid", "svg"])
      expect(await run(["graph", "--output", form])).toBe(0);
    for (const form of ["text", "json"]) await run(["state", "list", "--output", form]);
    await run(["state", "show", "groups.g"]);
    await run(["state", "show", `clusters.${EVIL}`]);
    await run(["state", "show", `clusters.${EVIL}x`]);
    await run(["state", "mv", `clusters.${EVIL}`, `clusters.${EVIL}9`]);
    await run(["state", "mv", `clusters.${EVIL}9`, `clusters.${EVIL}`]);
    await strangers();
    for (const form of FORMS) await run(["plan", "--output", form]);
    await run(["plan", "--adopt"]);
    for (const form of FORMS) await run(["plan", "--destroy", "--output", form]);
    await run(["export"]);
    await run(["export", "--out", "out", "--force"]);
    check("export's files", readFileSync(join(cwd, "out/workspace.yaml"), "utf8"));
    await run(["run", "jobs.j", "--param", `${EVIL}=${EVIL}`]);
    await run(["run", `jobs.${EVIL}`]);
    for (const form of ["text", "json"]) await run(["runs", "list", "--output", form]);
    for (const state of ["FAILED", "SUCCESS"]) {
      await endRuns(state);
      for (const form of ["text", "json"]) await run(["runs", "get", "jobs.j", "--output", form]);
      await run(["runs", "list"]);
      await run(["runs", "output", "jobs.j"]);
      await run(["run", "jobs.j"]);
    }
    await run(["runs", "get", EVIL]);
    await run(["clusters", "events", `clusters.${EVIL}`]);
    await run(["clusters", "resize", `clusters.${EVIL}`, EVIL]);
    await run(["api", "clusters/list"]);
    await run(["api", "jobs/list"]);
    await run(["api", EVIL]);
    await run(["api", "jobs/get", `job_id=${EVIL}`]);
    await run(["import", `pools.${EVIL}`, EVIL]);
    await run(["explain", EVIL]);
    await run(["explain", `pools.${EVIL}`]);
    await run([EVIL]);
    await run(["plan", `--${EVIL}`]);
    await run(["plan", "--output", EVIL]);
    await run(["plan", "--file", EVIL]);
    await run(["plan", "--target", EVIL]);
    await run(["plan", "--only", EVIL]);
    await run(["plan", "--var", `${EVIL}=1`]);
    await run(["plan", "--var-file", EVIL]);
    await run(["plan", "--state", EVIL]);
    await run(["plan", "--host", EVIL]);
    await run(["plan", "--profile", EVIL]);
    await run(["apply", EVIL]);
    await run(["state", "unlock", EVIL]);
    for (const form of FORMS) await run(["drift", "--output", form]);
    writeFileSync(join(cwd, "n.py"), `print(2)\n# ${EVIL}2\n`);
    for (const form of FORMS) await run(["plan", "--output", form]);
    const failing = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
    const fresh = folderWith(SPEC);
    writeFileSync(join(fresh, "n.py"), "print(1)\n");
    for (const form of FORMS) await run(["plan", "--output", form], failing, fresh);
    await run(["apply", "--auto-approve"], failing, fresh);
    await run(["api", "jobs/list"], failing, fresh);
    await run(["export"], failing, fresh);
    await run(["runs", "list"], failing, fresh);
    await run(["apply", "--auto-approve"], server.url, cwd, true);
    for (const form of FORMS) await run(["destroy", "--auto-approve", "--output", form]);
    expect(leaks).toEqual([]);
    expect(runs).toBeGreaterThan(70);
    // The name was there to leak: its marks are shown as escapes.
    expect(shown).toMatch(/\\u202e.*\\u200b/);
  }, 60_000);
});
