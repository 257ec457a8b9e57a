// Answers of the service that contain what a run sent, in its messages.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { startEmulator } from "../../../../src/emulator/server.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const VALUE = "CANARY-7731-abcdef";
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A service that answers one path as given, and all others as the emulator does. */
async function serviceWith(
  path: string,
  answer: (body: string) => readonly [number, string] | undefined,
): Promise<string> {
  const emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: "token-of-the-test" });
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const own = request.url?.startsWith(path) === true ? answer(body.toString("utf8")) : undefined;
    if (own !== undefined) {
      const [status, text] = own;
      return response.writeHead(status, { "content-type": "application/json" }).end(text);
    }
    const { host: _, connection: __, ...headers } = request.headers;
    const passed = await fetch(`${emulator.url}${request.url}`, {
      method: request.method ?? "GET",
      headers: headers as Record<string, string>,
      ...(body.length > 0 ? { body } : {}),
    });
    return response
      .writeHead(passed.status, { "content-type": passed.headers.get("content-type") ?? "application/json" })
      .end(Buffer.from(await passed.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  closing.push(
    () => server.closeAllConnections(),
    () => server.close(),
    () => emulator.close(),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const CLUSTER = (
  tag: string,
  variable: string,
) => `variables: { s: { type: string, sensitive: true${variable} } }
clusters:
  c: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, custom_tags: { k: "${tag}" } }
`;

async function run(line: string, folder: string, host: string, s: string) {
  const env = { WORKSPACE_HOST: host, WORKSPACE_TOKEN: "token-of-the-test", WORKSPACE_VAR_s: s };
  const context = contextWith(env, folder);
  const code = await runProgram(context, line.split(" "));
  return { code, all: context.out() + context.err() };
}

describe("no message has a sensitive value that the service sends back", () => {
  const refused = (code: string, message: string) => () =>
    [400, JSON.stringify({ error_code: code, message })] as const;

  test.each(["text", "json"])("as the code of an error, in progress and result (%s)", async (format) => {
    const host = await serviceWith("/api/2.0/clusters/create", refused(VALUE, "m"));
    const { code, all } = await run(
      `apply --auto-approve -o ${format}`,
      folderWith(CLUSTER("${var.s}", "")),
      host,
      VALUE,
    );
    expect(code).toBe(1);
    expect(all).toContain("clusters/create was refused");
    expect(all).not.toContain(VALUE);
  });

  test("with parentheses, as the code of an error", async () => {
    const value = `${VALUE} (x)`;
    const host = await serviceWith("/api/2.0/clusters/list", refused(value, "m"));
    const { code, all } = await run("import clusters.c 1", folderWith(CLUSTER("${var.s}", "")), host, value);
    expect([code, all]).toEqual([1, expect.stringContaining("(400 (sensitive))")]);
  });

  test("from a state in the workspace", async () => {
    const host = await serviceWith("/api/2.0/fs/", refused("INVALID_PARAMETER_VALUE", `no ${VALUE}`));
    const folder = folderWith(CLUSTER("${var.s}", ""));
    for (const line of ["plan", "apply --auto-approve"]) {
      const { code, all } = await run(`${line} --state workspace:/Shared/state`, folder, host, VALUE);
      expect([line, code]).toEqual([line, 1]);
      expect(all).toContain("STATE_IO");
      expect(all).not.toContain(VALUE);
    }
  });

  test.each([
    ["a value of an enum", ", enum: [goldtier, silvertier]", "${var.s}", "goldtier"],
    ["a string of an expression", "", "${var.s == 'goldtier' ? 'alphaword' : 'bravoword'}", "alphaword"],
  ])("in an error about %s", async (_, variable, tag, word) => {
    const host = await serviceWith("/api/2.0/clusters/create", (body) => [
      400,
      JSON.stringify({ error_code: "INVALID_PARAMETER_VALUE", message: `bad request: ${body}` }),
    ]);
    const { code, all } = await run(
      "apply --auto-approve",
      folderWith(CLUSTER(tag, variable)),
      host,
      "goldtier",
    );
    expect(code).toBe(1);
    expect(all).toContain("bad request");
    expect(all).not.toContain(word);
  });

  test.each([
    [
      "in an HTML page that does not escape it",
      (value: string) => `<html><body><h1>Bad</h1>${value}</body></html>`,
    ],
    [
      "with some of its marks escaped",
      (value: string) => `no ${value.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}`,
    ],
    [
      "as PHP escapes it",
      (value: string) => `no ${value.replaceAll("&", "&amp;").replaceAll("'", "&#039;")}`,
    ],
    ["with its quotes doubled", (value: string) => `no '${value.replaceAll("'", "''")}'`],
  ])("%s", async (_, page) => {
    const value = "Pw&one'tw<three>four-CANARY";
    const host = await serviceWith("/api/2.0/clusters/create", () => [400, page(value)]);
    const { code, all } = await run("apply --auto-approve", folderWith(CLUSTER("${var.s}", "")), host, value);
    expect(code).toBe(1);
    expect(all).toContain("a server that is not this API");
    expect(all).not.toMatch(/CANARY|three|Pw&/);
  });

  test("that it shortens with three dots", async () => {
    const message = `bad value '${VALUE.slice(0, 12)}...'`;
    const host = await serviceWith("/api/2.0/clusters/create", refused("INVALID_PARAMETER_VALUE", message));
    const { all } = await run("apply --auto-approve", folderWith(CLUSTER("${var.s}", "")), host, VALUE);
    expect(all).toContain("bad value");
    expect(all).not.toContain(VALUE.slice(0, 12));
  });

  test("in the reason why an object cannot be imported", async () => {
    const job = { job_id: 7, settings: { name: "j" }, unmanageable: `it has a ${VALUE}_task` };
    const host = await serviceWith("/api/2.0/jobs/", () => [200, JSON.stringify({ ...job, jobs: [job] })]);
    const spec = `variables: { s: { type: string, sensitive: true } }
jobs: { j: { new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, custom_tags: { k: "\${var.s}" } }, notebook_task: { notebook_path: /n } } }
`;
    const { code, all } = await run("import jobs.j 7", folderWith(spec), host, VALUE);
    expect(code).toBe(1);
    expect(all).toContain("cannot manage the job 7: it has a (sensitive)_task");
    expect(all).not.toContain(VALUE);
  });

  test("in place of the ID of a new job", async () => {
    const host = await serviceWith("/api/2.0/jobs/create", () => [200, JSON.stringify({ job_id: VALUE })]);
    const spec = `variables: { s: { type: string, sensitive: true } }
jobs: { j: { new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, custom_tags: { k: "\${var.s}" } }, notebook_task: { notebook_path: /n } } }
`;
    const { code, all } = await run("apply --auto-approve", folderWith(spec), host, VALUE);
    expect(code).toBe(1);
    expect(all).not.toContain("CLI_INTERNAL");
    expect(all).not.toContain(VALUE);
  });
});

const NEW_CLUSTER =
  '{ spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1, custom_tags: { k: "${var.s}" } }';

describe("no command that operates an object shows a sensitive value that the service answers with", () => {
  const JOB = `variables: { s: { type: string, sensitive: true } }
jobs: { j: { new_cluster: ${NEW_CLUSTER}, notebook_task: { notebook_path: /n } } }
`;

  test.each(["run jobs.j", "runs list", "runs get --job jobs.j", "clusters events clusters.c"])(
    "%s, from a state in the workspace",
    async (line) => {
      const message = `no ${VALUE}`;
      const host = await serviceWith("/api/2.0/fs/", () => [
        400,
        JSON.stringify({ error_code: "INVALID_PARAMETER_VALUE", message }),
      ]);
      const { code, all } = await run(
        `${line} --state workspace:/Shared/state`,
        folderWith(CLUSTER("${var.s}", "")),
        host,
        VALUE,
      );
      expect({ code, all }).toEqual({ code: 1, all: expect.stringContaining("no (sensitive)") });
      expect(all).not.toContain(VALUE);
    },
  );

  test.each([
    ["run jobs.j", "run-now", { run_id: VALUE }, 1],
    ["run jobs.j -o json", "run-now", { run_id: 1, note: VALUE }, 0],
    ["runs get --job jobs.j", "runs/list", { runs: [{ run_id: VALUE }] }, 1],
    [
      "runs cancel 1",
      "runs/get",
      { run_id: 1, state: { life_cycle_state: "TERMINATED", result_state: VALUE } },
      0,
    ],
    ["runs delete 1 --auto-approve", "runs/get", { run_id: 1, state: { life_cycle_state: VALUE } }, 1],
  ])("%s", async (line, operation, answer, expected) => {
    const host = await serviceWith(`/api/2.0/jobs/${operation}`, () => [200, JSON.stringify(answer)]);
    const folder = folderWith(JOB);
    expect((await run("apply --auto-approve", folder, host, VALUE)).code).toBe(0);
    const { code, all } = await run(line, folder, host, VALUE);
    expect({ code, all }).toMatchObject({ code: expected });
    expect(all).not.toMatch(/CLI_INTERNAL|CANARY/);
  });

  test.each(["restart", "resize --workers 2", "start --wait --timeout 1s"])("clusters %s", async (verb) => {
    let isHostile = false;
    const host = await serviceWith("/api/2.0/clusters/get", () =>
      isHostile ? [200, JSON.stringify({ cluster_id: "1", state: VALUE })] : undefined,
    );
    const folder = folderWith(CLUSTER("${var.s}", ""));
    expect((await run("apply --auto-approve", folder, host, VALUE)).code).toBe(0);
    isHostile = true;
    const [command, ...options] = verb.split(" ");
    const { code, all } = await run(
      `clusters ${command} clusters.c ${options.join(" ")}`.trim(),
      folder,
      host,
      VALUE,
    );
    expect(code).toBe(1);
    expect(all).toContain("(sensitive)");
    expect(all).not.toMatch(/CLI_INTERNAL|CANARY/);
  });
});

test("a node type from a sensitive variable is in no message about it", async () => {
  const spec = `variables: { s: { type: string, sensitive: true, enum: [goldtier, silvertier] } }
clusters: { c: { spark_version: 6.4.x-scala2.11, node_type_id: "\${var.s}", num_workers: 1 } }
`;
  const { code, all } = await run("plan", folderWith(spec), "embedded", "goldtier");
  expect(code).toBe(1);
  expect(all).toContain("node_type_id (sensitive) is not a node type of the workspace");
  // The frame shows the spec, with every value of the enum.
  expect(all.split("\n").filter((line) => line.includes("goldtier") && !line.includes("enum:"))).toEqual([]);
});
