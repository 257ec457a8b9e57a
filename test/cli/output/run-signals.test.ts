// The metrics file and the webhook of a run: written however it ends, and never with a value of the spec.

import { createHmac } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const TOKEN = "signals-token";
const POOL = "pools: { p: { node_type_id: Standard_DS3_v2 } }\n";
const CANARY = "canary-7f3a";

interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly hangs?: boolean;
}

class Receiver {
  readonly posted: Posted[] = [];
  /** Answers in order; then 200. */
  answers: Answer[] = [];
  readonly #server: Server = createServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      this.posted.push({ headers: request.headers, body });
      const { status, headers, body: text = "ok", hangs }: Answer = this.answers.shift() ?? { status: 200 };
      response.writeHead(status, headers).write(text);
      if (hangs !== true) response.end();
    });
  });
  url = "";

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

let server: RunningServer;
let receiver: Receiver;
beforeEach(async () => {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  receiver = new Receiver();
  await receiver.open();
});
afterEach(async () => {
  receiver.close();
  await server.close();
});

async function run(cwd: string, line: string, env: Record<string, string> = {}) {
  const context = contextWith({ WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN, ...env }, cwd);
  const code = await runProgram(context, line.split(" "));
  return { code, out: context.out(), err: context.err() };
}

describe("--metrics", () => {
  const metrics = (cwd: string) => readFileSync(join(cwd, "m.prom"), "utf8");

  test("the apply of a saved plan names the target of the plan, also if it fails", async () => {
    const targets = "targets: { dev: { default: true }, prod: {} }\n";
    const cwd = folderWith(`${targets}${POOL}`);
    await run(cwd, "plan --target prod --out prod.plan");
    expect((await run(cwd, "apply prod.plan --metrics m.prom")).code).toBe(0);
    expect(metrics(cwd)).toMatch(/workspace_run_info\{command="apply",target="prod"/);
    expect((await run(cwd, "apply prod.plan --metrics m.prom")).code).toBe(4);
    expect(metrics(cwd)).toMatch(/workspace_run_info\{command="apply",target="prod"/);
  });

  test("plan, apply and drift write what they found, with resources by kind", async () => {
    const folder = folderWith(POOL);
    await run(folder, "plan --metrics m.prom");
    expect(metrics(folder)).toMatch(
      /_differences\{command="plan",.*kind="pools",action="create",cause="spec",.*\} 1\n/,
    );
    await run(folder, "apply --auto-approve --metrics m.prom");
    expect(metrics(folder)).toContain(
      'workspace_resources{command="apply",target="default",kind="pools"} 1\n',
    );
    expect(metrics(folder)).toContain(
      'workspace_changes{command="apply",target="default",result="applied"} 1\n',
    );
    expect(metrics(folder)).toMatch(/_requests\{.*operation="instance-pools\/create",status="200"\} 1\n/);
    expect((await run(folder, "drift --metrics m.prom")).code).toBe(0);
    expect(metrics(folder)).toMatch(/outcome="success"\} 1\n/);
  });

  test("new, reported, and acknowledged differences are separate series", async () => {
    const folder = folderWith(POOL);
    await run(folder, "apply --auto-approve");
    const { id } = JSON.parse((await run(folder, "state show pools.p")).out);
    const edit = `api instance-pools/edit instance_pool_id=${id} instance_pool_name=p node_type_id=Standard_DS3_v2`;
    await run(folder, `${edit} max_capacity=7`);
    const statuses = () => metrics(folder).match(/(?<=^workspace_differences\{.*status=")\w+/gm);
    await run(folder, "drift --since last --metrics m.prom");
    expect(statuses()).toEqual(["new"]);
    await run(folder, "drift --metrics m.prom");
    expect(statuses()).toEqual(["reported"]);
    await run(folder, "drift acknowledge pools.p.max_capacity --until 2999-12-31 --reason known");
    await run(folder, "drift --metrics m.prom");
    expect(statuses()).toEqual(["acknowledged"]);
    await run(folder, "plan --metrics m.prom");
    expect(statuses()).toEqual(["acknowledged"]);
  });

  test("a run that fails before the first request writes its outcome and keeps the last success", async () => {
    const folder = folderWith(POOL);
    await run(folder, "plan --metrics m.prom", { SOURCE_DATE_EPOCH: "1700000000" });
    writeFileSync(join(folder, "workspace.yaml"), "pools: 5\n");
    const { code } = await run(folder, "plan --metrics m.prom", { SOURCE_DATE_EPOCH: "1700000500" });
    expect([code, metrics(folder)]).toEqual([1, expect.stringMatching(/outcome="failed"\} 1\n/)]);
    expect(metrics(folder)).toMatch(/last_success_timestamp_seconds\{.*\} 1700000000\n/);
    expect(metrics(folder)).toMatch(/last_run_timestamp_seconds\{.*\} 1700000500\n/);
  });

  test("retries are counted", async () => {
    const folder = folderWith(POOL);
    await fetch(`${server.url}/__emulator/faults`, {
      method: "PUT",
      headers: { authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({
        rules: [{ path: "/api/2.0/instance-pools/list", fate: "status", status: 503, times: 1 }],
      }),
    });
    await run(folder, "plan --metrics m.prom");
    expect(metrics(folder)).toMatch(/_requests\{.*"instance-pools\/list",status="503"\} 1\n/);
    expect(metrics(folder)).toMatch(/_request_retries\{.*"instance-pools\/list"\} 1\n/);
  });

  test("an apply that is interrupted is in the metrics, the webhook message, and the history", async () => {
    const folder = folderWith(
      "pools: { p: { node_type_id: Standard_DS3_v2 }, q: { node_type_id: Standard_DS3_v2 } }\n",
    );
    const authorization = { authorization: `Bearer ${TOKEN}` };
    const slow = { path: "/api/2.0/instance-pools/create", fate: "slow", delay_ms: 500 };
    const faults = { method: "PUT", headers: authorization, body: JSON.stringify({ rules: [slow] }) };
    expect((await fetch(`${server.url}/__emulator/faults`, faults)).status).toBe(200);
    const context = contextWith({ WORKSPACE_HOST: server.url, WORKSPACE_TOKEN: TOKEN }, folder);
    const line = `apply --auto-approve --parallelism 1 --metrics m.prom --webhook ${receiver.url}`;
    const ended = runProgram(context, line.split(" "));
    for (let sent = false; !sent; ) {
      const answer = await fetch(`${server.url}/__emulator/requests`, { headers: authorization });
      const { requests } = (await answer.json()) as { requests: { path: string }[] };
      sent = requests.some(({ path }) => path === slow.path);
    }
    context.signals.receive("SIGINT");
    expect(await ended).toBe(130);
    expect(metrics(folder)).toContain(
      'workspace_run_outcome{command="apply",target="default",outcome="interrupted"} 1\n',
    );
    expect(metrics(folder)).not.toContain("last_success");
    expect(metrics(folder)).toContain('result="applied"} 1\n');
    expect(metrics(folder)).toContain('result="skipped"} 1\n');
    const posted = JSON.parse(receiver.posted[0]?.body ?? "{}");
    expect(posted).toMatchObject({ outcome: "interrupted", exit_code: 130 });
    const { runs } = JSON.parse((await run(folder, "history -o json")).out);
    expect(runs).toMatchObject([{ outcome: "interrupted", applied: { create: 1 }, left: 1 }]);
  });

  test("each metric of a run that the documentation names is written by an apply, and no other", async () => {
    const documented = readFileSync("docs/metrics.md", "utf8").match(
      /(?<=^\| `)workspace_(?!fleet_|worker_)\w+/gm,
    );
    const folder = folderWith(POOL);
    await run(folder, "apply --auto-approve --metrics m.prom");
    const written = metrics(folder).match(/(?<=^# TYPE )\w+/gm);
    expect(written?.toSorted()).toEqual(documented?.toSorted());
  });

  test("drift of a run whose metrics cannot be written is new in the next run", async () => {
    const folder = folderWith(POOL);
    await run(folder, "apply --auto-approve");
    const { id } = JSON.parse((await run(folder, "state show pools.p")).out);
    const edit = `api instance-pools/edit instance_pool_id=${id} instance_pool_name=p node_type_id=Standard_DS3_v2`;
    await run(folder, `${edit} max_capacity=7`);
    const { code, err } = await run(folder, "drift --since last --metrics none/m.prom");
    expect([code, err]).toEqual([1, expect.stringContaining("the metrics cannot be written to none/m.prom")]);
    expect(err.match(/cannot be written/g)).toHaveLength(1);
    expect((await run(folder, "drift --since last --metrics m.prom")).code).toBe(2);
    expect(metrics(folder)).toMatch(/_differences\{.*status="new"/);
    expect((await run(folder, "drift --since last --metrics m.prom")).code).toBe(0);
  });

  test("a file that cannot be written is an error with exit 1, and leaves what stood there", async () => {
    const folder = folderWith(POOL);
    mkdirSync(join(folder, "full"));
    const { code, err } = await run(folder, "plan --metrics none/m.prom");
    expect([code, err]).toEqual([1, expect.stringContaining("the metrics cannot be written to none/m.prom")]);
    expect(existsSync(join(folder, "none"))).toBe(false);
  });
});

describe("--webhook", () => {
  test("the message is signed over its time and body", async () => {
    const secret = { WORKSPACE_WEBHOOK_SECRET: CANARY };
    const { code } = await run(folderWith(POOL), `plan --webhook ${receiver.url}/hook`, secret);
    const [{ headers, body }] = receiver.posted as [Posted];
    const time = headers["x-workspace-timestamp"];
    const mac = createHmac("sha256", CANARY).update(`${time}.${body}`).digest("hex");
    expect([code, headers["x-workspace-signature"]]).toEqual([0, `v1=${mac}`]);
    expect(Math.abs(Date.now() / 1000 - Number(time))).toBeLessThan(300);
    expect(JSON.parse(body)).toMatchObject({
      format: "workspace-run/1",
      command: "plan",
      outcome: "success",
      differences: [{ kind: "pools", action: "create", cause: "spec", count: 1 }],
    });
  });

  const drifted = async (capacity: number, folder = folderWith(POOL), more = ""): Promise<string> => {
    if (!existsSync(join(folder, ".workspace"))) await run(folder, "apply --auto-approve");
    const { out } = await run(folder, "state show pools.p");
    const { id } = JSON.parse(out);
    const edit = `api instance-pools/edit instance_pool_id=${id} instance_pool_name=p node_type_id=Standard_DS3_v2`;
    expect((await run(folder, `${edit} max_capacity=${capacity}${more}`)).code).toBe(0);
    return folder;
  };
  const accept = "drift acknowledge pools.p --until 2999-12-31 --reason known";
  const bodies = () => receiver.posted.map(({ body }) => JSON.parse(body));

  test("a resource with a new difference is new, whatever was reported of it before", async () => {
    const folder = await drifted(7, undefined, " min_idle_instances=1");
    const watch = `drift --since last --webhook ${receiver.url}`;
    expect((await run(folder, watch)).code).toBe(2);
    await drifted(8, folder, " min_idle_instances=1");
    expect((await run(folder, watch)).code).toBe(2);
    expect(bodies()[1]).toMatchObject({
      differences: [
        { severity: "cost", status: "new", count: 1 },
        { severity: "cost", status: "reported", count: 1 },
      ],
      differing_resources: [{ address: "pools.p", status: "new" }],
    });
  });

  test("a message names what is new, and a run without news sends none", async () => {
    const folder = await drifted(7);
    const watch = `drift --since last --webhook ${receiver.url}`;
    expect((await run(folder, watch)).code).toBe(2);
    expect(bodies()).toMatchObject([
      {
        command: "drift",
        differences: [{ kind: "pools", action: "changed", severity: "cost", status: "new", count: 1 }],
        differing_resources: [{ address: "pools.p", action: "changed", severity: "cost", status: "new" }],
        more_differing_resources: 0,
      },
    ]);
    expect(receiver.posted[0]?.body).not.toContain("7}");
    expect([(await run(folder, watch)).code, receiver.posted.length]).toEqual([0, 1]);
    expect([(await run(folder, `${watch} --webhook-on always`)).code, receiver.posted.length]).toEqual([
      0, 2,
    ]);
    expect(bodies()[1]).toMatchObject({ differing_resources: [{ address: "pools.p", status: "reported" }] });
    await drifted(8, folder);
    expect([(await run(folder, watch)).code, receiver.posted.length]).toEqual([2, 3]);
  });

  test("drift whose message was not accepted is new in the next run", async () => {
    const folder = await drifted(7);
    const watch = `drift --since last --webhook ${receiver.url}`;
    receiver.answers = [{ status: 400 }];
    const { code, err } = await run(folder, watch);
    expect([code, err.match(/CLI_WEBHOOK/g)?.length]).toEqual([2, 1]);
    expect((await run(folder, watch)).code).toBe(2);
    expect(bodies()[1]).toMatchObject({ differing_resources: [{ address: "pools.p", status: "new" }] });
    expect([(await run(folder, watch)).code, receiver.posted.length]).toEqual([0, 2]);
  });

  test("drift whose report could not be written is new in the next run, and the message says that the run failed", async () => {
    const folder = await drifted(7);
    const watch = `drift --since last --webhook ${receiver.url}`;
    expect((await run(folder, `${watch} -o json=missing/drift.json`)).code).toBe(1);
    expect(bodies()).toMatchObject([{ exit_code: 1 }]);
    expect((await run(folder, watch)).code).toBe(2);
  });

  test("drift that is less severe than --fail-on sends no message, and one when it counts", async () => {
    const folder = await drifted(7);
    const watch = `drift --since last --webhook ${receiver.url}`;
    for (let nights = 0; nights < 2; nights += 1)
      expect([(await run(folder, `${watch} --fail-on security`)).code, bodies()]).toEqual([0, []]);
    expect((await run(folder, watch)).code).toBe(2);
    expect(bodies()).toMatchObject([{ differing_resources: [{ address: "pools.p", status: "new" }] }]);
  });

  test("a resource has the severity of its new differences, not of those that are acknowledged", async () => {
    const folder = folderWith(
      "users: { a@example.com: { groups: [team] } }\ngroups: { team: {}, other: {} }\n",
    );
    expect((await run(folder, "apply --auto-approve")).code).toBe(0);
    const { id } = JSON.parse((await run(folder, "state show users.a@example.com")).out);
    expect((await run(folder, "api groups/add-member user_name=a@example.com parent_name=other")).code).toBe(
      0,
    );
    expect((await run(folder, accept.replace("pools.p", "users.a@example.com.groups"))).code).toBe(0);
    const user = `${server.url}/api/2.0/preview/scim/v2/Users/${id}`;
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const Operations = [{ op: "replace", path: "displayName", value: "Countess" }];
    const schemas = ["urn:ietf:params:scim:api:messages:2.0:PatchOp"];
    await fetch(user, { method: "PATCH", headers, body: JSON.stringify({ schemas, Operations }) });
    const { code, out } = await run(folder, `drift --webhook ${receiver.url} -o github`);
    expect([code, bodies()]).toMatchObject([
      2,
      [{ differing_resources: [{ address: "users.a@example.com", severity: "other", status: "new" }] }],
    ]);
    expect(out).toContain("severity: other");
    writeFileSync(
      join(folder, "fleet.yaml"),
      `workspaces: { w: { spec: ., host: "${server.url}", environment: { WORKSPACE_TOKEN: WORKSPACE_TOKEN }, state: .workspace/default } }\n`,
    );
    const fleet = await run(folder, "fleet drift -o json");
    expect(JSON.parse(fleet.out)).toMatchObject({ drift: { other: 1 } });
  });

  test("acknowledged drift sends no message of drift or of the plan that reverts it, and one of the apply", async () => {
    const folder = await drifted(7);
    expect((await run(folder, accept)).code).toBe(0);
    for (const command of ["drift", "plan"])
      expect([(await run(folder, `${command} --webhook ${receiver.url}`)).code, bodies()]).toEqual([0, []]);
    await run(folder, `drift --webhook ${receiver.url} --webhook-on always`);
    expect(bodies()).toMatchObject([{ differing_resources: [{ status: "acknowledged" }] }]);
    await run(folder, `apply --auto-approve --webhook ${receiver.url}`);
    expect(bodies()[1]).toMatchObject({
      command: "apply",
      results: { applied: 1 },
      differing_resources: [{ address: "pools.p", action: "update", status: "acknowledged" }],
    });
  });

  test("a run that fails always sends its message", async () => {
    await run(folderWith("pools: 5\n"), `drift --webhook ${receiver.url}`);
    expect(bodies()).toMatchObject([{ outcome: "failed" }]);
  });

  test("Slack gets the addresses of what is new, and the number of the others", async () => {
    const names = Array.from({ length: 12 }, (_, at) => `p${at + 10}`);
    const folder = folderWith(
      `pools:\n${names.map((name) => `  ${name}: { node_type_id: Standard_DS3_v2 }\n`).join("")}`,
    );
    await run(folder, `plan --webhook ${receiver.url} --webhook-format slack`);
    const { text } = bodies()[0];
    expect(text).toContain(
      "12 differences (availability 12): 12 new, 0 reported, 0 declared, 0 acknowledged\n",
    );
    expect(text).toContain("• pools.p10: create (availability)\n");
    expect(text).toContain("• pools.p19: create (availability)\n… and 2 more resources\n");
    expect(text).not.toContain("pools.p20");
  });

  test("without a secret the message has no signature", async () => {
    await run(folderWith(POOL), `plan --webhook ${receiver.url}`);
    expect(receiver.posted[0]?.headers["x-workspace-signature"]).toBeUndefined();
  });

  test("no message contains a secret, a token or the signing key", async () => {
    const folder = folderWith(
      "scopes: { s: { secrets: { k: { env: CANARY } } } }\npools: { p: { node_type_id: Standard_DS3_v2 } }\n",
    );
    const env = { CANARY, WORKSPACE_WEBHOOK_SECRET: `${CANARY}-signing` };
    for (const format of ["json", "slack"])
      for (const command of ["plan", "apply --auto-approve", "drift"])
        expect(
          (
            await run(
              folder,
              `${command} --webhook ${receiver.url} --webhook-format ${format} --webhook-on always`,
              env,
            )
          ).code,
        ).toBe(0);
    expect(receiver.posted).toHaveLength(6);
    for (const { body, headers } of receiver.posted) {
      expect(body + JSON.stringify(headers)).not.toContain(CANARY);
      expect(body + JSON.stringify(headers)).not.toContain(TOKEN);
    }
  });

  test("Slack gets one message, in which names cannot create links or mentions", async () => {
    const folder = folderWith(`targets: { "<!channel>&": {} }\n${POOL}`);
    await run(folder, `plan --webhook ${receiver.url} --webhook-format slack -t <!channel>&`);
    const { text } = JSON.parse(receiver.posted[0]?.body ?? "{}");
    expect(text).toContain("of &lt;!channel&gt;&amp;: ");
    expect(text).not.toContain("<!channel>");
  });

  test("a busy receiver gets the same delivery again, and then no warning is shown", async () => {
    receiver.answers = [{ status: 503 }, { status: 429, headers: { "retry-after": "0" } }];
    const { code, err } = await run(folderWith(POOL), `plan --webhook ${receiver.url}`);
    expect([code, err.includes("CLI_WEBHOOK")]).toEqual([0, false]);
    expect(new Set(receiver.posted.map(({ headers }) => headers["x-workspace-delivery"])).size).toBe(1);
    expect(receiver.posted).toHaveLength(3);
  });

  test("the wait that a receiver asks for as a date is kept", async () => {
    const now = Date.now();
    const headers = {
      date: new Date(now).toUTCString(),
      "retry-after": new Date(now + 3_000).toUTCString(),
    };
    receiver.answers = [{ status: 503, headers }];
    const { code } = await run(folderWith(POOL), `plan --webhook ${receiver.url}`);
    expect([code, receiver.posted.length]).toEqual([0, 2]);
    expect(Date.now() - now).toBeGreaterThan(3_000);
  });

  test.each([
    ["has a large body", { body: "x".repeat(200_000) }],
    ["has a body that does not end", { hangs: true }],
  ])("a delivery whose accepting answer %s is sent once", async (_, answer) => {
    receiver.answers = [{ status: 200, ...answer }];
    const { code, err } = await run(folderWith(POOL), `plan --webhook ${receiver.url}`);
    expect([code, receiver.posted.length, err.includes("CLI_WEBHOOK")]).toEqual([0, 1, false]);
  });

  test.each([
    [[{ status: 500 }, { status: 500 }, { status: 500 }], 3, "status 500"],
    [[{ status: 404 }], 1, "status 404"],
    [[{ status: 302, headers: { location: "/elsewhere" } }], 1, "redirects are not followed"],
  ])(
    "answers %j end after %i attempts with a warning and the same exit code",
    async (answers, attempts, cause) => {
      receiver.answers = answers;
      const { code, err } = await run(folderWith(POOL), `plan --webhook ${receiver.url}/services/${CANARY}`);
      expect([code, receiver.posted.length]).toEqual([0, attempts]);
      expect(err).toContain(`warning CLI_WEBHOOK: the webhook at ${receiver.url} did not accept the message`);
      expect(err).toContain(cause);
      expect(err).not.toContain(CANARY);
    },
  );

  test("a plan that a guard blocks, and an apply that fails, report their codes", async () => {
    const guarded = `policy: { max_deletes: 0 }\n${POOL}`;
    const folder = folderWith(guarded);
    await run(folder, "apply --auto-approve");
    writeFileSync(join(folder, "workspace.yaml"), "policy: { max_deletes: 0 }\npools: {}\n");
    expect((await run(folder, `plan --webhook ${receiver.url}`)).code).toBe(3);
    const other = folderWith("pools: { other: { node_type_id: Standard_DS3_v2 } }\n");
    const rules = [{ path: "/api/2.0/instance-pools/create", fate: "status", status: 400 }];
    const headers = { authorization: `Bearer ${TOKEN}` };
    await fetch(`${server.url}/__emulator/faults`, {
      method: "PUT",
      headers,
      body: JSON.stringify({ rules }),
    });
    expect((await run(other, `apply --auto-approve --webhook ${receiver.url}`)).code).toBe(1);
    expect(receiver.posted.map(({ body }) => JSON.parse(body).errors)).toEqual([
      ["GUARD_MAX_DELETES"],
      ["API_REFUSED"],
    ]);
  });

  test("a run that fails reports its codes and keeps its exit code", async () => {
    const { code } = await run(folderWith("pools: 5\n"), `plan --webhook ${receiver.url}`);
    const { outcome, errors, exit_code } = JSON.parse(receiver.posted[0]?.body ?? "{}");
    expect([code, outcome, exit_code, errors]).toEqual([1, "failed", 1, ["SPEC_TYPE"]]);
  });

  test.each([
    ["plan --untrusted --webhook URL", "--untrusted"],
    ["plan --webhook http://example.com/x", "https://"],
    [`plan --webhook https://u:${CANARY}@example.com/x`, "user name"],
    ["plan --webhook ftp://example.com", "not an HTTP URL"],
    ["plan --webhook-format slack", "requires --webhook"],
    ["plan --webhook-on always", "requires --webhook"],
  ])("%s is refused before anything is sent", async (line, message) => {
    const { code, err } = await run(folderWith(POOL), line.replace("URL", receiver.url));
    expect([code, err]).toEqual([1, expect.stringContaining(message)]);
    expect(err).not.toContain(CANARY);
    expect(receiver.posted).toEqual([]);
  });
});
