// Each method of signing in against the emulator: what is asked of whom, and what the service accepts.

import { beforeEach, describe, expect, test } from "vitest";
import type { AzureEndpoints, RenewableCredential } from "../../../src/api/auth/credential.ts";
import { AZURE_APPLICATION } from "../../../src/api/auth/endpoints.ts";
import { type AuthHeaders, createSignIn } from "../../../src/api/auth/sign-in.ts";
import { Refused } from "../../../src/core/request-failure.ts";
import { ADMIN, ADMIN_TOKEN } from "../../emulator/harness.ts";
import { json, raw, refused, thrown } from "../answers.ts";
import { HERE, RESOURCE_ID, type SignInPlace, signInPlace, TENANT, WORKSPACE } from "./place.ts";

let place: SignInPlace;
beforeEach(async () => {
  place = await signInPlace();
});

const AZURE: AzureEndpoints = {
  authority: "https://login.microsoftonline.com",
  management: "https://management.core.windows.net/",
  metadata: "http://169.254.169.254",
};
const CLIENT: RenewableCredential = { method: "oauth-m2m", clientId: "app", clientSecret: ADMIN_TOKEN };
const PRINCIPAL: RenewableCredential = {
  method: "azure-client-secret",
  tenantId: TENANT,
  clientId: "app",
  clientSecret: ADMIN_TOKEN,
  azure: AZURE,
};
const GITHUB = {
  from: "github",
  url: "https://run-1.actions.githubusercontent.com/actions/id-token?api-version=2.0",
  token: ADMIN_TOKEN,
} as const;

const signIn = (credential: RenewableCredential, host = WORKSPACE) =>
  createSignIn(credential, host, place.ports);

/** Who the service says the headers belong to. */
async function caller(headers: AuthHeaders): Promise<unknown> {
  const answer = await place.world.request({
    method: "GET",
    path: "/api/2.0/preview/scim/v2/Me",
    headers: { ...headers, accept: "application/scim+json" },
  });
  return answer.body.userName ?? answer.status;
}

const asked = () => place.sent.map(({ method, origin, path }) => `${method} ${origin}${path}`);
const form = (at: number) => Object.fromEntries(new URLSearchParams(String(place.sent[at]?.body)));

describe("oauth-m2m", () => {
  test("finds the token endpoint and sends the client's secret there in the Authorization header", async () => {
    const headers = await signIn(CLIENT).headers();
    expect(await caller(headers)).toBe(ADMIN);
    expect(asked()).toEqual([
      `GET ${WORKSPACE}/oidc/.well-known/oauth-authorization-server`,
      `POST ${WORKSPACE}/oidc/v1/token`,
    ]);
    expect(form(1)).toEqual({ grant_type: "client_credentials", scope: "all-apis" });
    expect(place.sent[1]?.headers.authorization).toMatch(/^Basic /);
  });

  test("asks for the endpoint once, and for a token again when the old one nears its end", async () => {
    await place.world.control("POST", "sign-in", { expires_in: 4 });
    const one = signIn(CLIENT);
    const first = await one.headers();
    await place.world.advance(1_999);
    expect(await one.headers()).toEqual(first);
    await place.world.advance(1);
    const second = await one.headers();
    expect(second).not.toEqual(first);
    expect(await caller(second)).toBe(ADMIN);
    expect(place.sent).toHaveLength(3);
  });

  test("reports a refusal with its code, its fix, and nothing of the secret", async () => {
    const one = signIn({ method: "oauth-m2m", clientId: "app", clientSecret: "wrong-secret" });
    const failure = await thrown(one.headers());
    expect(failure).toBeInstanceOf(Refused);
    expect(failure).toMatchObject({
      status: 401,
      diagnostic: {
        code: "API_UNAUTHENTICATED",
        message: `the oauth-m2m sign-in was refused by ${WORKSPACE} (401 invalid_client)`,
        hint: expect.stringContaining("client ID"),
      },
    });
  });

  const elsewhere = "on another host";
  test.each([
    ["https://evil.example/oidc/v1/token", elsewhere],
    ["http://adb-1.2.azuredatabricks.net/oidc/v1/token", elsewhere],
    ["https://adb-1.2.azuredatabricks.net:8443/oidc/v1/token", elsewhere],
    ["https://adb-1.2.azuredatabricks.net@evil.example/oidc/v1/token", elsewhere],
    ["/oidc/v1/token", "that is not an absolute URL"],
    ["", "that is not an absolute URL"],
  ])("sends no secret to a token endpoint off the workspace: %j", async (token_endpoint, fault) => {
    place.instead.push(json({ issuer: `${WORKSPACE}/oidc`, token_endpoint }));
    expect(await thrown(signIn(CLIENT).headers())).toMatchObject({
      diagnostic: {
        code: "API_UNAUTHENTICATED",
        message: `${WORKSPACE} names a token endpoint ${fault}`,
      },
    });
    expect(place.sent).toHaveLength(1);
  });

  const page = "<html><style>a</style><h1>No entry</h1> from <b>here</b></html>";
  const denied = JSON.stringify({ error_code: "PERMISSION_DENIED", message: "This address is not allowed." });
  const invalid = JSON.stringify({ error: "invalid_client", error_description: "wrong secret" });
  test.each([
    ["a page", raw(403, page), "(403)", "No entry from here"],
    ["a refusal of the API", raw(403, denied), "(403)", "This address is not allowed."],
    [
      "an error of OAuth with a challenge",
      raw(401, invalid, { "content-type": "application/json", "www-authenticate": 'Basic realm="x"' }),
      "(401 invalid_client)",
      "wrong secret",
    ],
  ])(
    "reports %s as the reason, from the discovery and from the token endpoint",
    async (_what, answer, label, cause) => {
      const found = json({ token_endpoint: `${WORKSPACE}/oidc/v1/token` });
      for (const answers of [[answer], [found, answer]]) {
        place.instead.push(...answers);
        expect(await thrown(signIn(CLIENT).headers())).toMatchObject({
          diagnostic: { message: `the oauth-m2m sign-in was refused by ${WORKSPACE} ${label}`, cause },
        });
      }
    },
  );

  test("follows no redirect, neither of the discovery nor of the token endpoint", async () => {
    const away = raw(307, "", { location: "https://evil.example/token" });
    place.instead.push(away);
    expect(await thrown(signIn(CLIENT).headers())).toMatchObject({
      diagnostic: {
        code: "API_REDIRECT",
        message: `the oauth-m2m sign-in was redirected by ${WORKSPACE} (307); nothing was sent there`,
        cause: "Location: https://evil.example/token",
      },
    });
    expect(place.sent).toHaveLength(1);
    place.instead.push(
      json({ issuer: `${WORKSPACE}/oidc`, token_endpoint: `${WORKSPACE}/oidc/v1/token` }),
      away,
    );
    expect(await thrown(signIn(CLIENT).headers())).toBeInstanceOf(Refused);
    expect(place.sent.map(({ origin }) => origin)).toEqual([WORKSPACE, WORKSPACE, WORKSPACE]);
  });

  test("names no secret that a token endpoint repeats, plain or as HTTP Basic encodes it", async () => {
    const secret = "s3cret of_the-app!";
    place.refuse = ({ headers: { authorization = "" } }) =>
      authorization === ""
        ? undefined
        : raw(
            400,
            JSON.stringify({ error: "invalid_client", error_description: `${authorization} ${secret}` }),
            {
              "content-type": "application/json",
            },
          );
    const failure = await thrown(
      signIn({ method: "oauth-m2m", clientId: "the-app", clientSecret: secret }).headers(),
    );
    expect(failure).toMatchObject({ diagnostic: { cause: "Basic (token) (token)" } });
  });

  test.each([490, 495, 498])("shows no part of a secret after %i characters of a message", async (length) => {
    const clientSecret = "s3cret-of-the-app";
    const words = `${"x".repeat(length)}${clientSecret} ${"y".repeat(99)}`;
    const signedOut = signIn({ method: "oauth-m2m", clientId: "the-app", clientSecret });
    const away = raw(307, "", { location: words });
    const invalid = JSON.stringify({ error: "invalid_client", error_description: words });
    const tokenEndpoint = json({ issuer: `${WORKSPACE}/oidc`, token_endpoint: `${WORKSPACE}/oidc/v1/token` });
    const unusable = json({ token_type: "bearer", error: words });
    for (const answers of [[away], [raw(401, invalid)], [raw(401, words)], [tokenEndpoint, unusable]]) {
      place.instead.push(...answers);
      expect(JSON.stringify(await thrown(signedOut.headers()))).not.toContain("s3");
    }
  });

  test("asks again after a failure that can pass, and as late as the service asks", async () => {
    place.instead.push(refused(), raw(503, "busy"), raw(429, "", { "retry-after": "7" }));
    expect(await caller(await signIn(CLIENT).headers())).toBe(ADMIN);
    expect(place.waits).toEqual([250, 500, 7_000]);
  });

  test("gives up after four attempts and names the host", async () => {
    place.instead.push(refused(), refused(), refused(), refused());
    expect(await thrown(signIn(CLIENT).headers())).toMatchObject({
      status: 0,
      diagnostic: {
        code: "API_UNREACHABLE",
        message: `the oauth-m2m sign-in failed: ${WORKSPACE} cannot be reached`,
      },
    });
    expect(place.sent).toHaveLength(4);
  });

  test.each([
    ["UND_ERR_RES_EXCEEDED_MAX_SIZE", "API_PROTOCOL", "the answer of HOST exceeds the size limit", "proxy"],
    ["SELF_SIGNED_CERT_IN_CHAIN", "API_UNREACHABLE", "the certificate of HOST is not trusted", "--ca-file"],
    ["ENOTFOUND", "API_UNREACHABLE", "the host name of HOST cannot be resolved", "spelling"],
  ])("reports %s as %s, with its fix, after one attempt", async (problem, code, what, hint) => {
    place.instead.push(Object.assign(new Error("the system says no"), { code: problem }));
    expect(await thrown(signIn(CLIENT).headers())).toMatchObject({
      diagnostic: {
        code,
        message: `the oauth-m2m sign-in failed: ${what.replace("HOST", WORKSPACE)}`,
        hint: expect.stringContaining(hint),
        cause: "the system says no",
      },
    });
    expect(place.sent).toHaveLength(1);
  });

  test("replaces a token that the service refuses", async () => {
    const one = signIn(CLIENT);
    const first = await one.headers();
    await Promise.all([one.renew(first), one.renew(first)]);
    expect(await caller(await one.headers())).toBe(ADMIN);
    expect(asked().filter((line) => line.startsWith("POST"))).toHaveLength(2);
  });

  test("knows every secret that it has used", async () => {
    const one = signIn(CLIENT);
    const { authorization = "" } = await one.headers();
    expect(one.secrets().slice(1)).toEqual([ADMIN_TOKEN, authorization.slice("Bearer ".length)]);
  });
});

describe("federation", () => {
  test("github-oidc exchanges the workflow's ID token, whose audience is the token endpoint", async () => {
    const headers = await signIn({ method: "github-oidc", clientId: "app", idToken: GITHUB }).headers();
    expect(await caller(headers)).toBe(ADMIN);
    const endpoint = `${WORKSPACE}/oidc/v1/token`;
    expect(asked()).toEqual([
      `GET ${WORKSPACE}/oidc/.well-known/oauth-authorization-server`,
      `GET ${GITHUB.url}&audience=${encodeURIComponent(endpoint)}`,
      `POST ${endpoint}`,
    ]);
    expect(form(2)).toMatchObject({ client_id: "app", scope: "all-apis" });
    expect(place.sent[2]?.headers.authorization).toBeUndefined();
  });

  test("without a client ID names none, and takes another audience", async () => {
    await signIn({ method: "github-oidc", audience: "me", idToken: GITHUB }).headers();
    expect(asked()[1]).toContain("audience=me");
    expect(form(2)).not.toHaveProperty("client_id");
  });

  test("file-oidc reads the file for each token", async () => {
    let reads = 0;
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const { body } = await place.world.request({
      method: "GET",
      path: "/actions/id-token?audience=x",
      headers,
    });
    const readFile = () => {
      reads += 1;
      return `${body.value}\n`;
    };
    const ports = { ...place.ports, readFile };
    const source = { from: "file", path: "/run/id-token" } as const;
    const one = createSignIn({ method: "file-oidc", clientId: "app", idToken: source }, WORKSPACE, ports);
    const first = await one.headers();
    await one.renew(first);
    expect(await caller(await one.headers())).toBe(ADMIN);
    expect(reads).toBe(2);
  });

  test("an ID token that is refused is named by no message", async () => {
    const source = { from: "value", value: "eyJub3QuYQ.dG9rZW4.x" } as const;
    const failure = await thrown(signIn({ method: "env-oidc", clientId: "app", idToken: source }).headers());
    expect(failure).toMatchObject({ status: 401, code: "invalid_grant" });
    expect(JSON.stringify(failure)).not.toContain(source.value);
  });
});

test.each([
  ["a file", "file-oidc", { from: "file", path: "/run/id-token" }],
  ["GitHub", "github-oidc", GITHUB],
] as const)(
  "an ID token from %s is in no message, although the token endpoint repeats the request",
  async (_, method, idToken) => {
    const token = "eyJub3QuYQ.dG9rZW4.x~y'z";
    place.refuse = ({ path, body }) => {
      if (path.includes("id-token")) return json({ value: token });
      if (!path.endsWith("/v1/token")) return undefined;
      const cause = `${body} ${token} ${Buffer.from(`app:${token}`).toString("base64")}`;
      return raw(400, JSON.stringify({ error: "invalid_grant", error_description: cause }));
    };
    const ports = { ...place.ports, readFile: () => `${token}\n` };
    const failure = await thrown(
      createSignIn({ method, clientId: "app", idToken }, WORKSPACE, ports).headers(),
    );
    expect(JSON.stringify(failure)).toContain("(token)");
    expect(JSON.stringify(failure)).not.toMatch(/eyJub3|dG9rZW4|ZXlKdWIz/);
  },
);

describe("azure-client-secret", () => {
  test("asks the authority of the tenant for a token of the service", async () => {
    const headers = await signIn(PRINCIPAL).headers();
    expect(await caller(headers)).toBe(ADMIN);
    expect(asked()).toEqual([`POST https://login.microsoftonline.com/${TENANT}/oauth2/token`]);
    expect(form(0)).toEqual({
      grant_type: "client_credentials",
      client_id: "app",
      client_secret: ADMIN_TOKEN,
      resource: AZURE_APPLICATION,
    });
    expect(Object.keys(headers)).toEqual(["authorization"]);
  });

  test("with a resource ID sends it, and a token for the resource manager, in two more headers", async () => {
    const one = signIn({ ...PRINCIPAL, azure: { ...AZURE, resourceId: RESOURCE_ID } });
    const headers = await one.headers();
    expect(headers["x-databricks-azure-workspace-resource-id"]).toBe(RESOURCE_ID);
    const manager = headers["x-databricks-azure-sp-management-token"] ?? "";
    expect(await caller({ authorization: `Bearer ${manager}` })).toBe(401);
    expect(one.secrets()).toContain(manager);
    expect(place.sent.map((_, at) => form(at).resource)).toEqual([AZURE_APPLICATION, AZURE.management]);
    await one.renew(headers);
    expect((await one.headers())["x-databricks-azure-sp-management-token"]).not.toBe(manager);
    expect(place.sent).toHaveLength(4);
  });

  test("a tenant cannot lead to another path", async () => {
    await thrown(signIn({ ...PRINCIPAL, tenantId: "../evil?x" } as RenewableCredential).headers());
    expect(place.sent[0]?.path).toBe("/..%2Fevil%3Fx/oauth2/token");
  });

  test("is renewed 40 s before its end, since the service refuses the last 30 s", async () => {
    await place.world.control("POST", "sign-in", { expires_in: 600 });
    const one = signIn(PRINCIPAL);
    const first = await one.headers();
    await place.world.advance(559_999);
    expect(await one.headers()).toEqual(first);
    await place.world.advance(1);
    expect(await one.headers()).not.toEqual(first);
  });
});

test("github-oidc-azure proves itself with the workflow's ID token in place of a secret", async () => {
  const credential = {
    method: "github-oidc-azure",
    tenantId: TENANT,
    clientId: "app",
    idToken: GITHUB,
  } as const;
  expect(await caller(await signIn({ ...credential, azure: AZURE }).headers())).toBe(ADMIN);
  expect(asked()[0]).toContain(`audience=${encodeURIComponent("api://AzureADTokenExchange")}`);
  expect(form(1)).toMatchObject({
    client_id: "app",
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
  });
  expect(form(1)).not.toHaveProperty("client_secret");
});

describe("azure-msi", () => {
  test("asks the machine's own metadata service", async () => {
    await place.world.control("POST", "sign-in", { managed_identity: true });
    expect(await caller(await signIn({ method: "azure-msi", clientId: "id", azure: AZURE }).headers())).toBe(
      ADMIN,
    );
    expect(asked()).toEqual([
      `GET http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${AZURE_APPLICATION}&client_id=id`,
    ]);
    expect(place.sent[0]?.headers.metadata).toBe("true");
  });

  test("says what to check on a machine without a metadata service", async () => {
    place.instead.push(refused(), refused(), refused(), refused());
    expect(await thrown(signIn({ method: "azure-msi", azure: AZURE }).headers())).toMatchObject({
      diagnostic: {
        message: "the azure-msi sign-in failed: http://169.254.169.254 cannot be reached",
        hint: expect.stringContaining("managed identity"),
      },
    });
  });

  test("says that the machine has no identity", async () => {
    expect(await thrown(signIn({ method: "azure-msi", azure: AZURE }).headers())).toMatchObject({
      status: 404,
      diagnostic: { hint: expect.stringContaining("managed identity") },
    });
  });
});

describe("azure-cli", () => {
  const answer = async (resource: string, more: object) => {
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      resource,
      client_id: "a",
      client_secret: ADMIN_TOKEN,
    });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const path = `/${TENANT}/oauth2/token`;
    const told = await place.world.request({ method: "POST", path, headers, body: body.toString() });
    return { code: 0, stderr: "", stdout: JSON.stringify({ accessToken: told.body.access_token, ...more }) };
  };
  const local = (ms: number) => {
    const at = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString();
    return `${at.slice(0, 10)} ${at.slice(11, 19)}.000000`;
  };
  const withCli = (
    azure: AzureEndpoints,
    cli: NonNullable<SignInPlace["ports"]["azureCli"]>,
    tenantId?: string,
  ) =>
    createSignIn({ method: "azure-cli", azure, ...(tenantId === undefined ? {} : { tenantId }) }, WORKSPACE, {
      ...place.ports,
      azureCli: async (args) => {
        place.commands.push(args);
        return cli(args);
      },
    });
  const resourceIn = (args: readonly string[]) => args[args.indexOf("--resource") + 1] ?? "";

  test.each([
    ["expires_on", (end: number) => ({ expires_on: end / 1_000 })],
    ["expiresOn in local time", (end: number) => ({ expiresOn: local(end) })],
  ])("runs az for a token, and again before %s", async (_, expiry) => {
    const cli = (args: readonly string[]) =>
      answer(resourceIn(args), expiry(place.world.clock.now() + 600_000));
    const one = withCli(AZURE, cli);
    expect(await caller(await one.headers())).toBe(ADMIN);
    await place.world.advance(559_000);
    await one.headers();
    expect(place.commands).toEqual([
      ["account", "get-access-token", "--resource", AZURE_APPLICATION, "--output", "json"],
    ]);
    await place.world.advance(1_000);
    await one.headers();
    expect(place.commands).toHaveLength(2);
  });

  test("names the tenant, or else the subscription of the workspace as long as the caller may", async () => {
    const cli = async (args: readonly string[]) =>
      args.includes("--subscription")
        ? { code: 1, stdout: "", stderr: "no such subscription" }
        : answer(resourceIn(args), { expires_on: 2e9 });
    await withCli(AZURE, cli, TENANT).headers();
    expect(place.commands[0]?.slice(-2)).toEqual(["--tenant", TENANT]);
    await withCli({ ...AZURE, resourceId: RESOURCE_ID }, cli).headers();
    expect(place.commands.slice(1).map((args) => args.at(-1))).toEqual(["s1", "json", "s1", "json"]);
  });

  test("goes without the second token if az gives none, and does not ask for it twice", async () => {
    const cli = async (args: readonly string[]) =>
      resourceIn(args) === AZURE_APPLICATION
        ? answer(AZURE_APPLICATION, { expires_on: 2e9 })
        : { code: 1, stdout: "", stderr: "no" };
    const one = withCli({ ...AZURE, resourceId: RESOURCE_ID }, cli);
    expect(Object.keys(await one.headers()).sort()).toEqual([
      "authorization",
      "x-databricks-azure-workspace-resource-id",
    ]);
    const { length } = place.commands;
    await one.headers();
    expect(place.commands).toHaveLength(length);
  });

  test.each([
    [{ code: 1, stdout: "", stderr: "Please run 'az login'" }, "Please run 'az login'"],
    [{ code: 0, stdout: "nonsense", stderr: "" }, "the answer of az has no token"],
    [{ code: 0, stdout: "null", stderr: "" }, "the answer of az has no token"],
  ])("reports what az says: %j", async (told, cause) => {
    expect(await thrown(withCli(AZURE, async () => told).headers())).toMatchObject({
      diagnostic: { cause, hint: "run `az login`" },
    });
  });

  test("is not run where no program may be run", async () => {
    expect(await thrown(signIn({ method: "azure-cli", azure: AZURE }).headers())).toMatchObject({
      diagnostic: { cause: "`az` cannot be run here" },
    });
  });
});

test("a token endpoint without https is used on this machine only", async () => {
  expect(await caller(await signIn(CLIENT, HERE).headers())).toBe(ADMIN);
  expect(await thrown(signIn(CLIENT, "http://workspace.example").headers())).toBeInstanceOf(Refused);
  expect(place.sent.filter(({ method, origin }) => method === "POST" && origin !== HERE)).toEqual([]);
});
