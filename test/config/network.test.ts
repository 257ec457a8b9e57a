// The program against a real TLS server and a real proxy: certificates are always checked, the token stays inside the tunnel.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../src/cli/program.ts";
import { contextWith } from "../cli/context.ts";
import { type Ended, start } from "../cli/program.ts";

const TOKEN = "network-token-0123456789";
/** A host name that only the proxy resolves. */
const FAR = "workspace.invalid";
const folder = mkdtempSync(join(tmpdir(), "network-"));
const key = join(folder, "key.pem");
const certificate = join(folder, "certificate.pem");
const subject = ["-subj", "/CN=made for a test", "-addext", `subjectAltName=DNS:localhost,DNS:${FAR}`];
const files = ["-keyout", key, "-out", certificate];
const made = spawnSync("openssl", [
  ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"],
  ...subject,
  ...files,
]);

const servers: (Server | Http2SecureServer)[] = [];
/** Authorization headers that reached the service, each with the host that was asked for. */
let reached: string[] = [];
/** The versions of HTTP in which requests came. */
let versions: string[] = [];
/** Everything that the proxy could read. */
let read = "";
let connects: { to: string; authorization: string | undefined }[] = [];
let tlsPort = 0;
let plainPort = 0;
let proxyPort = 0;
/** Of a proxy that is reached by TLS and offers HTTP/2 as well. */
let tlsProxyPort = 0;
/** What the proxy answers to CONNECT. */
let answer = "200 Connection Established";

function serve(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
): void {
  versions.push(request.httpVersion);
  reached.push(`${request.headers.host} ${request.headers.authorization}`);
  response.setHeader("content-type", "application/json");
  response.end('{"jobs":[]}');
}

function tunnel(request: IncomingMessage, client: Socket): void {
  connects.push({ to: request.url ?? "", authorization: request.headers["proxy-authorization"] });
  read += JSON.stringify(request.rawHeaders);
  client.on("error", () => undefined);
  if (!answer.startsWith("200")) return void client.end(`HTTP/1.1 ${answer}\r\ncontent-length: 0\r\n\r\n`);
  client.write(`HTTP/1.1 ${answer}\r\n\r\n`);
  const server = connect(tlsPort, "127.0.0.1");
  server.on("error", () => client.destroy());
  client.on("data", (chunk: Buffer) => {
    read += chunk.toString("latin1");
  });
  client.pipe(server).pipe(client);
}

async function listening(server: Server | Http2SecureServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  const tls = { key: readFileSync(key), cert: readFileSync(certificate) };
  tlsPort = await listening(createSecureServer({ ...tls, allowHTTP1: true }, serve));
  plainPort = await listening(createServer(serve));
  const forward = (request: IncomingMessage, response: ServerResponse): void => {
    connects.push({ to: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    serve(request, response);
  };
  proxyPort = await listening(createServer(forward).on("connect", tunnel));
  const tlsProxy = createSecureServer({ ...tls, allowHTTP1: true });
  tlsProxy.on("connect", (request: IncomingMessage | Http2ServerRequest, client: Socket) => {
    versions.push(request.httpVersion);
    if (request.httpVersion === "1.1") tunnel(request as IncomingMessage, client);
    else client.end();
  });
  tlsProxyPort = await listening(tlsProxy);
});
afterAll(() => {
  for (const server of servers) {
    if ("closeAllConnections" in server) server.closeAllConnections();
    server.close();
  }
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  [reached, versions, connects, read, answer] = [[], [], [], "", "200 Connection Established"];
});

/** In this process, unless Node itself reads a variable. */
function jobs(
  host: string,
  env: Record<string, string> = {},
  words: readonly string[] = [],
): Promise<Pick<Ended, "code" | "stdout" | "stderr">> {
  const argv = ["api", "jobs/list", ...words];
  const own = { WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN, ...env };
  return Object.keys(env).some((name) => name.startsWith("NODE_"))
    ? start(argv, { cwd: folder, env: own }).ended
    : runHere(argv, own);
}

async function runHere(argv: readonly string[], env: Record<string, string>) {
  const context = contextWith(env, folder);
  const code = await runProgram(context, argv);
  return { code, stdout: context.out(), stderr: context.err() };
}

const far = (): string => `https://${FAR}:${tlsPort}`;
const near = (): string => `https://localhost:${tlsPort}`;
const proxy = (login = ""): string => `http://${login}127.0.0.1:${proxyPort}`;

test("openssl makes a certificate", () => {
  expect(made.status).toBe(0);
});

test.each([
  ["directly", near, {}],
  ["through a proxy", far, { HTTPS_PROXY: true }],
])("a service that offers HTTP/2 is asked in HTTP/1.1 %s", async (_how, host, env) => {
  const through: Record<string, string> = "HTTPS_PROXY" in env ? { HTTPS_PROXY: proxy() } : {};
  const { code } = await jobs(host(), through, ["--ca-file", certificate]);
  expect(code).toBe(0);
  expect(versions).toEqual(["1.1"]);
});

describe("a certificate of an unknown authority", () => {
  test.each([
    ["as it is", {}],
    ["with NODE_TLS_REJECT_UNAUTHORIZED=0", { NODE_TLS_REJECT_UNAUTHORIZED: "0" }],
  ])("is refused %s, and no token is sent", async (_how, env) => {
    const { code, stderr } = await jobs(near(), env);
    expect(stderr).toContain("API_UNREACHABLE");
    expect(stderr).toContain("is not trusted");
    expect(stderr).toContain("--ca-file or WORKSPACE_CA_FILE");
    expect(stderr).not.toContain("Warning");
    expect(code).toBe(1);
    expect(reached).toEqual([]);
  });

  test("is refused through a proxy with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0", HTTPS_PROXY: proxy() };
    const { code, stderr } = await jobs(far(), env);
    expect(stderr).toContain("is not trusted");
    expect(code).toBe(1);
    expect(connects).toMatchObject([{ to: `${FAR}:${tlsPort}` }]);
    expect(reached).toEqual([]);
  });

  test.each([
    ["--ca-file", {}, ["--ca-file", "certificate.pem"]],
    ["WORKSPACE_CA_FILE", { WORKSPACE_CA_FILE: "certificate.pem" }, []],
    ["--ca-file over WORKSPACE_CA_FILE", { WORKSPACE_CA_FILE: "no.pem" }, ["--ca-file", certificate]],
    ["Node's own variable", { NODE_EXTRA_CA_CERTS: certificate }, []],
  ])("is trusted with %s", async (_how, env: Record<string, string>, words) => {
    const { code, stdout, stderr } = await jobs(near(), env, words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({ jobs: [] });
    expect(reached).toEqual([`localhost:${tlsPort} Bearer ${TOKEN}`]);
  });

  test("is refused with --ca-file where its name is another one", async () => {
    const { code, stderr } = await jobs(`https://127.0.0.1:${tlsPort}`, {}, ["--ca-file", certificate]);
    expect(stderr).toContain("is not trusted");
    expect(code).toBe(1);
  });
});

describe("a webhook", () => {
  const plan = (url: string, env: Record<string, string>, words: readonly string[] = []): Promise<Ended> => {
    const cwd = mkdtempSync(join(folder, "plan-"));
    writeFileSync(join(cwd, "workspace.yaml"), "groups: { g: {} }\n");
    const line = ["plan", "--host", "embedded", "--webhook", `${url}/hook/path-is-secret`, ...words];
    return start(line, { cwd, env: { WORKSPACE_WEBHOOK_SECRET: "signing-key", ...env } }).ended;
  };

  test("is reached through the proxy, which reads neither the message nor the path", async () => {
    const { code, stderr } = await plan(far(), { HTTPS_PROXY: proxy("me:pass@") }, [
      "--ca-file",
      certificate,
    ]);
    expect([code, stderr.includes("CLI_WEBHOOK")]).toEqual([0, false]);
    expect(connects).toMatchObject([{ to: `${FAR}:${tlsPort}` }]);
    expect(reached).toEqual([`${FAR}:${tlsPort} undefined`]);
    for (const secret of ["workspace-run/1", "path-is-secret", "signing-key"])
      expect(read).not.toContain(secret);
  });

  test("is reached directly where NO_PROXY names its host", async () => {
    const env = { HTTPS_PROXY: proxy(), NO_PROXY: FAR };
    const { code, stderr } = await plan(far(), env, ["--ca-file", certificate]);
    expect([code, connects]).toEqual([0, []]);
    expect(stderr).toContain("warning CLI_WEBHOOK");
    expect(stderr).not.toContain("path-is-secret");
  }, 30_000);

  test("with a certificate of an unknown authority gets no message, also with NODE_TLS_REJECT_UNAUTHORIZED=0", async () => {
    const { code, stderr } = await plan(near(), { NODE_TLS_REJECT_UNAUTHORIZED: "0" });
    expect([code, reached]).toEqual([0, []]);
    expect(stderr).toContain("warning CLI_WEBHOOK");
  }, 30_000);
});

describe("a CA file", () => {
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  test.each([
    ["is missing", undefined, "cannot be read"],
    ["is empty", "", "contains no certificate"],
    ["is a key", () => readFileSync(key, "utf8"), "contains no certificate"],
    ["holds a broken certificate", broken, "certificate 1 in the CA file"],
    ["holds one behind a good one", () => readFileSync(certificate, "utf8") + broken, "certificate 2 in"],
  ])("that %s is a CLI_FILE error", async (_how, text, message) => {
    const path = join(folder, "bad.pem");
    rmSync(path, { force: true });
    if (text !== undefined) writeFileSync(path, typeof text === "string" ? text : text());
    const { code, stderr } = await jobs(near(), {}, ["--ca-file", path]);
    expect(stderr).toContain("CLI_FILE");
    expect(stderr).toContain(message);
    expect(stderr).toContain(path);
    expect(code).toBe(1);
  });
});

describe("a proxy", () => {
  test.each(["HTTPS_PROXY", "https_proxy"])(
    "of %s gets a tunnel, and the token stays inside it",
    async (name) => {
      const { code, stderr } = await jobs(far(), { [name]: proxy(), WORKSPACE_CA_FILE: certificate });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(connects).toEqual([{ to: `${FAR}:${tlsPort}`, authorization: undefined }]);
      expect(reached).toEqual([`${FAR}:${tlsPort} Bearer ${TOKEN}`]);
      expect(read).not.toContain(TOKEN);
      expect(read.length).toBeGreaterThan(500);
    },
  );

  test("that is reached by TLS and offers HTTP/2 is asked for a tunnel in HTTP/1.1", async () => {
    const env = { HTTPS_PROXY: `https://localhost:${tlsProxyPort}`, WORKSPACE_CA_FILE: certificate };
    const { code, stderr } = await jobs(far(), env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(connects).toMatchObject([{ to: `${FAR}:${tlsPort}` }]);
    expect(versions).toEqual(["1.1", "1.1"]);
  });

  test("gets its own user and password, and the service does not", async () => {
    const env = { HTTPS_PROXY: proxy("ada:p%40ss@"), WORKSPACE_CA_FILE: certificate };
    expect((await jobs(far(), env)).code).toBe(0);
    expect(connects).toMatchObject([{ authorization: `Basic ${btoa("ada:p@ss")}` }]);
  });

  test.each([
    ["loopback", () => near(), {}],
    ["a host of NO_PROXY", () => far(), { NO_PROXY: `other.example, ${FAR}` }],
    ["a domain of no_proxy", () => far(), { no_proxy: ".invalid" }],
    ["any host of NO_PROXY=*", () => far(), { NO_PROXY: "*" }],
  ])("is left out for %s", async (_what, host, env) => {
    await jobs(host(), { HTTPS_PROXY: proxy(), WORKSPACE_CA_FILE: certificate, ...env });
    expect(connects).toEqual([]);
  });

  test("is left out for http://localhost", async () => {
    const { code } = await jobs(`http://localhost:${plainPort}`, { HTTP_PROXY: proxy() });
    expect(code).toBe(0);
    expect(connects).toEqual([]);
  });

  test("forwards requests to an http:// host, and the run warns that it can read the token", async () => {
    const { code, stderr } = await jobs(`http://${FAR}`, {
      HTTP_PROXY: proxy(),
      HTTPS_PROXY: "http://no.invalid",
    });
    expect(stderr).toContain("CLI_PLAIN_HTTP");
    expect(stderr).toContain("the proxy");
    expect(code).toBe(0);
    expect(connects).toMatchObject([{ to: `http://${FAR}/api/2.0/jobs/list` }]);
  });

  test.each(["407 Proxy Authentication Required", "403 Forbidden"])(
    "that answers %s is the cause in the error, without its password",
    async (status) => {
      answer = status;
      const { code, stderr } = await jobs(far(), { HTTPS_PROXY: proxy("ada:hunter2@") });
      expect(stderr).toContain("API_UNREACHABLE");
      expect(stderr).toContain("the proxy");
      expect(stderr).toContain(status.slice(0, 3));
      expect(stderr).not.toContain("hunter2");
      expect(stderr).not.toContain(btoa("ada:hunter2"));
      expect(code).toBe(1);
    },
  );

  test.each(["socks5://u:hunter2@x:1", "http://u:hunter2@", "http://u:%hunter2@x:1"])(
    "that is written as %s is a CLI_USAGE error that does not repeat it",
    async (text) => {
      const { code, stderr } = await jobs(far(), { HTTPS_PROXY: text });
      expect(stderr).toContain("CLI_USAGE");
      expect(stderr).toContain("HTTPS_PROXY is not a valid proxy URL");
      expect(stderr).not.toContain("hunter2");
      expect(code).toBe(1);
    },
  );
});
