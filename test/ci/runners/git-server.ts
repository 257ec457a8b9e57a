// A Git server over HTTP that requires an Authorization header: git's own backend, in a separate process because some callers block theirs.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface GitServer {
  readonly url: string;
  /** `POST /origin.git/git-receive-pack Bearer token` for each request that had a header. */
  requests(): readonly string[];
  close(): void;
}

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

/** Serves the repositories below `folder` to requests with exactly this Authorization header. */
export async function startGitServer(folder: string, authorization: string): Promise<GitServer> {
  const child: ChildProcess = spawn(process.execPath, [import.meta.filename, folder], {
    env: { PATH: process.env.PATH, EXPECTED: authorization },
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("no output");
  for await (const url of createInterface({ input: child.stdout })) {
    const log = logOf(folder, url);
    const requests = () => (existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : []);
    return { url, requests, close: () => void child.kill() };
  }
  throw new Error("the git server did not start");
}

const logOf = (folder: string, url: string): string => join(folder, `git-requests-${new URL(url).port}`);

/** The arguments of every process that git started, as it records them. */
export const argumentsIn = (trace: string): readonly string[] =>
  readFileSync(trace, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { readonly argv?: readonly string[] }).argv?.join(" ") ?? "")
    .filter((words) => words !== "");

function serve(folder: string, expected: string): void {
  let log = "";
  const server = createServer((request, response) => {
    const { authorization = [] } = request.headersDistinct;
    const [path = "", query = ""] = (request.url ?? "").split("?");
    if (authorization.length > 0)
      appendFileSync(log, `${request.method} ${path} ${authorization.join(" and ")}\n`);
    // GitHub refuses a request with two such headers.
    if (authorization.length > 1) {
      response.writeHead(400).end("Duplicate header: Authorization");
      return;
    }
    if (authorization[0] !== expected) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { stdout } = spawnSync("git", ["http-backend"], {
        env: {
          PATH: process.env.PATH,
          GIT_PROJECT_ROOT: folder,
          GIT_HTTP_EXPORT_ALL: "1",
          PATH_INFO: path,
          QUERY_STRING: query,
          REQUEST_METHOD: request.method,
          CONTENT_TYPE: request.headers["content-type"],
          HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
          GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
        },
        input: Buffer.concat(chunks),
        maxBuffer: 1 << 30,
      });
      const end = stdout.indexOf("\r\n\r\n");
      const head = stdout.subarray(0, end).toString().split("\r\n");
      const headers = head.map((line) => line.split(/: /, 2) as [string, string]);
      const status = Number(headers.find(([name]) => name === "Status")?.[1]?.slice(0, 3) ?? 200);
      response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== "Status")));
      response.end(stdout.subarray(end + 4));
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    log = logOf(folder, url);
    process.stdout.write(`${url}\n`);
  });
}

if (import.meta.main) serve(process.argv[2] ?? "", process.env.EXPECTED ?? "");
