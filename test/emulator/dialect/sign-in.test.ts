// Sign-in paths outside the API: OAuth, Azure AD, managed identities, GitHub's ID tokens; and expired tokens.

import { beforeEach, describe, expect, test } from "vitest";
import { ADMIN_TOKEN, type Answered, startWorld, type TestWorld } from "../harness.ts";

let w: TestWorld;
beforeEach(async () => {
  w = await startWorld({ databricks: "azure" });
});

const HOST = "127.0.0.1:8080";
const WORKSPACE = "2ff814a6-3304-4ab8-85cb-cd0e6f879c1d";
const MANAGEMENT = "https://management.core.windows.net/";
const AZURE = "/11111111-2222-3333-4444-555555555555/oauth2/token";
const CLIENT = { client_id: "app", client_secret: ADMIN_TOKEN };
const EXCHANGE = {
  grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
  subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
  scope: "all-apis",
};

const post = (
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answered> =>
  w.request({
    method: "POST",
    path,
    headers: { "content-type": "application/x-www-form-urlencoded", host: HOST, ...headers },
    body: new URLSearchParams(fields).toString(),
  });
const get = (path: string, headers: Record<string, string> = {}): Promise<Answered> =>
  w.request({ method: "GET", path, headers: { host: HOST, ...headers } });
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`,
});
const me = async (token: string): Promise<Answered> => w.get("preview/scim/v2/Me", {}, { as: token });
const credentials = { grant_type: "client_credentials", scope: "all-apis" };

test("a form that is not UTF-8 text is an invalid request", async () => {
  const { status, body } = await w.request({
    method: "POST",
    path: "/oidc/v1/token",
    headers: { "content-type": "application/x-www-form-urlencoded", host: HOST },
    body: new Uint8Array([0x61, 0x3d, 0xff]),
  });
  expect({ status, body }).toMatchObject({ status: 400, body: { error: "invalid_request" } });
});

describe("discovery", () => {
  test("the authorization server names its token endpoint, as clients reach it", async () => {
    const { body } = await get("/oidc/.well-known/oauth-authorization-server");
    expect(body).toMatchObject({
      issuer: `http://${HOST}/oidc`,
      token_endpoint: `http://${HOST}/oidc/v1/token`,
    });
  });

  test("the host names its cloud and its sign-in", async () => {
    expect((await get("/.well-known/databricks-config")).body).toMatchObject({
      oidc_endpoint: `http://${HOST}/oidc`,
      cloud: "Azure",
    });
  });

  test("the contract's dialect has none of these paths", async () => {
    w = await startWorld();
    expect((await get("/.well-known/databricks-config")).status).toBe(404);
    expect((await post("/oidc/v1/token", credentials, basic("app", ADMIN_TOKEN))).status).toBe(404);
  });
});

describe("client credentials", () => {
  test("a secret that is a token of the workspace gives a bearer for the same user", async () => {
    const as = await w.user("bo@example.com");
    const answer = await post("/oidc/v1/token", credentials, basic("my app:1", as));
    expect(answer).toMatchObject({
      status: 200,
      body: { token_type: "Bearer", expires_in: 3600, scope: "all-apis" },
    });
    expect(answer.headers["cache-control"]).toBe("no-store");
    expect((await me(answer.body.access_token)).body.userName).toBe("bo@example.com");
  });

  test("the client may stand in the form", async () => {
    expect((await post("/oidc/v1/token", { ...credentials, ...CLIENT })).status).toBe(200);
  });

  test.each([
    ["a wrong secret", credentials, basic("app", "wrong"), 401, "invalid_client"],
    ["no client", credentials, {}, 401, "invalid_client"],
    ["no name of a client", credentials, basic("", ADMIN_TOKEN), 401, "invalid_client"],
    ["another scope", { ...credentials, scope: "sql" }, basic("app", ADMIN_TOKEN), 400, "invalid_scope"],
    [
      "another grant",
      { ...credentials, grant_type: "password" },
      basic("app", ADMIN_TOKEN),
      400,
      "unsupported_grant_type",
    ],
  ])("%s is refused as OAuth requires", async (_what, fields, headers, status, code) => {
    const answer = await post("/oidc/v1/token", fields, headers as Record<string, string>);
    expect(answer).toMatchObject({ status, body: { error: code } });
  });

  test("a token of OAuth is not a client secret", async () => {
    const { access_token } = (await post("/oidc/v1/token", credentials, basic("app", ADMIN_TOKEN))).body;
    expect((await post("/oidc/v1/token", credentials, basic("app", access_token))).status).toBe(401);
  });
});

describe("expiry", () => {
  const token = async (): Promise<string> =>
    (await post("/oidc/v1/token", credentials, basic("app", ADMIN_TOKEN))).body.access_token;

  test("a token lives as long as a test says, by the emulator's clock, and answers 401 afterwards", async () => {
    await w.control("POST", "sign-in", { expires_in: 5 });
    const bearer = await token();
    await w.advance(4999);
    expect((await me(bearer)).status).toBe(200);
    await w.advance(1);
    expect(await w.get("clusters/list", {}, { as: bearer })).toMatchObject({
      status: 401,
      body: { error_code: "UNAUTHENTICATED", message: "Invalid access token." },
    });
    expect((await me(await token())).status).toBe(200);
  });

  test("an expired token may answer 403", async () => {
    await w.control("POST", "sign-in", { expires_in: 1, expired_status: 403 });
    const bearer = await token();
    await w.advance(1000);
    expect((await me(bearer)).status).toBe(403);
  });

  test.each([{ expires_in: 0 }, { expires_in: "5" }, { expired_status: 500 }, { managed_identity: 1 }])(
    "the setting %j is refused",
    async (setting) => {
      expect((await w.control("POST", "sign-in", setting)).status).toBe(400);
    },
  );
});

describe("Azure AD", () => {
  test("a service principal gets a token for the workspace, with times as text", async () => {
    const { status, body } = await post(AZURE, {
      grant_type: "client_credentials",
      resource: WORKSPACE,
      ...CLIENT,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: "Bearer", expires_in: "3600", resource: WORKSPACE });
    expect(Number(body.expires_on)).toBe(w.clock.now() / 1000 + 3600);
    expect((await me(body.access_token)).status).toBe(200);
  });

  test("version 2.0 takes a scope, and says seconds as a number", async () => {
    const fields = { grant_type: "client_credentials", scope: `${WORKSPACE}/.default`, ...CLIENT };
    const { body } = await post(AZURE.replace("/token", "/v2.0/token"), fields);
    expect(body.expires_in).toBe(3600);
    expect((await me(body.access_token)).status).toBe(200);
  });

  test("a token for the management API is not one for the workspace, and finds its host", async () => {
    const { body } = await post(AZURE, { grant_type: "client_credentials", resource: MANAGEMENT, ...CLIENT });
    expect((await me(body.access_token)).status).toBe(401);
    const id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Databricks/workspaces/w";
    const bearer = { authorization: `Bearer ${body.access_token}` };
    expect((await get(`${id}?api-version=2018-04-01`, bearer)).body.properties.workspaceUrl).toBe(HOST);
    expect((await get(id, { authorization: `Bearer ${ADMIN_TOKEN}` })).status).toBe(401);
  });

  test("another resource is refused", async () => {
    const answer = await post(AZURE, {
      grant_type: "client_credentials",
      resource: "https://graph.microsoft.com/",
      ...CLIENT,
    });
    expect(answer).toMatchObject({ status: 400, body: { error: "invalid_resource" } });
  });
});

describe("the machine's identity", () => {
  const path = `/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${WORKSPACE}`;

  test("gives no token before a test switches it on", async () => {
    expect((await get(path, { metadata: "true" })).status).toBe(404);
  });

  test("gives a token to a request with the header Metadata", async () => {
    await w.control("POST", "sign-in", { managed_identity: true, expires_in: 60 });
    expect(await get(path)).toMatchObject({ status: 400, body: { error: "invalid_request" } });
    const { body } = await get(path, { metadata: "true" });
    expect(Number(body.expires_on)).toBe(w.clock.now() / 1000 + 60);
    expect((await me(body.access_token)).body.userName).toBe("admin@example.com");
  });
});

describe("GitHub's id tokens", () => {
  const bearer = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const idToken = async (audience = "me"): Promise<string> =>
    (await get(`/actions/id-token?audience=${audience}`, bearer)).body.value;

  test("are JWTs for the audience that was asked for, and no tokens of the API", async () => {
    const jwt = await idToken("https://x/oidc/v1/token");
    const claims = JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ aud: "https://x/oidc/v1/token", exp: w.clock.now() / 1000 + 300 });
    expect((await me(jwt)).status).toBe(401);
    expect((await get("/actions/id-token")).status).toBe(401);
  });

  test("are exchanged for a token of the workspace, without a secret", async () => {
    const { body } = await post("/oidc/v1/token", {
      ...EXCHANGE,
      client_id: "app",
      subject_token: await idToken(),
    });
    expect((await me(body.access_token)).status).toBe(200);
    const azure = {
      grant_type: "client_credentials",
      resource: WORKSPACE,
      client_id: "app",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await idToken("api://AzureADTokenExchange"),
    };
    expect((await me((await post(AZURE, azure)).body.access_token)).status).toBe(200);
  });

  test("are refused when they are not this issuer's, or too old", async () => {
    const forged = `${btoa("{}")}.${btoa("{}")}.x`;
    expect(await post("/oidc/v1/token", { ...EXCHANGE, subject_token: forged })).toMatchObject({
      status: 401,
      body: { error: "invalid_grant" },
    });
    const jwt = await idToken();
    await w.advance(300_000);
    expect((await post("/oidc/v1/token", { ...EXCHANGE, subject_token: jwt })).status).toBe(401);
  });
});
