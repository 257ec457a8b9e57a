// `workspace login` and `workspace whoami`, and whole runs that sign in, against the emulator of the Databricks dialect.

import { chmodSync, globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { folderWith } from "../program.ts";

const SECRET = "canary-5f2a9c-secret";
/** The emulator's tokens of OAuth. */
const ISSUED = /oauth[0-9a-f]{40}/;
const TENANT = "11111111-2222-3333-4444-555555555555";
const RESOURCE = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Databricks/workspaces/w";

let server: RunningServer;
let folder: string;
beforeEach(async () => {
  server = await startEmulator({
    port: 0,
    dataDir: ":memory:",
    token: SECRET,
    dialect: "databricks",
    cloud: "azure",
  });
  folder = folderWith("groups:\n  data-eng: {}\nscopes:\n  etl: {}\n");
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(words: string, env: Record<string, string> = {}, input?: string): Promise<Ran> {
  const context = contextWith({ PATH: "/usr/bin:/bin", ...env }, folder);
  if (input !== undefined) (context.stdin as PassThrough).end(input);
  const code = await runProgram(context, words.split(" "));
  return { code, out: context.out(), err: context.err() };
}

const m2m = () => ({
  DATABRICKS_HOST: server.url,
  DATABRICKS_CLIENT_ID: "app",
  DATABRICKS_CLIENT_SECRET: SECRET,
});

const control = (path: string, body: object): Promise<Response> =>
  fetch(`${server.url}/__emulator/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

/** Collects what is posted to it. */
async function receiver() {
  const bodies: string[] = [];
  const receiving = createServer((request, response) => {
    request.setEncoding("utf8").on("data", (chunk: string) => bodies.push(chunk));
    request.on("end", () => response.end());
  });
  await new Promise<void>((resolve) => receiving.listen(0, "127.0.0.1", resolve));
  const { port } = receiving.address() as AddressInfo;
  const stop = async (): Promise<string> => {
    receiving.closeAllConnections();
    await new Promise((resolve) => receiving.close(resolve));
    return bodies.join("\n");
  };
  return { url: `http://127.0.0.1:${port}/`, stop };
}

/** Everything that a run left: its output, and every file in its folder. */
function traces(ran: readonly Ran[], except: readonly string[] = []): string {
  const files = globSync("**/*", { cwd: folder, exclude: [] })
    .concat(globSync("**/.*", { cwd: folder }), globSync(".workspace/**/*", { cwd: folder }))
    .filter((path) => !except.includes(path) && statSync(join(folder, path)).isFile())
    .map((path) => readFileSync(join(folder, path), "latin1"));
  return [...ran.flatMap(({ out, err }) => [out, err]), ...files].join("\n");
}

describe("whoami", () => {
  test("names the user, the host, and the sign-in, and why others were not used", async () => {
    writeFileSync(join(folder, ".databrickscfg"), `[DEFAULT]\nhost = ${server.url}\ntoken = t-${SECRET}\n`, {
      mode: 0o600,
    });
    const ran = await run("whoami", m2m());
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toBe(`user     admin@example.com
host     ${server.url} (DATABRICKS_HOST)
dialect  databricks, azure
sign-in  oauth-m2m (DATABRICKS_CLIENT_ID, DATABRICKS_CLIENT_SECRET)

Not used:
  profile DEFAULT of ~/.databrickscfg: DATABRICKS_CLIENT_ID comes first
`);
  });

  test("prints the same as JSON", async () => {
    const { out } = await run("whoami -o json", m2m());
    expect(JSON.parse(out)).toEqual({
      format_version: "1.0",
      user: "admin@example.com",
      host: { url: server.url, from: "DATABRICKS_HOST" },
      dialect: "databricks, azure",
      sign_in: { method: "oauth-m2m", from: ["DATABRICKS_CLIENT_ID", "DATABRICKS_CLIENT_SECRET"] },
      not_used: [],
    });
  });

  test("explains what is missing when nothing can sign in", async () => {
    const ran = await run("whoami", { DATABRICKS_HOST: server.url, DATABRICKS_CLIENT_ID: "app" });
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("sign-in  none\n");
    expect(ran.out).toContain("oauth-m2m from DATABRICKS_* and ARM_* variables: client_secret is missing");
    expect(ran.err).toContain("API_UNAUTHENTICATED");
  });

  test("says how to use a principal of Azure when the name of the host does not show the cloud", async () => {
    const ran = await run("whoami", {
      DATABRICKS_HOST: server.url,
      ARM_CLIENT_ID: "app",
      ARM_CLIENT_SECRET: "secret-canary",
      ARM_TENANT_ID: "tenant",
    });
    expect(ran.err).toContain(
      "azure-client-secret from DATABRICKS_* and ARM_* variables: the host is not known",
    );
    expect(ran.err).toContain("hint: if the host is a workspace of Azure, pass --cloud azure");
    expect(ran.out + ran.err).not.toContain("secret-canary");
  });

  test("names all sources of a job of GitHub that signs in at Azure", async () => {
    const ran = await run("whoami --cloud azure", {
      DATABRICKS_HOST: server.url,
      ARM_CLIENT_ID: "app",
      ARM_TENANT_ID: "11111111-2222-3333-4444-555555555555",
      AZURE_AUTHORITY_HOST: server.url,
      ACTIONS_ID_TOKEN_REQUEST_URL: `${server.url}/actions/id-token`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: SECRET,
    });
    expect(ran.out).toContain(
      "sign-in  github-oidc-azure (ACTIONS_ID_TOKEN_REQUEST_URL, ARM_CLIENT_ID, ARM_TENANT_ID)",
    );
  });

  test("reports a sign-in that the workspace refuses, without the secret", async () => {
    const ran = await run("whoami", { ...m2m(), DATABRICKS_CLIENT_SECRET: "wrong-canary" });
    expect(ran.code).toBe(1);
    expect(ran.out).toContain("user     unknown\n");
    expect(ran.err).toContain("the oauth-m2m sign-in was refused");
    expect(ran.out + ran.err).not.toContain("wrong-canary");
  });

  test("the built-in emulator needs no sign-in", async () => {
    expect((await run("whoami --host embedded")).out).toBe(
      "user     admin@example.com\nhost     embedded (--host)\ndialect  contract\nsign-in  none\n",
    );
  });
});

describe("login", () => {
  const config = () => join(folder, ".workspacecfg");

  test("checks a token from standard input, and writes a profile that only its owner can read", async () => {
    const ran = await run(`login --host ${server.url}`, {}, `${SECRET}\n`);
    expect(ran).toMatchObject({ code: 0, err: "" });
    expect(ran.out).toBe(
      `Signed in to ${server.url} as admin@example.com.\nWrote the profile DEFAULT in ~/.workspacecfg.\nCommands now use it: pat (token of profile DEFAULT of ~/.workspacecfg).\n`,
    );
    expect(readFileSync(config(), "utf8")).toBe(`[DEFAULT]\nhost = ${server.url}\ntoken = ${SECRET}\n`);
    expect(statSync(config()).mode & 0o777).toBe(0o600);
    expect((await run("whoami")).out).toContain("sign-in  pat (token of profile DEFAULT of ~/.workspacecfg)");
  });

  test.each<[string, string, Record<string, string>, string]>([
    [
      "a token variable",
      "",
      { WORKSPACE_TOKEN: "other" },
      "Commands do not use it: WORKSPACE_TOKEN comes first.",
    ],
    [
      "a host variable",
      "",
      { WORKSPACE_HOST: "https://other.example" },
      "Commands do not use it: WORKSPACE_HOST names https://other.example.",
    ],
    [
      "the vendor's variables",
      "",
      { DATABRICKS_TOKEN: "other" },
      "Commands now use it: pat (token of profile",
    ],
    ["another profile", " --profile two", {}, "To use it, pass `--profile two`."],
  ])("reports the sign-in of later commands with %s", async (_other, option, env, note) => {
    const { out } = await run(`login --host ${server.url}${option}`, env, SECRET);
    expect(out.split("\n")[2]).toContain(note);
  });

  test("creates no file when the workspace does not accept the token", async () => {
    const ran = await run(`login --host ${server.url}`, {}, "wrong-canary");
    expect(ran.code).toBe(1);
    expect(ran.err).not.toContain("wrong-canary");
    expect(globSync(".workspacecfg", { cwd: folder })).toEqual([]);
  });

  test("says how to sign in with the Azure CLI where it is missing", async () => {
    const ran = await run(`login --host ${server.url} --cloud azure --auth-type azure-cli`);
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("hint: install the Azure CLI and run `az login`");
  });

  test("fails without a token", async () => {
    expect(await run(`login --host ${server.url}`, {}, "")).toMatchObject({
      code: 1,
      err: expect.stringContaining("access token is missing"),
    });
  });

  test("keeps other profiles, other keys, and comments, and narrows the mode of the file", async () => {
    const before = `# mine\n[one]\nhost = https://one.example\ntoken = x\n\n[two]\n# note\nHost = https://old.example\ntoken=old\nuser = u\nextra = 1\n\n[three]\nhost = https://three.example\n`;
    writeFileSync(config(), before);
    chmodSync(config(), 0o644);
    const words = `login --host ${server.url} --profile two --auth-type oauth-m2m --client-id app --dialect databricks`;
    expect(await run(words, {}, SECRET)).toMatchObject({
      code: 0,
      out: expect.stringContaining("Replaced the profile two"),
    });
    expect(readFileSync(config(), "utf8")).toBe(
      `# mine\n[one]\nhost = https://one.example\ntoken = x\n\n[two]\nhost = ${server.url}\ndialect = databricks\nauth_type = oauth-m2m\nclient_id = app\nclient_secret = ${SECRET}\n# note\nextra = 1\n\n[three]\nhost = https://three.example\n`,
    );
    expect(statSync(config()).mode & 0o777).toBe(0o600);
    expect((await run("whoami --profile two")).out).toContain("sign-in  oauth-m2m");
  });

  test.each([
    [
      "a section in two parts",
      "[DEFAULT]\nhost = https://old.example\n[a]\nuser = u\n[DEFAULT]\ntoken = old\nclient_id: c\n",
      "[DEFAULT]\nNEW[a]\nuser = u\n[DEFAULT]\n",
    ],
    ["values above the first section", "token = old\nextra = 1\n[a]\n", "extra = 1\n[a]\n\n[DEFAULT]\nNEW"],
  ])("leaves no old value of the profile in %s", async (_where, before, after) => {
    writeFileSync(config(), before, { mode: 0o600 });
    expect((await run(`login --host ${server.url}`, {}, SECRET)).code).toBe(0);
    const written = `host = ${server.url}\ntoken = ${SECRET}\n`;
    expect(readFileSync(config(), "utf8")).toBe(after.replace("NEW", written));
    expect((await run("whoami")).code).toBe(0);
  });

  test("uses none of the values that the environment has", async () => {
    const env = { WORKSPACE_TOKEN: SECRET, DATABRICKS_TOKEN: SECRET, WORKSPACE_AUTH_TYPE: "azure-cli" };
    expect((await run(`login --host ${server.url}`, env, "wrong-canary")).code).toBe(1);
  });

  test.each([
    ["login", "no workspace is named"],
    ["login --host embedded", "the embedded workspace needs no sign-in"],
    ["login --host H --auth-type oauth", '--auth-type cannot be "oauth": use one of pat, oauth-m2m'],
    ...["github-oidc", "env-oidc", "file-oidc", "github-oidc-azure"].map((method) => [
      `login --host H --auth-type ${method}`,
      `--auth-type cannot be "${method}": it is not saved in a profile; set its variables instead`,
    ]),
    ["login --host H --auth-type oauth-m2m", "this sign-in needs --client-id"],
    ["login --host H --auth-type azure-client-secret --client-id a", "this sign-in needs --tenant-id"],
    ["login --host H --profile x]y", "the name of the profile has characters"],
  ])("%s is refused", async (words = "", message = "") => {
    const ran = await run(words.replace("H", server.url), {}, SECRET);
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining(message) });
    expect(globSync(".workspacecfg", { cwd: folder })).toEqual([]);
  });
});

describe("a run that signs in", () => {
  const LINES = ["plan", "apply --auto-approve", "plan --detailed-exitcode", "drift", "history"];

  test("leaves no token and no secret in its output, its state, or its files", async () => {
    const ran: Ran[] = [];
    for (const line of [...LINES, "plan -o json", "plan --out saved.plan", "state list", "whoami -o json"])
      ran.push(await run(line, m2m()));
    const posted = await receiver();
    writeFileSync(join(folder, "workspace.yaml"), "groups:\n  data-eng: {}\n  data-ops: {}\n");
    ran.push(
      await run(`apply --auto-approve -o json --metrics metrics.prom --webhook ${posted.url}`, {
        ...m2m(),
        WORKSPACE_WEBHOOK_SECRET: "webhook-key",
      }),
    );
    expect(ran.map(({ code }) => code)).toEqual(ran.map(() => 0));
    const message = await posted.stop();
    expect(message).toContain("apply");
    const text = `${traces(ran)}\n${message}`;
    expect(text).toContain("workspace_");
    expect(text).toContain("data-eng");
    expect(text).not.toContain(SECRET);
    expect(text).not.toMatch(ISSUED);
  });

  test("says nothing of a token in failures either", async () => {
    await control("sign-in", { expires_in: 1 });
    const ran = [
      await run("plan", { ...m2m(), DATABRICKS_CLIENT_SECRET: `${SECRET}-wrong` }),
      await run("api clusters/get cluster_id=none", m2m()),
    ];
    expect(ran.map(({ code }) => code)).toEqual([1, 1]);
    expect(traces(ran)).not.toContain(SECRET);
    expect(traces(ran)).not.toMatch(ISSUED);
  });

  test.each<[string, Record<string, string>, string]>([
    [
      "DATABRICKS_TOKEN",
      { DATABRICKS_TOKEN: "wrong" },
      "use a valid access token of this workspace in DATABRICKS_TOKEN",
    ],
    [
      "WORKSPACE_TOKEN",
      { WORKSPACE_TOKEN: "wrong" },
      "use a valid access token of this workspace in WORKSPACE_TOKEN",
    ],
  ])("shows %s in the hint when the workspace refuses it", async (_variable, env, hint) => {
    const ran = await run("plan", { DATABRICKS_HOST: server.url, ...env });
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining(hint) });
  });

  test("names the sign-in that a workspace refused twice", async () => {
    await fetch(`${server.url}/__emulator/faults`, {
      method: "PUT",
      headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
      body: JSON.stringify({
        rules: [{ path: "/api/*", fate: "status", status: 401, error_code: "UNAUTHENTICATED" }],
      }),
    });
    const { err } = await run("plan", m2m());
    expect(err).toContain("was refused: the token is not valid (401");
    expect(err).toContain("the oauth-m2m sign-in uses DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET");
  });

  test("works for a service principal of Azure, with its two extra headers", async () => {
    const env = {
      DATABRICKS_HOST: server.url,
      DATABRICKS_AZURE_RESOURCE_ID: RESOURCE,
      ARM_CLIENT_ID: "app",
      ARM_CLIENT_SECRET: SECRET,
      ARM_TENANT_ID: TENANT,
      // Another origin than the workspace's, as the real one is.
      AZURE_AUTHORITY_HOST: server.url.replace("127.0.0.1", "localhost"),
    };
    const ran = await run("apply --auto-approve", env);
    expect(ran).toMatchObject({ code: 0 });
    expect((await run("whoami", env)).out).toContain("sign-in  azure-client-secret (ARM_CLIENT_ID,");
    expect(traces([ran])).not.toMatch(ISSUED);
  });

  test("works for the identity of the machine, and in a job of GitHub", async () => {
    await control("sign-in", { managed_identity: true });
    const machine = {
      DATABRICKS_HOST: server.url,
      WORKSPACE_CLOUD: "azure",
      ARM_USE_MSI: "true",
      AZURE_POD_IDENTITY_AUTHORITY_HOST: server.url,
    };
    expect((await run("whoami", machine)).out).toContain("user     admin@example.com\n");
    const job = {
      DATABRICKS_HOST: server.url,
      DATABRICKS_CLIENT_ID: "app",
      ACTIONS_ID_TOKEN_REQUEST_URL: `${server.url}/actions/id-token?x=1`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: SECRET,
    };
    const { out } = await run("whoami", job);
    expect(out).toContain("user     admin@example.com\n");
    expect(out).toContain("sign-in  github-oidc (ACTIONS_ID_TOKEN_REQUEST_URL, DATABRICKS_CLIENT_ID)");
  });

  describe("with the Azure CLI", () => {
    const bin = () => join(folder, "..", `${folder.split("/").at(-1)}-bin`);
    const cli = () => ({
      DATABRICKS_HOST: server.url,
      WORKSPACE_CLOUD: "azure",
      PATH: `${bin()}:${process.env.PATH}`,
    });
    beforeEach(() => {
      mkdirSync(bin());
      // Answers as `az account get-access-token` does, with a token of the emulator.
      writeFileSync(
        join(bin(), "az"),
        `#!${process.execPath}
const fs = require("node:fs");
fs.appendFileSync(__dirname + "/ran", process.cwd() + "\\n");
const resource = process.argv[process.argv.indexOf("--resource") + 1];
const body = new URLSearchParams({ grant_type: "client_credentials", client_id: "a", client_secret: "${SECRET}", resource });
fetch("${server.url}/${TENANT}/oauth2/token", { method: "POST", body }).then((one) => one.json()).then((one) =>
  console.log(JSON.stringify({ accessToken: one.access_token, expires_on: Number(one.expires_on) })));
`,
        { mode: 0o755 },
      );
    });
    afterEach(() => rmSync(bin(), { recursive: true }));

    test("runs az once for a whole run", async () => {
      const ran = await run("apply --auto-approve", cli());
      expect(ran).toMatchObject({ code: 0 });
      expect(readFileSync(join(bin(), "ran"), "utf8").trim().split("\n")).toHaveLength(1);
      expect(traces([ran])).not.toMatch(ISSUED);
    });

    test("runs az once for a run whose state is in the workspace", async () => {
      const ran = await run("apply --auto-approve", {
        ...cli(),
        WORKSPACE_STATE: "workspace:/Shared/states/az",
      });
      expect(ran).toMatchObject({ code: 0 });
      expect(readFileSync(join(bin(), "ran"), "utf8").trim().split("\n")).toHaveLength(1);
    });

    test("a plan of an untrusted spec does not run az", async () => {
      const ran = await run("plan --untrusted", cli());
      expect(ran.code).toBe(1);
      expect(ran.err).toContain("a plan of an untrusted spec does not run other programs");
      expect(globSync("ran", { cwd: bin() })).toEqual([]);
    });
  });
});
